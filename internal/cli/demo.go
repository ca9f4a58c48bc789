package cli

import "context"

type demoCommand struct {
	Answer string `placeholder:"FORMAT" help:"Answer the question with this instead of waiting for you: yaml, toml or json, and yes or no for comments."`
	Data   string `type:"path" placeholder:"FOLDER" help:"Keep the demo's database here."`
	Listen string `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Where the demo's server listens."`
}

func (demoCommand) Help() string {
	return `Examples:

    fermata demo
    fermata demo --answer toml
    fermata demo --answer "json no"`
}

func (c *demoCommand) Run(ctx context.Context, s *session) error {
	if s.hooks.Demo == nil {
		return notBuilt("demo")
	}
	return s.hooks.Demo(ctx, DemoOptions{Answer: c.Answer, Data: c.Data, Listen: c.Listen})
}
