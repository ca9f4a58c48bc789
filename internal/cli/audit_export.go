package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"

	"github.com/fermata-hq/fermata"
)

type auditExportCommand struct {
	period
	File string `arg:"" optional:"" help:"File to write; without it, standard output."`
}

func (auditExportCommand) Help() string {
	return `One event a line, in the order of the chain and without a gap: fermata audit verify --file checks it anywhere, also without a server.

Examples:

    fermata audit export audit.jsonl
    fermata audit export --from 2026-11-01 --to 2026-12-01 november.jsonl
    fermata audit export | jq -r 'select(.type == "question.answered") | .actor.name'`
}

func (c *auditExportCommand) Run(ctx context.Context, s *session) error {
	from, to, err := c.bounds(s)
	if err != nil {
		return err
	}
	server, err := s.server()
	if err != nil {
		return err
	}
	write := func(w io.Writer) (int64, error) {
		buffered := bufio.NewWriter(w)
		n, err := server.ExportAudit(ctx, from, to, buffered)
		return n, errors.Join(err, buffered.Flush())
	}
	if c.File == "" {
		_, err := write(s.out)
		return err
	}
	n, err := writeNewFile(c.File, write)
	if err != nil {
		return err
	}
	s.stderr().line("wrote %s to %s", countText(n, "event"), clean(c.File))
	return nil
}

// writeNewFile writes a new file that only its owner can read. If the content
// cannot be written completely, it removes the file.
func writeNewFile(name string, write func(io.Writer) (int64, error)) (int64, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 0, fermata.Errorf(fermata.CodeInvalidRequest, "%s is there already", name).WithHint("name another file")
	}
	if err != nil {
		return 0, fermata.Errorf(fermata.CodeInternal, "%v", err)
	}
	n, err := write(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(name))
	}
	return n, nil
}
