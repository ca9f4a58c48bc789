package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

type runCommand struct {
	session.WriteFlags
	Name   string           `arg:"" complete:"workflow" help:"Name of the workflow."`
	Input  []string         `short:"i" sep:"none" placeholder:"NAME=VALUE" help:"An input, of the type that the workflow says; NAME=@FILE reads a file. Repeat it."`
	Inputs string           `type:"path" placeholder:"FILE" help:"JSON object with inputs; - is standard input."`
	Wait   session.WaitFlag `help:"Wait until the run has ended; --wait=10m gives up after that time."`
}

func (runCommand) Help() string {
	return `Without --wait the id of the run is printed. With --wait the run is printed when it has ended, and the exit code tells how: 0 done, 1 failed, 3 a person rejected, 7 skipped (nobody answered in time, or it was left for manual work), 8 still going at the end of --wait, 9 cancelled.

Examples:

    fermata workflow run autofix --input issue=42
    fermata workflow run release -i version=1.4.0 -i notes=@CHANGELOG.md --wait
    fermata workflow run report --inputs inputs.json --wait=1h --json`
}

func (c *runCommand) Run(ctx context.Context, s *session.Session) error {
	server, err := s.Server()
	if err != nil {
		return err
	}
	w, err := server.Workflow(ctx, c.Name, "")
	if err != nil {
		return err
	}
	inputs, err := c.inputs(s, w)
	if err != nil {
		return err
	}
	body := map[string]any{"inputs": inputs}
	if done, err := s.PrintDryRun(c.WriteFlags, "POST", "/workflows/"+w.Name+"/runs", body); done {
		return err
	}
	run, err := server.StartWorkflow(ctx, w.Name, inputs)
	if err != nil {
		return err
	}
	s.PrintDone(w.WorkspaceID, "started %s of %s", run.ID, terminal.OneLine(w.Name))
	return printStarted(ctx, s, run, c.Wait)
}

// printStarted prints a run that was started, or waits for its end.
func printStarted(ctx context.Context, s *session.Session, run *fermata.WorkflowRun, wait session.WaitFlag) error {
	switch {
	case wait.IsSet:
		return awaitRun(ctx, s, run, wait.Limit)
	case s.JSON:
		return s.WriteJSON(run)
	}
	s.Stdout().Line("%s", run.ID)
	return nil
}

// inputs returns the inputs with the types of the workflow. --input has precedence over the file of --inputs. If an
// input is wrong, the error lists every input that is wrong or missing.
func (c *runCommand) inputs(s *session.Session, w *fermata.Workflow) (map[string]any, error) {
	inputs := map[string]any{}
	if c.Inputs != "" {
		if err := c.inputsOfFile(s, inputs); err != nil {
			return nil, err
		}
	}
	given := map[string]bool{}
	var names []string
	var refusals []*fermata.Error
	for _, flag := range c.Input {
		name, value, err := c.inputOfFlag(s, w, flag, given)
		if err == nil {
			inputs[name] = value
			continue
		}
		refusal, ok := errors.AsType[*fermata.Error](err)
		if !ok {
			return nil, err
		}
		names, refusals = append(names, name), append(refusals, refusal)
	}
	if len(refusals) == 0 {
		return inputs, nil
	}
	for _, in := range w.Inputs {
		if _, ok := inputs[in.Name]; !ok && !given[in.Name] && in.Required && in.Default == nil {
			missing := fermata.Errorf(fermata.CodeInvalidRequest, "--input %s is missing", in.Name)
			names, refusals = append(names, in.Name), append(refusals, missing.WithHint("write --input %s=VALUE", in.Name))
		}
	}
	return nil, joinInputErrors(w, names, refusals)
}

// inputOfFlag returns the name and the value of one --input, and notes the name in given.
func (c *runCommand) inputOfFlag(s *session.Session, w *fermata.Workflow, flag string, given map[string]bool) (name string, value any, err error) {
	name, text, ok := strings.Cut(flag, "=")
	if !ok {
		given[name] = true
		return name, nil, fermata.Errorf(fermata.CodeInvalidRequest, "--input %s has no value", flag).WithHint("write --input %s=VALUE", flag)
	}
	i := slices.IndexFunc(w.Inputs, func(in fermata.WorkflowInput) bool { return in.Name == name })
	if i < 0 {
		return name, nil, unknownInput(w, name)
	}
	if given[name] {
		return name, nil, fermata.Errorf(fermata.CodeInvalidRequest, "--input %s is given twice", name).WithHint("say it once")
	}
	given[name] = true
	if text, err = s.TextOrFile("--input "+name, text); err != nil {
		return name, nil, err
	}
	value, err = inputValue(w.Inputs[i], text)
	return name, value, err
}

// joinInputErrors returns a single error as it is, and several as one error whose problems say what to write instead.
func joinInputErrors(w *fermata.Workflow, names []string, refusals []*fermata.Error) error {
	if len(refusals) == 1 {
		return refusals[0]
	}
	joined := fermata.Errorf(fermata.CodeInvalidRequest, "%d inputs are wrong", len(refusals))
	for i, refusal := range refusals {
		field := "--input " + names[i]
		message := strings.TrimLeft(strings.TrimPrefix(refusal.Message, field), ": ")
		joined.Problems = append(joined.Problems, fermata.Problem{Field: field, Message: message + " (" + refusal.Hint + ")"})
	}
	return joined.WithHint("fermata workflow show %s lists the inputs with their types", w.Name)
}

// inputsOfFile adds the inputs of a file in their original text, so that no digit of a number is lost.
func (c *runCommand) inputsOfFile(s *session.Session, inputs map[string]any) error {
	data, err := s.ReadFile("--inputs", c.Inputs, session.MaxFileSize)
	if err != nil {
		return err
	}
	var checked map[string]any
	if err := session.UnmarshalFile("--inputs", c.Inputs, data, &checked); err != nil {
		return err
	}
	var written map[string]json.RawMessage
	if err := json.Unmarshal(data, &written); err != nil || written == nil {
		return session.FlagErrorf("--inputs", "%s is no JSON object", c.Inputs).WithHint(`write it like {"issue": 42}`)
	}
	for name, value := range written {
		inputs[name] = value
	}
	return nil
}

func unknownInput(w *fermata.Workflow, name string) error {
	e := fermata.Errorf(fermata.CodeInvalidRequest, "the workflow %s has no input %q", w.Name, name)
	if len(w.Inputs) == 0 {
		return e.WithHint("it takes none")
	}
	names := make([]string, 0, len(w.Inputs))
	for _, in := range w.Inputs {
		names = append(names, in.Name)
	}
	return e.WithHint("it takes %s", strings.Join(names, ", "))
}

// inputValue converts a text to the type of an input.
func inputValue(in fermata.WorkflowInput, text string) (any, error) {
	typeError := func(want string) error {
		return fermata.Errorf(fermata.CodeInvalidRequest, "--input %s: %q is no %s", in.Name, text, in.Type).WithHint("write %s", want)
	}
	switch in.Type {
	case "number":
		text := strings.TrimSpace(text)
		if _, err := strconv.ParseFloat(text, 64); err != nil && !errors.Is(err, strconv.ErrRange) || !json.Valid([]byte(text)) {
			return nil, typeError("a number such as 42 or 0.5")
		}
		if !fermata.HoldsNumber(text) {
			return nil, fermata.LostNumberError("--input "+in.Name, text).WithHint("let the input be a string in the workflow, if it is an id")
		}
		return json.Number(text), nil
	case "boolean":
		on, ok := notice.ParseYesNo(strings.TrimSpace(text))
		if !ok {
			return nil, typeError("true or false")
		}
		return on, nil
	case "object", "array":
		if !json.Valid([]byte(text)) {
			return nil, jsonInputError(in, text)
		}
		var v any
		if err := session.UnmarshalFile("--input "+in.Name, "", []byte(text), &v); err != nil {
			return nil, err
		}
		_, isList := v.([]any)
		_, isObject := v.(map[string]any)
		if in.Type == "array" && !isList || in.Type == "object" && !isObject {
			return nil, typeError("a JSON " + in.Type)
		}
		// Keep the text, so that no digit of a number is lost.
		return json.RawMessage(text), nil
	default:
		return text, nil
	}
}

// jsonInputError returns the error for a text that is no JSON, with the place where it breaks off.
func jsonInputError(in fermata.WorkflowInput, text string) error {
	example := map[string]string{"array": `["a", "b"]`, "object": `{"a": 1}`}[in.Type]
	place := ""
	var v any
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal([]byte(text), &v)); ok && strings.TrimSpace(text) != "" {
		place = fmt.Sprintf(", at character %d", utf8.RuneCountInString(text[:min(int(syntax.Offset), len(text))]))
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "--input %s: %q is no JSON%s; the input is an %s", in.Name, text, place, in.Type).
		WithHint("write JSON such as '%s', or @FILE for a file with JSON", example)
}

// awaitRun waits for the end of a run and prints it. A limit ends the wait, and the run continues; 0 is no limit.
func awaitRun(ctx context.Context, s *session.Session, run *fermata.WorkflowRun, limit time.Duration) error {
	v := &runView{s: s, id: run.ID, marks: drawing.ChooseMarks(&s.Console, false), run: run}
	gaveUp, err := awaitRunEnd(ctx, s, v, limit)
	if err != nil {
		return err
	}
	if gaveUp {
		s.Stderr().Line("it has not ended yet; %s goes on", run.ID)
	}
	if s.JSON {
		err = s.WriteJSON(v.run)
	} else {
		for _, line := range drawing.Lines(s, v) {
			s.Stdout().Line("%s", line)
		}
	}
	if err != nil {
		return err
	}
	return runExitError(v.run)
}

// awaitRunEnd follows a run until it ends, and reports whether the limit came first. It prints each question of the run
// once.
func awaitRunEnd(ctx context.Context, s *session.Session, v *runView, limit time.Duration) (bool, error) {
	l := s.Listen(ctx, v.id)
	var timeout <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		timeout = timer.C
	}
	printed := map[string]bool{}
	for {
		for _, q := range v.openQuestions() {
			if printed[q.ID] {
				continue
			}
			printed[q.ID] = true
			s.Stderr().Line("waits for an answer: fermata respond %s  (%s)", terminal.ShortID(q.ID), terminal.OneLine(q.Title))
		}
		if v.IsOver() {
			return false, nil
		}
		select {
		case <-timeout:
			return true, nil
		case err := <-l.Ended:
			return false, err
		case <-l.Dropped:
			continue
		case <-l.Opened:
		case <-l.Events:
			l.Drain()
		}
		if err := s.RetryUntilUp(ctx, func() error { return v.Read(ctx) }); err != nil {
			return false, err
		}
	}
}

// runExitError returns the exit code for the end of a run.
func runExitError(run *fermata.WorkflowRun) error {
	switch run.State {
	case fermata.TaskDone:
		return nil
	case fermata.TaskFailed:
		if run.Reason == fermata.ReasonRejected {
			return session.ExitError(session.ExitRejected)
		}
		return session.ExitError(session.ExitFailed)
	case fermata.TaskCancelled:
		return session.ExitError(session.ExitCancelled)
	case fermata.TaskSkipped:
		return session.ExitError(session.ExitTimedOut)
	default:
		return session.ExitError(session.ExitPending)
	}
}
