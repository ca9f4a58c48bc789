package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// report is what an agent reports at its end: the fields of [fermata.Finish] that an agent may set.
type report struct {
	Result     fermata.Result   `json:"result"`
	Summary    string           `json:"summary"`
	Details    json.RawMessage  `json:"details"`
	Question   *fermata.Ask     `json:"question"`
	BlockedBy  []string         `json:"blocked_by"`
	Session    *fermata.Session `json:"session"`
	Checkpoint json.RawMessage  `json:"checkpoint"`
}

// Names of the fields that have two forms. An agent may write status instead of result, and a question as a text, with
// its context in questionContext.
const (
	resultName   = "result"
	statusName   = "status"
	questionName = "question"
	contextName  = "questionContext"
)

// reportNames are the fields of a report, in both forms.
var reportNames = []string{
	resultName, statusName, "summary", "details", questionName, contextName, "blocked_by", "session", "checkpoint",
}

var results = []string{
	string(fermata.ResultCompleted), string(fermata.ResultFailed), string(fermata.ResultBlocked), string(fermata.ResultNeedsInput),
}

// ReadReport reads the report with which a program ends its run, in either form, and checks it. The error says what was
// expected.
func ReadReport(data []byte) (fermata.Finish, error) {
	r, err := readReport(data)
	if err != nil {
		return fermata.Finish{}, err
	}
	fin := fermata.Finish{
		Result: r.Result, Summary: fermata.Truncate(r.Summary, maxSummary), Details: r.Details, Question: r.Question,
		BlockedBy: r.BlockedBy, Session: r.Session, Checkpoint: r.Checkpoint,
	}
	if err := fin.Check(); err != nil {
		return fermata.Finish{}, errors.New(problemsOf(err))
	}
	return fin, nil
}

// problemsOf lists all problems of an error.
func problemsOf(err error) string {
	e, ok := errors.AsType[*fermata.Error](err)
	if !ok {
		return err.Error()
	}
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		lines = append(lines, p.Field+" "+p.Message)
	}
	return strings.Join(lines, "; ")
}

// ApplyReport returns the result of a run whose agent ended well with the last message said. If the message ends with a
// report that needs input, the run asks its question, like a program of the runner command. For a step of a workflow,
// ApplyReport changes nothing, because the workflow reads the message itself.
func ApplyReport(fin fermata.Finish, t *fermata.Task, said string) fermata.Finish {
	block := endingOf(said)
	if !hasNeedsInput(block) || isStep(t) {
		return fin
	}
	report, err := ReadReport([]byte(block))
	if err != nil {
		fin.Result, fin.Summary = fermata.ResultFailed, Failure("The agent's result is not valid: %s", err).Summary
		return fin
	}
	fin.Result, fin.Question, fin.Checkpoint = report.Result, report.Question, report.Checkpoint
	if report.Summary != "" {
		fin.Summary = report.Summary
	}
	return fin
}

// endingOf returns the end of a message: a line, an object or a block of code.
func endingOf(said string) string {
	said = strings.TrimSpace(said)
	return LastBlock(said[strings.LastIndexByte(said, '\n')+1:], said)
}

// hasNeedsInput reports whether a text is a JSON object whose result is needs_input.
func hasNeedsInput(text string) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil {
		return false
	}
	return slices.ContainsFunc([]string{statusName, resultName}, func(name string) bool {
		word, _ := textOf(fields[name])
		return spellResult(word) == string(fermata.ResultNeedsInput)
	})
}

// isStep reports whether a step of a workflow created the task.
func isStep(t *fermata.Task) bool {
	var spec struct {
		Key string `json:"key"`
	}
	return json.Unmarshal(t.Spec, &spec) == nil && spec.Key != ""
}

func readReport(data []byte) (*report, error) {
	fields, err := strictjson.Fields(data)
	if err != nil {
		return nil, err
	}
	if err := checkNames(fields); err != nil {
		return nil, err
	}
	if err := takeStatus(fields); err != nil {
		return nil, err
	}
	body, err := takeContext(fields)
	if err != nil {
		return nil, err
	}
	if data, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	r := &report{}
	if err := strictjson.Unmarshal(data, r); err != nil {
		return nil, err
	}
	if body == "" {
		return r, nil
	}
	if r.Question == nil && r.Result == fermata.ResultNeedsInput && r.Summary != "" {
		r.Question = &fermata.Ask{Question: r.Summary}
	}
	switch {
	case r.Question == nil:
		return nil, fmt.Errorf("%s goes with a question", contextName)
	case r.Question.Body != "":
		return nil, fmt.Errorf("%s says the same as question.body; give one of them", contextName)
	}
	r.Question.Body = body
	return r, nil
}

// checkNames refuses a field that no report has.
func checkNames(fields map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(reportNames, name) {
			return fmt.Errorf("unknown field %q; a result has the fields %s", fermata.Truncate(name, 100), strings.Join(reportNames, ", "))
		}
	}
	return nil
}

// takeStatus renames the field status to result.
func takeStatus(fields map[string]json.RawMessage) error {
	status, ok := fields[statusName]
	if ok && fields[resultName] != nil {
		return fmt.Errorf("result and status are two names for one thing; give one of them")
	}
	if ok {
		fields[resultName] = status
		delete(fields, statusName)
	}
	word, isText := textOf(fields[resultName])
	if !isText || !slices.Contains(results, word) {
		return fmt.Errorf("the result is %s; expected one of %s", describeValue(fields[resultName]), strings.Join(results, ", "))
	}
	return nil
}

func describeValue(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "missing"
	}
	return fermata.Truncate(string(raw), 100)
}

// takeContext converts a question that is a text to a [fermata.Ask], and returns the text of questionContext.
func takeContext(fields map[string]json.RawMessage) (body string, err error) {
	if prompt, isText := textOf(fields[questionName]); isText {
		if strings.TrimSpace(prompt) == "" {
			delete(fields, questionName) // the server asks the summary
		} else if fields[questionName], err = json.Marshal(fermata.Ask{Question: prompt}); err != nil {
			return "", err
		}
	}
	raw, ok := fields[contextName]
	if !ok {
		return "", nil
	}
	delete(fields, contextName)
	body, isText := textOf(raw)
	if !isText {
		return "", fmt.Errorf("%s must be a text", contextName)
	}
	return body, nil
}

func textOf(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
