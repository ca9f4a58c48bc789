package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

type respondCommand struct {
	write
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

func (respondCommand) Help() string {
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

func (c *respondCommand) Run(ctx context.Context, s *session) error {
	var err error
	if c.Comment, err = s.textOrFile("--comment", c.Comment); err != nil {
		return err
	}
	if c.All {
		if c.ID != "" || len(c.Values) > 0 || c.Edit {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--all asks for each answer: it takes no id, no --answer and no --edit")
		}
		return c.walk(ctx, s, "")
	}
	if c.Edit && len(c.Answer)+len(c.Values) > 0 {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--edit asks for the answer, and the command line says one").WithHint("leave one of them out")
	}
	if c.ID == "" {
		return fermata.Errorf(fermata.CodeInvalidRequest, "name the question").
			WithHint("fermata list --awaiting shows what waits; fermata respond --all walks through it")
	}
	q, err := s.findQuestion(ctx, c.ID)
	if err != nil {
		return err
	}
	values, err := c.givenAnswer(s, q)
	if err != nil {
		return err
	}
	keptPath := ""
	if values == nil || q.Type == fermata.Approval {
		s.stderr().printQuestion(q, s.now())
		s.stderr().line("")
	}
	if values == nil {
		if values, keptPath, err = c.askFor(ctx, s, q); err != nil {
			return err
		}
	}
	q, err = c.send(ctx, s, q, values)
	if keptPath != "" {
		if err != nil {
			s.stderr().line("your text is kept in %s", keptPath)
		} else {
			_ = os.Remove(keptPath)
		}
	}
	if err != nil || q == nil {
		return err
	}
	if s.JSON {
		return s.writeJSON(q)
	}
	return nil
}

// askFor asks for the answer at the terminal, or in an editor. keptPath is the file with the text of the
// editor.
func (c *respondCommand) askFor(ctx context.Context, s *session, q *fermata.Question) (values map[string]any, keptPath string, err error) {
	if c.isClosed(q) {
		return nil, "", q.ClosedError()
	}
	if err := s.checkAssurance(ctx, q); err != nil {
		return nil, "", err
	}
	if c.Edit {
		return s.editAnswer(ctx, q)
	}
	values, err = s.askValues(ctx, q)
	return values, "", err
}

// givenAnswer returns the answer on the command line, and in the files that it names.
func (c *respondCommand) givenAnswer(s *session, q *fermata.Question) (map[string]any, error) {
	words, pairs, err := s.readAnswers(q, c.Answer, c.Values)
	if err != nil {
		return nil, err
	}
	return parseAnswer(q, words, pairs)
}

// isClosed reports whether the question accepts no answer. After a timeout it still accepts one.
func (*respondCommand) isClosed(q *fermata.Question) bool {
	return q.Resolution != nil && q.Status != fermata.TimedOut
}

// send sends the values as the answer. If the answer is dangerous, it first asks the person to confirm. It returns nil
// if it sent nothing.
func (c *respondCommand) send(ctx context.Context, s *session, q *fermata.Question, values map[string]any) (*fermata.Question, error) {
	a := toAnswer(q, values)
	a.Comment, a.Restart, a.Undo = c.Comment, c.Restart, c.Undo
	return s.sendAnswer(ctx, c.write, q, a, consentRequest{needed: needsConsent(q, values), given: c.Yes, confirmCommand: c.repeatCommand(q)})
}

// repeatCommand returns the command that sends the same answer without a confirmation.
func (c *respondCommand) repeatCommand(q *fermata.Question) string {
	if c.All {
		return "fermata respond --all --yes"
	}
	words := []string{"fermata", "respond", shortID(q.ID)}
	for _, value := range c.Values {
		words = append(words, "--answer", value)
	}
	if c.Edit {
		words = append(words, "--edit")
	}
	words = append(append(words, c.Answer...), "--yes")
	for i, word := range words {
		words[i] = notice.QuoteWord(word)
	}
	return strings.Join(words, " ")
}

// consentRequest describes whether a person must confirm an answer before it is sent.
type consentRequest struct {
	// needed reports whether a confirmation is needed, and given whether the command line has it.
	needed, given bool
	// confirmCommand is the command that confirms.
	confirmCommand string
}

// obtain asks a person at a terminal to confirm. Without a terminal, the command line must confirm, so that an
// unattended program releases nothing by accident.
func (n consentRequest) obtain(ctx context.Context, s *session, answer string) error {
	if !n.needed || n.given {
		return nil
	}
	if !s.isInteractive() {
		return fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent: %s needs --yes where nobody can be asked back", answer).
			WithHint("read what it releases, then run: %s", n.confirmCommand)
	}
	yes, err := s.confirm(ctx, "send "+answer+"?")
	if err == nil && !yes {
		err = fermata.Errorf(fermata.CodeInvalidRequest, "nothing was sent")
	}
	return err
}

// needsConsent reports whether a person must confirm an answer before it is sent.
func needsConsent(q *fermata.Question, values map[string]any) bool {
	return len(dangerousOptions(q, values)) > 0 || q.Type == fermata.Approval && values[q.Items[0].Key] == fermata.Approve
}

// sendAnswer sends an answer and prints the result. If consent is needed, it first asks the person at a terminal.
func (s *session) sendAnswer(ctx context.Context, w write, q *fermata.Question, a fermata.Answer, consent consentRequest) (*fermata.Question, error) {
	if done, err := s.printDryRun(w, "POST", "/questions/"+q.ID+"/answer", a); done {
		return nil, err
	}
	if err := s.checkAssurance(ctx, q); err != nil {
		return nil, err
	}
	text := valueText(a.Answer)
	if a.Answer == nil {
		text = valuesText(a.Answers)
	}
	if err := consent.obtain(ctx, s, oneLine(text)); err != nil {
		return nil, err
	}
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	closed, err := server.Answer(ctx, q.ID, a)
	if err != nil {
		return nil, err
	}
	s.printDone(closed.WorkspaceID, "%s: %s", closed.ID, answerResultText(closed, len(q.Votes)))
	return closed, nil
}

// answerResultText returns the result of an answer as text. votesBefore is the number of votes before the answer.
func answerResultText(q *fermata.Question, votesBefore int) string {
	switch {
	case q.HeldAnswer != nil:
		return fmt.Sprintf("held until %s; fermata undo %s takes it back", q.HeldAnswer.ReleaseAt.UTC().Format(time.RFC3339), shortID(q.ID))
	case q.Resolution == nil && q.Approvals != nil && len(q.Votes) <= votesBefore:
		return fmt.Sprintf("your vote was counted before, and counts once; %d of %d have voted", len(q.Votes), q.Approvals.Required)
	case q.Resolution == nil && q.Approvals != nil:
		return fmt.Sprintf("your vote counts: %s; more people are needed", notice.Votes(q))
	case q.Resolution == nil:
		return "the answer was taken"
	case len(q.Resolution.LateAnswers) > 0:
		if q.Resolution.LateAnswers[len(q.Resolution.LateAnswers)-1].Restarted {
			return "answered after the deadline; the task goes on with it"
		}
		return "answered after the deadline; the answer was kept (the same answer again with --restart lets the task go on with it)"
	default:
		return clean(strings.ReplaceAll(q.Resolution.Sentence(), "\n", " "))
	}
}

// errQuit reports that the person wants to stop.
var errQuit = errors.New("quit")
