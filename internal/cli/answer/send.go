package answer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// consentRequest describes whether a person must confirm an answer before it is sent.
type consentRequest struct {
	// needed reports whether a confirmation is needed, and given whether the command line has it.
	needed, given bool
	// confirmCommand is the command that confirms.
	confirmCommand string
}

// obtain asks a person at a terminal to confirm. Without a terminal, the command line must confirm, so that an
// unattended program releases nothing by accident.
func (n consentRequest) obtain(ctx context.Context, s *session.Session, answer string) error {
	if !n.needed || n.given {
		return nil
	}
	if !s.IsInteractive() {
		return fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent: %s needs --yes where nobody can be asked back", answer).
			WithHint("read what it releases, then run: %s", n.confirmCommand)
	}
	yes, err := s.Confirm(ctx, "send "+answer+"?")
	if err == nil && !yes {
		err = fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent")
	}
	return err
}

// NeedsConsent reports whether a person must confirm an answer before it is sent.
func NeedsConsent(q *fermata.Question, values map[string]any) bool {
	return len(DangerousOptions(q, values)) > 0 || q.Type == fermata.Approval && values[q.Items[0].Key] == fermata.Approve
}

// sendAnswer sends an answer and prints the result. If consent is needed, it first asks the person at a terminal.
func sendAnswer(ctx context.Context, s *session.Session, w session.WriteFlags, q *fermata.Question, a fermata.Answer, consent consentRequest) (*fermata.Question, error) {
	if done, err := s.PrintDryRun(w, "POST", "/questions/"+q.ID+"/answer", a); done {
		return nil, err
	}
	if err := s.CheckAssurance(ctx, q); err != nil {
		return nil, err
	}
	text := render.ValueText(a.Answer)
	if a.Answer == nil {
		text = render.ValuesText(a.Answers)
	}
	if err := consent.obtain(ctx, s, terminal.OneLine(text)); err != nil {
		return nil, err
	}
	server, err := s.Server()
	if err != nil {
		return nil, err
	}
	closed, err := server.Answer(ctx, q.ID, a)
	if err != nil {
		return nil, err
	}
	s.PrintDone(closed.WorkspaceID, "%s: %s", closed.ID, ResultText(closed, len(q.Votes)))
	return closed, nil
}

// ResultText returns the result of an answer as text. votesBefore is the number of votes before the answer.
func ResultText(q *fermata.Question, votesBefore int) string {
	switch {
	case q.HeldAnswer != nil:
		return fmt.Sprintf("held until %s; fermata undo %s takes it back", q.HeldAnswer.ReleaseAt.UTC().Format(time.RFC3339), terminal.ShortID(q.ID))
	case q.Resolution == nil && q.Approvals != nil && len(q.Votes) <= votesBefore:
		return fmt.Sprintf("your vote was counted before, and counts once; %d of %d have voted", len(q.Votes), q.Approvals.Required)
	case q.Resolution == nil && q.Approvals != nil:
		return fmt.Sprintf("your vote counts: %s; more people are needed", notice.Votes(q))
	case q.Resolution == nil:
		return "the answer was taken"
	case len(q.Resolution.LateAnswers) > 0:
		if q.Resolution.LateAnswers[len(q.Resolution.LateAnswers)-1].Restarted {
			return "answered after the deadline; the task goes on with it"
		}
		return "answered after the deadline; the answer was kept (the same answer again with --restart lets the task go on with it)"
	default:
		return terminal.Clean(strings.ReplaceAll(q.Resolution.Sentence(), "\n", " "))
	}
}
