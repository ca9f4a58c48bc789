package answer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// commentPrefix is the beginning of lines in an edited file that do not belong
// to the answer.
const commentPrefix = "#|"

// editAnswer lets a person write the answer in an editor. An empty file sends
// nothing. If the text does not fit, editAnswer keeps the file and names it. On
// a terminal the person may then correct it.
func editAnswer(ctx context.Context, s *session.Session, q *fermata.Question) (map[string]any, string, error) {
	path, err := terminal.TempFile("fermata-*.md", EditorText(s, q))
	if err != nil {
		return nil, "", err
	}
	for {
		if err := s.RunEditor(ctx, path); err != nil {
			return nil, "", err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, "", fermata.Internal("read the edited file", err)
		}
		if !utf8.Valid(data) {
			return nil, "", withKeptPath(fermata.Errorf(fermata.CodeInvalidRequest, "the answer is not valid UTF-8"), path)
		}
		texts := ParseEditedText(q, string(data))
		if len(texts) == 0 {
			_ = os.Remove(path)
			return nil, "", fermata.Errorf(fermata.CodeInvalidRequest, "the answer is empty, nothing was sent")
		}
		values, err := ParseTexts(q, texts)
		if err == nil {
			return values, path, nil
		}
		if !s.IsInteractive() {
			return nil, "", withKeptPath(err, path)
		}
		s.PrintError(err)
		if again, _ := s.Confirm(ctx, "edit again?"); !again {
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

// EditorText returns the text of the file that the editor opens.
func EditorText(s *session.Session, q *fermata.Question) string {
	var question strings.Builder
	render.PrintQuestion(terminal.Printer{Out: &question, Width: 76}, q, s.Now())
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

// ParseEditedText returns the text of each item that has one.
func ParseEditedText(q *fermata.Question, file string) map[string]string {
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
