package cli

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// period holds the flags that bound a period of time.
type period struct {
	From string `placeholder:"TIME" help:"Since then: 7d ago, a date or an instant."`
	To   string `placeholder:"TIME" help:"Until before then."`
}

func (p period) bounds(s *session) (from, to *time.Time, err error) {
	if from, err = s.parsePastInstant(p.From); err != nil {
		return nil, nil, err
	}
	to, err = s.parsePastInstant(p.To)
	return from, to, err
}

// parsePastInstant reads a point in time as [session.parseInstant] does, but takes a
// duration as a time ago.
func (s *session) parsePastInstant(text string) (*time.Time, error) {
	if d, err := fermata.Timeout(text).Duration(); err == nil {
		at := s.now().Add(-d)
		return &at, nil
	}
	return s.parseInstant(text)
}

type auditListCommand struct {
	period
	Search string   `short:"q" placeholder:"TEXT" help:"Look for a part of a name or of what an event adds, or for a whole id."`
	Type   []string `placeholder:"TYPE" help:"Only these types, such as question.answered, or all of a noun, such as token."`
	Actor  string   `placeholder:"WHO" help:"Only what human, agent, system, policy or timeout did, or one by id or name."`
	Task   string   `placeholder:"ID" help:"Only this task."`
	Limit  quantity `default:"50" help:"At most so many."`
}

func (auditListCommand) Help() string {
	return `With --json every event is a document on a line of its own.

Examples:

    fermata audit list
    fermata audit list --type token,member --from 30d
    fermata audit list --actor alice --type question.answered
    fermata audit list -q deploy --from 2026-11-01 --to 2026-12-01`
}

func (c *auditListCommand) Run(ctx context.Context, s *session) error {
	q := client.AuditQuery{Q: c.Search, Types: c.Type, Actor: c.Actor}
	var err error
	if q.From, q.To, err = c.bounds(s); err != nil {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	if c.Task != "" {
		if q.TaskID, err = s.resolveTaskID(ctx, c.Task); err != nil {
			return err
		}
	}
	found := 0
	for found < int(c.Limit) {
		q.Limit = min(int(c.Limit)-found, maxPageSize)
		page, err := server.Audit(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Items {
			if err := s.printAudit(e); err != nil {
				return err
			}
		}
		found += len(page.Items)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	s.printMoreHint(q.Cursor != "", found)
	if found == 0 && !s.JSON {
		s.stderr().line("nothing in the record fits; leave some filters out to see more")
	}
	return nil
}

// printAudit prints an event with its date, because the list goes back for
// years.
func (s *session) printAudit(e *fermata.Event) error {
	if s.JSON {
		return s.writeJSONLine(e)
	}
	p := s.stdout()
	subject := e.TaskID
	if e.QuestionID != "" {
		subject = e.QuestionID
	}
	p.line("%6d  %s  %-22s %-6s  %s", e.Seq, p.dim(e.At.UTC().Format("2006-01-02 15:04:05")), e.Type, shortID(subject), eventText(e))
	return nil
}
