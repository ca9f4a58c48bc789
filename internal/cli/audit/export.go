package audit

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type exportCommand struct {
	session.Period
	File string `arg:"" optional:"" help:"File to write; without it, standard output."`
}

func (exportCommand) Help() string {
	return `One event a line, in the order of the chain and without a gap: fermata audit verify --file checks it anywhere, also without a server.

Examples:

    fermata audit export audit.jsonl
    fermata audit export --from 2026-11-01 --to 2026-12-01 november.jsonl
    fermata audit export | jq -r 'select(.type == "question.answered") | .actor.name'`
}

func (c *exportCommand) Run(ctx context.Context, s *session.Session) error {
	from, to, err := c.Bounds(s)
	if err != nil {
		return err
	}
	server, err := s.Server()
	if err != nil {
		return err
	}
	write := func(w io.Writer) (int64, error) {
		buffered := bufio.NewWriter(w)
		n, err := server.ExportAudit(ctx, from, to, buffered)
		return n, errors.Join(err, buffered.Flush())
	}
	if c.File == "" {
		_, err := write(s.Out)
		return err
	}
	n, err := session.WriteNewFile(c.File, write)
	if err != nil {
		return err
	}
	s.Stderr().Line("wrote %s to %s", terminal.CountText(n, "event"), terminal.Clean(c.File))
	return nil
}
