package answer

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// ApproveCommand is fermata approve: it shows an action and sends the approval of the shown bytes.
type ApproveCommand struct {
	decision
	Action string `placeholder:"JSON|@FILE" help:"Approve this instead of the action that was asked; it is shown, and alone may run."`
}

// Help returns the description and the examples that --help prints.
func (ApproveCommand) Help() string {
	return `The action is shown whole first, with invisible characters made visible. At a terminal you are asked back, unless --yes is given; without a terminal nothing is approved unless --yes is given.

Examples:

    fermata approve 3f9k2a
    fermata approve 3f9k2a --yes --comment "checked the diff"
    fermata approve 3f9k2a --hash 9f86d0
    fermata approve 3f9k2a --action @edited.json`
}

// Run runs the command.
func (c *ApproveCommand) Run(ctx context.Context, s *session.Session) error {
	edited, err := s.JSONOrText("--action", c.Action)
	if err != nil {
		return err
	}
	return c.decide(ctx, s, fermata.Approve, edited)
}

// decision holds the arguments and flags that approve and reject share.
type decision struct {
	session.WriteFlags
	ID      string `arg:"" help:"The approval, or the task that waits for it."`
	Comment string `short:"m" placeholder:"TEXT|@FILE" help:"Say why."`
	Yes     bool   `short:"y" help:"Do not ask back."`
	Hash    string `placeholder:"SHA256" help:"Refuse when the action's hash does not begin with this."`
	Bytes   bool   `help:"Show the exact bytes of the action, over which its sha256 is taken."`
	Restart bool   `help:"After the deadline: let the task go on with this decision."`
	Undo    bool   `help:"Hold the decision for some seconds, in which fermata undo takes it back."`
}

// decide shows the action, and sends the decision with the hash of the shown
// bytes. An edited action is shown too, and approved in place of the original.
func (c *decision) decide(ctx context.Context, s *session.Session, choice string, edited json.RawMessage) error {
	comment, err := s.TextOrFile("--comment", c.Comment)
	if err != nil {
		return err
	}
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if q.Type != fermata.Approval {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s asks for no approval, it is %s", q.ID, q.Type).
			WithHint("answer it: fermata respond %s", terminal.ShortID(q.ID))
	}
	p := s.Stderr()
	p.ExactBytes = c.Bytes
	render.PrintQuestion(p, q, s.Now())
	p.Line("")
	if err := CheckActionHash(q, c.Hash); err != nil {
		return err
	}
	a := New(q, map[string]any{q.Items[0].Key: choice})
	a.Comment, a.Restart, a.Undo, a.Action = comment, c.Restart, c.Undo, edited
	if len(edited) > 0 {
		render.PrintAction(p, "What will run instead", fermata.CanonicalAction(edited), fermata.HashAction(edited))
		s.Stderr().Line("")
	}
	confirmCommand := "fermata approve " + terminal.ShortID(q.ID) + " --yes"
	if len(edited) > 0 {
		confirmCommand = "the same command with --yes"
	}
	q, err = sendAnswer(ctx, s, c.WriteFlags, q, a, consentRequest{
		needed: choice == fermata.Approve && (q.Resolution == nil || c.Restart), given: c.Yes, confirmCommand: confirmCommand,
	})
	if err != nil || q == nil || !s.JSON {
		return err
	}
	return s.WriteJSON(q)
}
