package cli

import "context"

type demoCommand struct {
	Answer string `help:"Answer the question with this instead of waiting for you."`
	Data   string `type:"path" placeholder:"FOLDER" help:"Keep the demo's database here."`
	Listen string `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Where the demo's server listens."`
}

func (demoCommand) Help() string {
	return `Examples:

    fermata demo
    fermata demo --answer "keep it"`
}

func (c *demoCommand) Run(ctx context.Context, s *session) error {
	if s.hooks.Demo == nil {
		return notBuilt("demo")
	}
	return s.hooks.Demo(ctx, DemoOptions{Answer: c.Answer, Data: c.Data, Listen: c.Listen})
}
