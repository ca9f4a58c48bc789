package channel

import (
	"cmp"
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// DeliveriesCommand is fermata deliveries: it shows what was sent, what waits, and what could not be sent.
type DeliveriesCommand struct {
	List      deliveriesListCommand `cmd:"" default:"withargs" help:"List what was sent, the newest first."`
	Show      deliveryShowCommand   `cmd:"" help:"Show what was sent, and what happened."`
	Redeliver redeliverCommand      `cmd:"" help:"Send a message once more."`
}

type deliveriesListCommand struct {
	Question string                `short:"q" placeholder:"QUESTION" help:"Only what was sent for this question."`
	Channel  string                `placeholder:"NAME" help:"Only over this channel."`
	State    fermata.DeliveryState `enum:",waiting,sent,failed,dead,skipped" default:"" placeholder:"STATE" help:"waiting, sent, failed (will be tried again), dead or skipped."`
	Limit    session.Quantity      `short:"n" default:"50" help:"How many (default ${default})."`
}

func (deliveriesListCommand) Help() string {
	return `Examples:

    fermata deliveries
    fermata deliveries --state dead
    fermata deliveries --question 7k3m`
}

func (c *deliveriesListCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	all, next, err := server.Deliveries(ctx, client.DeliveryQuery{QuestionID: c.Question, Channel: c.Channel, State: c.State, Limit: int(c.Limit)})
	if err != nil {
		return err
	}
	defer s.PrintMoreHint(next != "", len(all))
	if s.JSON {
		return s.WriteJSON(all)
	}
	t := &terminal.Table{Columns: []terminal.Column{
		{Head: "ID"}, {Head: "PURPOSE"}, {Head: "CHANNEL"}, {Head: "TO", Flex: true}, {Head: "STATE"}, {Head: "NEXT"}, {Head: "WHY", Flex: true},
	}}
	for _, d := range all {
		next := ""
		if d.NextAt != nil {
			next = s.LeftText(d.NextAt)
		}
		t.Add(s.IDText(d.ID), d.Purpose, cmp.Or(d.Channel, d.Kind), d.Member, string(d.State), next, cmp.Or(d.Reason, d.LastError))
	}
	s.PrintTable(t, "nothing was sent; fermata channel list shows where messages can go")
	return nil
}

type deliveryShowCommand struct {
	ID string `arg:"" help:"The delivery, or the end of its id."`
}

func (deliveryShowCommand) Help() string {
	return `Links that answer without signing in are taken out of what is shown.

Examples:

    fermata deliveries show 9x2f`
}

func (c *deliveryShowCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	d, err := server.Delivery(ctx, c.ID)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(d)
	}
	p := s.Stdout()
	p.Line("%s over %s: %s %s", d.Purpose, terminal.OneLine(cmp.Or(d.Channel, d.Kind)), d.State, terminal.OneLine(d.Reason))
	for _, entry := range d.History {
		p.Line("%s  %s  %s", s.AgoText(entry.At), entry.What, terminal.OneLine(entry.Error))
	}
	switch {
	case d.Content != "":
		p.Line("")
		p.PrintWhole(d.Content)
	case d.State == fermata.DeliverySent:
		s.Stderr().Line("its recipient reads here what was sent, with a token that may answer; an operator reads it in the browser")
	}
	return nil
}

type redeliverCommand struct {
	session.WriteFlags
	ID string `arg:"" help:"The delivery, or the end of its id."`
}

func (redeliverCommand) Help() string {
	return `The message has the same id as before: a receiver can tell a repeated one by it.

Examples:

    fermata deliveries redeliver 9x2f`
}

func (c *redeliverCommand) Run(ctx context.Context, s *session.Session) error {
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/deliveries/"+c.ID+"/redeliver", nil); done {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	d, err := server.Redeliver(ctx, c.ID)
	if err != nil {
		return err
	}
	s.PrintDone("", "%s is sent again over %s", d.ID, terminal.OneLine(d.Channel))
	if s.JSON {
		return s.WriteJSON(d)
	}
	return nil
}
