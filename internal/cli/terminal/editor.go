package terminal

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"

	"github.com/fermata-hq/fermata"
)

// TempFile creates a file with a text that a person can edit, and returns its path. The caller removes it.
func TempFile(pattern, text string) (string, error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", fermata.Internal("make a file to edit", err)
	}
	_, err = io.WriteString(f, text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fermata.Internal("write the file to edit", err)
	}
	return f.Name(), nil
}

// editorCommand returns the command of the person's editor.
func editorCommand() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if e := os.Getenv(name); e != "" {
			return e
		}
	}
	return "vi"
}

// RunEditor opens a file in the person's editor and waits for its end. VISUAL
// and EDITOR may hold arguments, so a shell splits them.
func (c *Console) RunEditor(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", editorCommand()+` "$1"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.In, c.Err, c.Err
	if c.OutTerm {
		cmd.Stdout = c.Out
	}
	if err := cmd.Run(); err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the editor %q ended with an error: %w", editorCommand(), err).
			WithHint("set VISUAL or EDITOR; your text is kept in %s", path)
	}
	return nil
}
