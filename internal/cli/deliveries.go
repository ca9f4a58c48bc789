package cli

import (
	"cmp"
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

type deliveriesCommand struct {
	List      deliveriesListCommand `cmd:"" default:"withargs" help:"List what was sent, the newest first."`
	Show      deliveryShowCommand   `cmd:"" help:"Show what was sent, and what happened."`
	Redeliver redeliverCommand      `cmd:"" help:"Send a message once more."`
}

type deliveriesListCommand struct {
	Question string                `short:"q" placeholder:"QUESTION" help:"Only what was sent for this question."`
	Channel  string                `placeholder:"NAME" help:"Only over this channel."`
	State    fermata.DeliveryState `enum:",waiting,sent,failed,dead,skipped" default:"" placeholder:"STATE" help:"waiting, sent, failed (will be tried again), dead or skipped."`
	Limit    quantity              `short:"n" default:"50" help:"How many (default ${default})."`
}

func (deliveriesListCommand) Help() string {
	return `Examples:

    fermata deliveries
    fermata deliveries --state dead
    fermata deliveries --question 7k3m`
}

func (c *deliveriesListCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	all, next, err := server.Deliveries(ctx, client.DeliveryQuery{QuestionID: c.Question, Channel: c.Channel, State: c.State, Limit: int(c.Limit)})
	if err != nil {
		return err
	}
	defer s.printMoreHint(next != "", len(all))
	if s.JSON {
		return s.writeJSON(all)
	}
	t := &table{columns: []column{
		{head: "ID"}, {head: "PURPOSE"}, {head: "CHANNEL"}, {head: "TO", flex: true}, {head: "STATE"}, {head: "NEXT"}, {head: "WHY", flex: true},
	}}
	for _, d := range all {
		next := ""
		if d.NextAt != nil {
			next = s.leftText(d.NextAt)
		}
		t.add(s.idText(d.ID), d.Purpose, cmp.Or(d.Channel, d.Kind), d.Member, string(d.State), next, cmp.Or(d.Reason, d.LastError))
	}
	s.printTable(t, "nothing was sent; fermata channel list shows where messages can go")
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

func (c *deliveryShowCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	d, err := server.Delivery(ctx, c.ID)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(d)
	}
	p := s.stdout()
	p.line("%s over %s: %s %s", d.Purpose, oneLine(cmp.Or(d.Channel, d.Kind)), d.State, oneLine(d.Reason))
	for _, entry := range d.History {
		p.line("%s  %s  %s", s.agoText(entry.At), entry.What, oneLine(entry.Error))
	}
	switch {
	case d.Content != "":
		p.line("")
		p.printWhole(d.Content)
	case d.State == fermata.DeliverySent:
		s.stderr().line("its recipient reads here what was sent, with a token that may answer; an operator reads it in the browser")
	}
	return nil
}

type redeliverCommand struct {
	write
	ID string `arg:"" help:"The delivery, or the end of its id."`
}

func (redeliverCommand) Help() string {
	return `The message has the same id as before: a receiver can tell a repeated one by it.

Examples:

    fermata deliveries redeliver 9x2f`
}

func (c *redeliverCommand) Run(ctx context.Context, s *session) error {
	if done, err := s.printDryRun(c.write, "POST", "/deliveries/"+c.ID+"/redeliver", nil); done {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	d, err := server.Redeliver(ctx, c.ID)
	if err != nil {
		return err
	}
	s.printDone("", "%s is sent again over %s", d.ID, oneLine(d.Channel))
	if s.JSON {
		return s.writeJSON(d)
	}
	return nil
}
