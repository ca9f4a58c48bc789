package cli

import (
	"context"
	"encoding/json"

	"github.com/fermata-hq/fermata"
)

type approveCommand struct {
	decision
	Action string `placeholder:"JSON|@FILE" help:"Approve this instead of the action that was asked; it is shown, and alone may run."`
}

func (approveCommand) Help() string {
	return `The action is shown whole first, with invisible characters made visible. At a terminal you are asked back, unless --yes is given; without a terminal nothing is approved unless --yes is given.

Examples:

    fermata approve 3f9k2a
    fermata approve 3f9k2a --yes --comment "checked the diff"
    fermata approve 3f9k2a --hash 9f86d0
    fermata approve 3f9k2a --action @edited.json`
}

func (c *approveCommand) Run(ctx context.Context, s *session) error {
	edited, err := s.jsonOrText("--action", c.Action)
	if err != nil {
		return err
	}
	return c.decide(ctx, s, fermata.Approve, edited)
}

// decision holds the arguments and flags that approve and reject share.
type decision struct {
	write
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
func (c *decision) decide(ctx context.Context, s *session, choice string, edited json.RawMessage) error {
	comment, err := s.textOrFile("--comment", c.Comment)
	if err != nil {
		return err
	}
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if q.Type != fermata.Approval {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s asks for no approval, it is %s", q.ID, q.Type).
			WithHint("answer it: fermata respond %s", shortID(q.ID))
	}
	p := s.stderr()
	p.exactBytes = c.Bytes
	p.printQuestion(q, s.now())
	p.line("")
	if err := checkActionHash(q, c.Hash); err != nil {
		return err
	}
	a := toAnswer(q, map[string]any{q.Items[0].Key: choice})
	a.Comment, a.Restart, a.Undo, a.Action = comment, c.Restart, c.Undo, edited
	if len(edited) > 0 {
		p.printAction("What will run instead", fermata.CanonicalAction(edited), fermata.HashAction(edited))
		s.stderr().line("")
	}
	confirmCommand := "fermata approve " + shortID(q.ID) + " --yes"
	if len(edited) > 0 {
		confirmCommand = "the same command with --yes"
	}
	q, err = s.sendAnswer(ctx, c.write, q, a, consentRequest{
		needed: choice == fermata.Approve && (q.Resolution == nil || c.Restart), given: c.Yes, confirmCommand: confirmCommand,
	})
	if err != nil || q == nil || !s.JSON {
		return err
	}
	return s.writeJSON(q)
}
