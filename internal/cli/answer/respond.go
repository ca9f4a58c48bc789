package answer

import (
	"context"
	"os"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// RespondCommand is fermata respond: it answers one question, or walks through all that wait.
type RespondCommand struct {
	session.WriteFlags
	ID      string   `arg:"" optional:"" help:"The question, or the task that waits."`
	Answer  []string `arg:"" optional:"" sep:"none" help:"The answer: a value, a label, a number of the list, yes or no, text; @FILE reads a text."`
	Values  []string `name:"answer" sep:"none" placeholder:"KEY=VALUE" help:"The answer to one of several items; KEY=@FILE reads a text. Repeat it."`
	Comment string   `placeholder:"TEXT|@FILE" help:"Say something along with it."`
	Restart bool     `help:"After the deadline: let the task go on with this answer."`
	Undo    bool     `help:"Hold the answer for some seconds, in which fermata undo takes it back."`
	Edit    bool     `help:"Write the answer in $VISUAL or $EDITOR."`
	All     bool     `help:"Walk through every question that waits."`
	Yes     bool     `short:"y" help:"Do not ask back before a dangerous option or an approval is sent; needed for these without a terminal."`
}

// Help returns the description and the examples that --help prints.
func (RespondCommand) Help() string {
	return `Without an answer the question is shown and asked for at the terminal.

Examples:

    fermata respond 3f9k2a                    ask at the terminal
    fermata respond 3f9k2a 2                  the second option
    fermata respond 3f9k2a 1,3                two of several
    fermata respond 3f9k2a use the new one    a text
    fermata respond 3f9k2a @answer.md         the text in a file; @@anna is the text @anna
    fermata respond 3f9k2a retry              several items: a word for each in order, or for each that is required
    fermata respond 3f9k2a --answer db=postgres --answer port=5432
    fermata respond 3f9k2a --edit
    fermata respond --all`
}

// Run runs the command.
func (c *RespondCommand) Run(ctx context.Context, s *session.Session) error {
	var err error
	if c.Comment, err = s.TextOrFile("--comment", c.Comment); err != nil {
		return err
	}
	if c.All {
		if c.ID != "" || len(c.Values) > 0 || c.Edit {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--all asks for each answer: it takes no id, no --answer and no --edit")
		}
		return c.Walk(ctx, s, "")
	}
	if c.Edit && len(c.Answer)+len(c.Values) > 0 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--edit asks for the answer, and the command line says one").WithHint("leave one of them out")
	}
	if c.ID == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "name the question").
			WithHint("fermata list --awaiting shows what waits; fermata respond --all walks through it")
	}
	q, err := s.FindQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	values, err := c.givenAnswer(s, q)
	if err != nil {
		return err
	}
	keptPath := ""
	if values == nil || q.Type == fermata.Approval {
		render.PrintQuestion(s.Stderr(), q, s.Now())
		s.Stderr().Line("")
	}
	if values == nil {
		if values, keptPath, err = c.askFor(ctx, s, q); err != nil {
			return err
		}
	}
	q, err = c.send(ctx, s, q, values)
	if keptPath != "" {
		if err != nil {
			s.Stderr().Line("your text is kept in %s", keptPath)
		} else {
			_ = os.Remove(keptPath)
		}
	}
	if err != nil || q == nil {
		return err
	}
	if s.JSON {
		return s.WriteJSON(q)
	}
	return nil
}

// askFor asks for the answer at the terminal, or in an editor. keptPath is the file with the text of the
// editor.
func (c *RespondCommand) askFor(ctx context.Context, s *session.Session, q *fermata.Question) (values map[string]any, keptPath string, err error) {
	if c.isClosed(q) {
		return nil, "", q.ClosedError()
	}
	if err := s.CheckAssurance(ctx, q); err != nil {
		return nil, "", err
	}
	if c.Edit {
		return editAnswer(ctx, s, q)
	}
	values, err = askValues(ctx, s, q)
	return values, "", err
}

// givenAnswer returns the answer on the command line, and in the files that it names.
func (c *RespondCommand) givenAnswer(s *session.Session, q *fermata.Question) (map[string]any, error) {
	words, pairs, err := readAnswers(s, q, c.Answer, c.Values)
	if err != nil {
		return nil, err
	}
	return Parse(q, words, pairs)
}

// isClosed reports whether the question accepts no answer. After a timeout it still accepts one.
func (*RespondCommand) isClosed(q *fermata.Question) bool {
	return q.Resolution != nil && q.Status != fermata.TimedOut
}

// send sends the values as the answer. If the answer is dangerous, it first asks the person to confirm. It returns nil
// if it sent nothing.
func (c *RespondCommand) send(ctx context.Context, s *session.Session, q *fermata.Question, values map[string]any) (*fermata.Question, error) {
	a := New(q, values)
	a.Comment, a.Restart, a.Undo = c.Comment, c.Restart, c.Undo
	return sendAnswer(ctx, s, c.WriteFlags, q, a, consentRequest{needed: NeedsConsent(q, values), given: c.Yes, confirmCommand: c.repeatCommand(q)})
}

// repeatCommand returns the command that sends the same answer without a confirmation.
func (c *RespondCommand) repeatCommand(q *fermata.Question) string {
	if c.All {
		return "fermata respond --all --yes"
	}
	words := []string{"fermata", "respond", terminal.ShortID(q.ID)}
	for _, value := range c.Values {
		words = append(words, "--answer", value)
	}
	if c.Edit {
		words = append(words, "--edit")
	}
	words = append(append(words, c.Answer...), "--yes")
	for i, word := range words {
		words[i] = fermata.QuoteShellWord(word)
	}
	return strings.Join(words, " ")
}
