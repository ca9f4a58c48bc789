package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type approveCommand struct {
	decision
}

func (approveCommand) Help() string {
	return `The action is shown whole first, with invisible characters made visible. At a terminal you are asked back, unless --yes is given.

Examples:

    fermata approve 3f9k2a
    fermata approve 3f9k2a --yes --comment "checked the diff"
    fermata approve 3f9k2a --hash 9f86d0`
}

func (c *approveCommand) Run(ctx context.Context, s *session) error {
	return c.decide(ctx, s, fermata.Approve)
}

// decision is what approve and reject have in common.
type decision struct {
	write
	ID      string `arg:"" help:"The approval, or the task that waits for it."`
	Comment string `short:"m" help:"Say why."`
	Yes     bool   `short:"y" help:"Do not ask back."`
	Hash    string `placeholder:"SHA256" help:"Refuse when the action's hash does not begin with this."`
	Restart bool   `help:"After the deadline: let the task go on with this decision."`
}

// decide shows the action and sends the decision together with the hash of
// what was shown.
func (c *decision) decide(ctx context.Context, s *session, verdict string) error {
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	if q.Type != fermata.Approval {
		return fermata.Errorf(fermata.CodeInvalidRequest, "%s asks for no approval, it is %s", q.ID, q.Type).
			WithHint("answer it: fermata respond %s", shortID(q.ID))
	}
	s.talk().question(q, s.now())
	s.talk().line("")
	if err := checkShown(q, c.Hash); err != nil {
		return err
	}
	a := toAnswer(q, map[string]any{q.Items[0].Key: verdict})
	a.Comment, a.Restart = c.Comment, c.Restart
	q, err = s.sendAnswer(ctx, c.write, q, a, c.Yes || verdict == fermata.Reject || q.Resolution != nil)
	if err != nil || q == nil || !s.JSON {
		return err
	}
	return s.json(q)
}
