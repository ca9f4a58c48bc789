package fermata_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestSpecOfATask(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		`{"command":["make"],"working_copy":"w","push":true,"timeout":"30m"}`: "",
		`{"key":"step","prompt":"x","comment":"y","common":1,"commit":"z"}`:   "",
		`{"":1,"` + strings.Repeat("commandcommand", 9) + `":1}`:              "",
		`null`:                                "",
		`["command"]`:                         "spec: must be an object",
		`[]`:                                  "spec: must be an object",
		`"make"`:                              "spec: must be an object",
		`5`:                                   "spec: must be an object",
		`{"timeout":null}`:                    "",
		`{"Command":["a"]}`:                   "spec.Command: is no key that workers read; did you mean command?",
		`{"commnad":["a"]}`:                   "spec.commnad: is no key that workers read; did you mean command?",
		`{"comand":["a"]}`:                    "spec.comand: is no key that workers read; did you mean command?",
		`{"workingCopy":"a"}`:                 "spec.workingCopy: is no key that workers read; did you mean working_copy?",
		`{"workng_cpy":"a"}`:                  "spec.workng_cpy: is no key that workers read; did you mean working_copy?",
		`{"psuh":true}`:                       "spec.psuh: is no key that workers read; did you mean push?",
		`{"time-out":"1m"}`:                   "spec.time-out: is no key that workers read; did you mean timeout?",
		`{"timeout":30}`:                      "spec.timeout: must be a duration above zero",
		`{"timeout":"soon"}`:                  "spec.timeout: must be a duration above zero",
		`{"timeout":"-1m"}`:                   "spec.timeout: must be a duration above zero",
		`{"command":"make"}`:                  "spec.command: must be a list of texts, the program first",
		`{"command":[1]}`:                     "spec.command: must be a list of texts, the program first",
		`{"command":[""]}`:                    "spec.command: must be a list of texts, the program first",
		`{"command":[]}`:                      "spec.command: must be a list of texts, the program first; leave it out",
		`{"command":null}`:                    "spec.command: must be a list of texts, the program first; leave it out",
		`{"command":["a",null]}`:              "spec.command: must be a list of texts",
		`{"command":[null]}`:                  "spec.command: must be a list of texts",
		`{"push":"yes"}`:                      "spec.push: must be true or false",
		`{"working_copy":5}`:                  "spec.working_copy: must be the id of a working copy",
		`{"working_copy":"../x"}`:             "spec.working_copy: must be the id of a working copy",
		`{"working_copy":""}`:                 "",
		`{"from":"task_2","push":true}`:       "",
		`{"from":"","working_copy":"w"}`:      "",
		`{"from":"task_2","working_copy":""}`: "",
		`{"from":"task_2","working_copy":"task_2"}`: "spec.from: begins a working copy of its own, and working_copy names that of another task: leave one of them out",
		`{"from":7}`:          "spec.from: must be the id of a task whose branch the working copy begins at: at most 128 letters, digits, _ and -",
		`{"from":"../x"}`:     "spec.from: must be the id of a task",
		`{"from":["task_2"]}`: "spec.from: must be the id of a task",
		`{"From":"task_2"}`:   "spec.From: is no key that workers read; did you mean from?",
		`{"form":"A 38"}`:     "",
	} {
		_, err := fermata.NewTask{Title: "a", Spec: json.RawMessage(spec)}.Create("task_1", agent, noon)
		if got := specProblem(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
		if _, err := (fermata.NewTask{Title: "a", Runner: "external", Spec: json.RawMessage(spec)}).Create("task_1", agent, noon); err != nil {
			t.Errorf("%s of an external task: %v", spec, err)
		}
	}
}

// specProblem returns the first problem of an error.
func specProblem(err error) string {
	if e, ok := errors.AsType[*fermata.Error](err); ok && len(e.Problems) > 0 {
		return e.Problems[0].Field + ": " + e.Problems[0].Message
	}
	return ""
}
