package cli

import (
	"context"

	"github.com/fermata-hq/fermata"
)

type channelRoutesCommand struct {
	write
	File string `short:"f" type:"path" placeholder:"FILE" help:"JSON with the new routes, as fermata channel routes --json prints them; - is standard input."`
}

func (channelRoutesCommand) Help() string {
	return `Examples:

    fermata channel routes
    fermata channel routes --json > routes.json
    fermata channel routes -f routes.json`
}

func (c *channelRoutesCommand) Run(ctx context.Context, s *session) error {
	server, err := s.server()
	if err != nil {
		return err
	}
	routes, err := server.Routes(ctx)
	if err != nil {
		return err
	}
	if c.File != "" {
		if err := s.readJSON(c.File, &routes); err != nil {
			return err
		}
		if err := routes.Check(); err != nil {
			return err
		}
		if done, err := s.printDryRun(c.write, "PUT", "/routes", routes); done {
			return err
		}
		if routes, err = server.SetRoutes(ctx, routes); err != nil {
			return err
		}
		s.printDone("", "questions that are asked from now on go these ways")
	}
	if s.JSON {
		return s.writeJSON(routes)
	}
	t := &table{columns: []column{{head: "TYPE"}, {head: "AFTER"}, {head: "CHANNEL"}, {head: "WHEN", flex: true}}}
	for _, r := range []struct {
		name  string
		steps []fermata.RouteStep
	}{
		{"blocking", routes.Blocking},
		{"approval", routes.Approval},
		{"error_recovery", routes.ErrorRecovery},
		{"non_blocking", routes.NonBlocking},
		{"progress", routes.Progress},
	} {
		for _, step := range r.steps {
			t.add(r.name, step.After, step.Channel, string(step.When))
		}
	}
	s.printTable(t, "nothing is sent: questions are in the inbox only")
	return nil
}
