package channel

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type routesCommand struct {
	session.WriteFlags
	File string `short:"f" type:"path" placeholder:"FILE" help:"JSON with the new routes, as fermata channel routes --json prints them; - is standard input."`
}

func (routesCommand) Help() string {
	return `Examples:

    fermata channel routes
    fermata channel routes --json > routes.json
    fermata channel routes -f routes.json`
}

func (c *routesCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	routes, err := server.Routes(ctx)
	if err != nil {
		return err
	}
	if c.File != "" {
		if err := s.ReadJSON(c.File, &routes); err != nil {
			return err
		}
		if err := routes.Check(); err != nil {
			return err
		}
		if done, err := s.PrintDryRun(c.WriteFlags, "PUT", "/routes", routes); done {
			return err
		}
		if routes, err = server.SetRoutes(ctx, routes); err != nil {
			return err
		}
		s.PrintDone("", "questions that are asked from now on go these ways")
	}
	if s.JSON {
		return s.WriteJSON(routes)
	}
	t := &terminal.Table{Columns: []terminal.Column{{Head: "TYPE"}, {Head: "AFTER"}, {Head: "CHANNEL"}, {Head: "WHEN", Flex: true}}}
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
			t.Add(r.name, step.After, step.Channel, string(step.When))
		}
	}
	s.PrintTable(t, "nothing is sent: questions are in the inbox only")
	return nil
}
