package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// commentPrefix is the beginning of lines in an edited file that do not belong
// to the answer.
const commentPrefix = "#|"

// editAnswer lets a person write the answer in an editor. An empty file sends
// nothing. If the text does not fit, editAnswer keeps the file and names it. On
// a terminal the person may then correct it.
func (s *session) editAnswer(ctx context.Context, q *fermata.Question) (map[string]any, string, error) {
	path, err := tempFile("fermata-*.md", s.editorText(q))
	if err != nil {
		return nil, "", err
	}
	for {
		if err := s.runEditor(ctx, path); err != nil {
			return nil, "", err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, "", fermata.Internal("read the edited file", err)
		}
		if !utf8.Valid(data) {
			return nil, "", withKeptPath(fermata.Errorf(fermata.CodeInvalidRequest, "the answer is not valid UTF-8"), path)
		}
		texts := parseEditedText(q, string(data))
		if len(texts) == 0 {
			_ = os.Remove(path)
			return nil, "", fermata.Errorf(fermata.CodeInvalidRequest, "the answer is empty, nothing was sent")
		}
		values, err := parseAnswerTexts(q, texts)
		if err == nil {
			return values, path, nil
		}
		if !s.isInteractive() {
			return nil, "", withKeptPath(err, path)
		}
		s.printError(err)
		if again, _ := s.confirm(ctx, "edit again?"); !again {
			return nil, "", withKeptPath(err, path)
		}
	}
}

// withKeptPath adds the path of the person's text to an error.
func withKeptPath(err error, path string) error {
	if e, ok := errors.AsType[*fermata.Error](err); ok {
		return e.WithHint("your text is kept in %s", path)
	}
	return fmt.Errorf("%w (your text is kept in %s)", err, path)
}

// editorText returns the text of the file that the editor opens.
func (s *session) editorText(q *fermata.Question) string {
	var question strings.Builder
	printer{w: &question, width: 76}.printQuestion(q, s.now())
	var sb strings.Builder
	if len(q.Items) == 1 {
		sb.WriteString("\n\n")
	}
	for _, it := range q.Items {
		if len(q.Items) > 1 {
			fmt.Fprintf(&sb, "[%s]\n\n\n", it.Key)
		}
	}
	note := "Write the answer above. These lines are left out; an empty answer sends nothing.\n"
	if len(q.Items) > 1 {
		note = "Write each answer below its [key]. These lines are left out; an empty file sends nothing.\n"
	}
	for line := range strings.SplitSeq(strings.TrimRight(note+"\n"+question.String(), "\n"), "\n") {
		sb.WriteString(strings.TrimRight(commentPrefix+" "+line, " ") + "\n")
	}
	return sb.String()
}

// parseEditedText returns the text of each item that has one.
func parseEditedText(q *fermata.Question, file string) map[string]string {
	texts := map[string]string{}
	key := ""
	if len(q.Items) == 1 {
		key = q.Items[0].Key
	}
	for line := range strings.SplitSeq(file, "\n") {
		line = strings.TrimRight(line, "\r")
		if strings.HasPrefix(line, commentPrefix) {
			continue
		}
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "["); ok && len(q.Items) > 1 {
			if name, ok = strings.CutSuffix(name, "]"); ok && q.Item(name) != nil {
				key = name
				continue
			}
		}
		if key != "" {
			texts[key] += line + "\n"
		}
	}
	for k, text := range texts {
		if texts[k] = strings.TrimSpace(text); texts[k] == "" {
			delete(texts, k)
		}
	}
	return texts
}

// tempFile creates a file that a person can edit.
func tempFile(pattern, text string) (string, error) {
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

// runEditor opens a file in the person's editor and waits for its end. VISUAL
// and EDITOR may hold arguments, so a shell splits them.
func (s *console) runEditor(ctx context.Context, path string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", editorCommand()+` "$1"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.stdin, s.errOut, s.errOut
	if s.outTerm {
		cmd.Stdout = s.out
	}
	if err := cmd.Run(); err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the editor %q ended with an error: %w", editorCommand(), err).
			WithHint("set VISUAL or EDITOR; your text is kept in %s", path)
	}
	return nil
}
