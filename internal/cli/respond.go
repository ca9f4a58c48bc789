package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

type respondCommand struct {
	write
	ID      string   `arg:"" optional:"" help:"The question, or the task that waits."`
	Answer  []string `arg:"" optional:"" sep:"none" help:"The answer: a value, a label, a number of the list, yes or no, text."`
	Values  []string `name:"answer" sep:"none" placeholder:"KEY=VALUE" help:"The answer to one of several items; repeat it."`
	Comment string   `help:"Say something along with it."`
	Restart bool     `help:"After the deadline: let the task go on with this answer."`
	Undo    bool     `help:"Hold the answer for some seconds, in which fermata undo takes it back."`
	Edit    bool     `help:"Write the answer in $VISUAL or $EDITOR."`
	All     bool     `help:"Walk through every question that waits."`
	Yes     bool     `short:"y" help:"Do not ask back before a dangerous option or an approval is sent."`
}

func (respondCommand) Help() string {
	return `Without an answer the question is shown and asked for at the terminal.

Examples:

    fermata respond 3f9k2a                    ask at the terminal
    fermata respond 3f9k2a 2                  the second option
    fermata respond 3f9k2a 1,3                two of several
    fermata respond 3f9k2a use the new one    a text
    fermata respond 3f9k2a --answer db=postgres --answer port=5432
    fermata respond 3f9k2a --edit
    fermata respond --all`
}

func (c *respondCommand) Run(ctx context.Context, s *session) error {
	if c.All {
		if c.ID != "" {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--all takes no id")
		}
		return c.walk(ctx, s)
	}
	if c.ID == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "name the question").
			WithHint("fermata list --awaiting shows what waits; fermata respond --all walks through it")
	}
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	values, err := answerFrom(q, c.Answer, c.Values)
	if err != nil {
		return err
	}
	kept := ""
	if values == nil || q.Type == fermata.Approval {
		s.talk().question(q, s.now())
		s.talk().line("")
	}
	switch {
	case values != nil:
	case c.closed(q):
		return q.ClosedError()
	case c.Edit:
		values, kept, err = s.edit(ctx, q)
	default:
		values, err = s.fill(ctx, q)
	}
	if err != nil {
		return err
	}
	q, err = c.send(ctx, s, q, values)
	if kept != "" {
		if err != nil {
			s.talk().line("your text is kept in %s", kept)
		} else {
			_ = os.Remove(kept)
		}
	}
	if err != nil || q == nil {
		return err
	}
	if s.JSON {
		return s.json(q)
	}
	return nil
}

// closed reports whether no answer can be taken any more: after the deadline
// one still can.
func (*respondCommand) closed(q *fermata.Question) bool {
	return q.Resolution != nil && q.Status != fermata.TimedOut
}

// send sends the values as the answer, after asking back where that is due.
// It returns nil when nothing was sent.
func (c *respondCommand) send(ctx context.Context, s *session, q *fermata.Question, values map[string]any) (*fermata.Question, error) {
	a := toAnswer(q, values)
	a.Comment, a.Restart, a.Undo = c.Comment, c.Restart, c.Undo
	return s.sendAnswer(ctx, c.write, q, a, c.Yes || !delicate(q, values))
}

// delicate reports whether an answer is asked back before it is sent.
func delicate(q *fermata.Question, values map[string]any) bool {
	return len(dangerous(q, values)) > 0 || q.Type == fermata.Approval && values[q.Items[0].Key] == fermata.Approve
}

// sendAnswer sends an answer and says what became of it. A person at a
// terminal is asked back first, unless that is settled.
func (s *session) sendAnswer(ctx context.Context, w write, q *fermata.Question, a fermata.Answer, settled bool) (*fermata.Question, error) {
	if done, err := s.rehearse(w, "POST", "/questions/"+q.ID+"/answer", a); done {
		return nil, err
	}
	if !settled && s.interactive() {
		text := value(a.Answer)
		if a.Answer == nil {
			text = valuesText(a.Answers)
		}
		yes, err := s.confirm(ctx, "send "+oneLine(text)+"?")
		if err != nil {
			return nil, err
		}
		if !yes {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent")
		}
	}
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	closed, err := server.Answer(ctx, q.ID, a)
	if err != nil {
		return nil, err
	}
	s.wrote(closed.WorkspaceID, "%s: %s", closed.ID, became(closed, len(q.Votes)))
	return closed, nil
}

// became says what became of a question after an answer. Before it, the
// question had so many votes.
func became(q *fermata.Question, votes int) string {
	switch {
	case q.Held != nil:
		return fmt.Sprintf("held until %s; fermata undo %s takes it back", q.Held.ReleaseAt.UTC().Format(time.RFC3339), shortID(q.ID))
	case q.Resolution == nil && q.Approvals != nil && len(q.Votes) <= votes:
		return fmt.Sprintf("your vote was counted before, and counts once; %d of %d have voted", len(q.Votes), q.Approvals.Required)
	case q.Resolution == nil && q.Approvals != nil:
		return fmt.Sprintf("your vote counts: %d of %d; more people are needed", len(q.Votes), q.Approvals.Required)
	case q.Resolution == nil:
		return "the answer was taken"
	case len(q.Resolution.Late) > 0:
		if q.Resolution.Late[len(q.Resolution.Late)-1].Restarted {
			return "answered after the deadline; the task goes on with it"
		}
		return "answered after the deadline; the answer was kept (--restart lets the task go on)"
	default:
		return clean(strings.ReplaceAll(q.Resolution.Sentence(), "\n", " "))
	}
}

// errQuit says that a person has had enough.
var errQuit = errors.New("quit")
