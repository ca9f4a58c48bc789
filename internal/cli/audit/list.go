package audit

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type listCommand struct {
	session.Period
	Search string           `short:"q" placeholder:"TEXT" help:"Look for a part of a name or of what an event adds, or for a whole id."`
	Type   []string         `placeholder:"TYPE" help:"Only these types, such as question.answered, or all of a noun, such as token."`
	Actor  string           `placeholder:"WHO" help:"Only what human, agent, system, policy or timeout did, or one by id or name."`
	Task   string           `placeholder:"ID" help:"Only this task."`
	Limit  session.Quantity `default:"50" help:"At most so many."`
}

func (listCommand) Help() string {
	return `With --json every event is a document on a line of its own.

Examples:

    fermata audit list
    fermata audit list --type token,member --from 30d
    fermata audit list --actor alice --type question.answered
    fermata audit list -q deploy --from 2026-11-01 --to 2026-12-01`
}

func (c *listCommand) Run(ctx context.Context, s *session.Session) error {
	q := client.AuditQuery{Q: c.Search, Types: c.Type, Actor: c.Actor}
	var err error
	if q.From, q.To, err = c.Bounds(s); err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	if c.Task != "" {
		if q.TaskID, err = s.ResolveTaskID(ctx, c.Task); err != nil {
			return err
		}
	}
	found := 0
	for found < int(c.Limit) {
		q.Limit = min(int(c.Limit)-found, session.MaxPageSize)
		page, err := server.Audit(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Items {
			if err := printAudit(s, e); err != nil {
				return err
			}
		}
		found += len(page.Items)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			break
		}
	}
	s.PrintMoreHint(q.Cursor != "", found)
	if found == 0 && !s.JSON {
		s.Stderr().Line("nothing in the record fits; leave some filters out to see more")
	}
	return nil
}

// printAudit prints an event with its date, because the list goes back for
// years.
func printAudit(s *session.Session, e *fermata.Event) error {
	if s.JSON {
		return s.WriteJSONLine(e)
	}
	p := s.Stdout()
	subject := e.TaskID
	if e.QuestionID != "" {
		subject = e.QuestionID
	}
	p.Line("%6d  %s  %-22s %-6s  %s", e.Seq, p.Dim(e.At.UTC().Format("2006-01-02 15:04:05")), e.Type, terminal.ShortID(subject), render.EventText(e))
	return nil
}
