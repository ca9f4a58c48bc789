//go:build unix

package command_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = (*command.Runner)(nil)

// agents are shell scripts with the behaviours of the suite.
var agents = map[runnertest.Behaviour]string{
	runnertest.HandsBack: `
		title=$(sed 's/.*"title":"\([^"]*\)".*/\1/')
		text=$(tr '\n"' '  ' <"$FERMATA_CONTEXT_TEXT")
		printf '{"title":"%s","run":"%s","attempt":"%s","resumed":"%s","text":"%s"}' \
			"$title" "$FERMATA_RUN" "$FERMATA_ATTEMPT" "$FERMATA_RESUMED" "$text" >handed.json
		echo '{"result":"completed","summary":"done"}' >"$FERMATA_RESULT"`,
	runnertest.Talks:        `echo hello; echo oops >&2`,
	runnertest.Steps:        `echo '::progress {"message":"half way","current":1,"total":2}'; echo done`,
	runnertest.EndsSilently: `true`,
	runnertest.Asks: `cat >/dev/null
		echo working
		echo '{"result":"needs_input","question":{"question":"Which one?"},"session":{"id":"s-1"},"checkpoint":{"n":1}}'
		echo`,
	runnertest.AsksInWords: `echo '{"status":"needs_input","question":"Which one?"}'`,
	runnertest.Fails:       `echo 'no space left' >&2; exit 3`,
	runnertest.Babbles: `head -c 3000000 /dev/zero; printf '\n\377\376\n'
		head -c 3000000 /dev/zero | tr '\0' x
		echo '{"result":"completed","summary":"done"}' >"$FERMATA_RESULT"`,
	runnertest.Hangs: `exec 3>alive
		sh -c 'echo ready >&3; exec sleep 1000' & wait`,
	runnertest.IgnoresStop: `exec 3>alive
		trap '' TERM
		sh -c 'trap "" TERM; echo ready >&3; sleep 1000' & sleep 1000; sleep 1000`,
	runnertest.IgnoresStopLonger: `exec 3>alive
		trap '' TERM
		sh -c 'trap "" TERM; echo ready >&3; sleep 1000' & sleep 1000; sleep 1000`,
	runnertest.StopsWell: `exec 3>alive
		trap 'touch stopped; exit 0' TERM
		echo ready >&3
		while :; do sleep 1000 & wait $!; done`,
	runnertest.Listens: `exec 3>alive
		echo ready >&3
		until [ -s "$FERMATA_INBOX" ]; do sleep 0.01; done
		text=$(sed 's/.*"body":"\([^"]*\)".*/\1/' "$FERMATA_INBOX")
		printf '{"result":"completed","summary":"%s"}\n' "$text"`,
	runnertest.LeavesChild: `exec 3>alive
		sleep 1000 &
		echo ready >&3
		echo '{"result":"completed","summary":"done"}'`,
}

func TestConformance(t *testing.T) {
	t.Parallel()
	runnertest.Run(t, func(t *testing.T, b runnertest.Behaviour) worker.Runner {
		if b == runnertest.NeverBegins {
			return command.New(command.Options{Command: []string{filepath.Join(t.TempDir(), "none")}})
		}
		script, ok := agents[b]
		if !ok {
			t.Fatalf("there is no agent that %s", b)
		}
		return command.New(command.Options{Command: shell(script), Grace: b.Grace()})
	})
}

func shell(script string) []string { return []string{"sh", "-c", script} }

func TestResults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		result       fermata.Result
		summary      string
	}{
		{"exit code 0 is summed up by the last line", `echo one; echo two; echo`, "", "two"},
		{"the file goes before the last line", `echo '{"result":"completed","summary":"file"}' >$FERMATA_RESULT; echo '{"result":"failed"}'`, "completed", "file"},
		{"an exit code goes before a printed success", `echo '{"result":"completed","summary":"fine"}'; exit 1`, "failed", "exit status 1"},
		{"an exit code goes before a printed question", `echo '{"status":"needs_input","question":"Which?"}'; exit 1`, "failed", "exit status 1"},
		{"a printed failure goes before the exit code", `echo '{"result":"failed","summary":"no paint"}'; exit 1`, "failed", "no paint"},
		{"the file goes before the exit code", `echo '{"result":"completed","summary":"file"}' >$FERMATA_RESULT; exit 1`, "completed", "file"},
		{"other JSON is output", `echo '{"level":"info"}'`, "", `{"level":"info"}`},
		{"a status that is no text is output", `echo '{"status":200,"body":"x"}'`, "", `{"status":200`},
		{"a status of another kind of program is output", `echo '{"level":"info","status":"started","msg":"x"}'`, "", `"started"`},
		{"a word for success is output", `echo '{"status":"ok"}'`, "", `{"status":"ok"}`},
		{"a result of another protocol is output", `echo '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'`, "", "jsonrpc"},
		{"a list is output", `echo '["completed"]'`, "", "completed"},
		{"status is another name of result", `echo '{"status":"completed","summary":"painted"}'`, "completed", "painted"},
		{"a failure by status", `echo '{"status":"failed","summary":"no paint"}'`, "failed", "no paint"},
		{"an unknown status is named", `echo '{"status":"finished"}'`, "failed", `"finished"`},
		{"an unknown status says what was expected", `echo '{"status":"waiting","question":"Which?"}'`, "failed", "one of completed, failed, blocked, needs_input"},
		{"a word for success is no result", `echo '{"status":"ok","summary":"x"}'`, "failed", `"ok"`},
		{"a misspelt field is named", `echo '{"status":"completed","summry":"x"}'`, "failed", `"summry"`},
		{"a misspelt field has those that there are", `echo '{"status":"completed","summry":"x"}'`, "failed", "summary"},
		{"a misspelt status is named", `echo '{"staus":"needs_input","question":"Which?"}'`, "failed", `"staus"`},
		{"a name in capitals is named", `echo '{"Result":"completed","Summary":"s"}'`, "failed", `"Result"`},
		{"a failure in capitals", `echo '{"Result":"failed"}'`, "failed", `"Result"`},
		{"a question without a result", `echo '{"question":"Which one then?","questionContext":"x"}'`, "failed", "the result is missing"},
		{"a misspelt word for a question", `echo '{"state":"needs-input","question":"Which?"}'`, "failed", `"state"`},
		{"a misspelt result is named", `echo '{"reslt":"failed","summary":"x"}'`, "failed", `"reslt"`},
		{"a misspelt word beside fields that no report has", `echo '{"result":"faild","error":"disk full"}'`, "failed", `"error"`},
		{"a result alone under a misspelt name", `echo '{"reslt":"failed"}'`, "failed", `"reslt"`},
		{"a state of another program is output", `echo '{"state":"completed","id":7}'`, "", `"state"`},
		{"a line of a log with a session is output", `echo '{"level":"info","session":"s","state":"failed"}'`, "", `"level"`},
		{"several lines", `printf 'one\n{\n  "result": "completed",\n  "summary": "painted",\n  "details": {\n    "a": 1\n  }\n}\n'`, "completed", "painted"},
		{"several lines with a misspelt field", `printf '{\n  "result": "completed",\n  "summry": "s"\n}\n'`, "failed", `"summry"`},
		{"several lines that are broken", `printf '{\n  "result": "completed",\n}\n'`, "failed", "not valid"},
		{"several lines of another program", `printf '{\n  "level": "info",\n  "status": "started"\n}\n'`, "", "}"},
		{"a fence", `printf 'So:\n\140\140\140json\n{"result":"completed",\n"summary":"painted"}\n\140\140\140\n'`, "completed", "painted"},
		{"a fence around another thing", `printf '\140\140\140\nls\n\140\140\140\n'`, "", "\x60\x60\x60"},
		{"names are exact", `echo '{"Status":"needs_input","question":"Which?"}'`, "failed", `"Status"`},
		{"a misspelt field of the question is named", `echo '{"result":"needs_input","question":{"question":"Which?","optoins":["a"]}}'`, "failed", "question.optoins"},
		{"a misspelt field of an option is named", `echo '{"result":"needs_input","question":{"question":"Which?","options":[{"value":"a","recommnded":true}]}}'`, "failed", "question.options[0].recommnded"},
		{"two words for the result are none", `echo '{"result":"completed","status":"failed"}'`, "failed", "status"},
		{"a context without a question", `echo '{"status":"completed","questionContext":"x"}'`, "failed", "questionContext"},
		{"a context that is no text", `echo '{"status":"needs_input","question":"Which?","questionContext":{"a":1}}'`, "failed", "questionContext"},
		{"a status that was cut off", `printf '{"status":"needs_in'`, "failed", "not valid"},
		{"a result that was cut off late", `printf '{"summary":"x","result":"completed","summ'`, "failed", "not valid"},
		{"an output that was cut off", `printf '{"status":"star'`, "", "star"},
		{"a file is always a result", `echo '{"level":"info"}' >$FERMATA_RESULT`, "failed", `"level"`},
		{"a field given twice", `echo '{"result":"completed","result":"failed"}'`, "failed", "twice"},
		{"an exit code is named", `exit 7`, "failed", "exit status 7"},
		{"a signal is named", `kill -9 $$`, "failed", "killed"},
		{"an unknown field is named", `echo '{"result":"completed","resume":"x"}'`, "failed", `unknown field "resume"`},
		{"an unknown result is named", `echo '{"result":"great"}'`, "failed", `"great"`},
		{"a cut result is no success", `printf '{"result":"comp'`, "failed", "not valid"},
		{"two results are none", `echo '{"result":"completed"}{}' >$FERMATA_RESULT`, "failed", "JSON at byte 22"},
		{"a question goes with needs_input", `echo '{"result":"completed","question":{"question":"Why?"}}'`, "failed", "question"},
		{"a broken file is no success", `echo nonsense >$FERMATA_RESULT`, "failed", "not valid"},
		{"a file that is none is no success", `mkdir $FERMATA_RESULT`, "failed", "no regular file"},
		{"progress is no last line", `echo done; echo '::progress nearly'`, "", "done"},
		{"an empty file is no success", `: >$FERMATA_RESULT; echo fine`, "failed", "The result file is empty"},
		{"a file of white space is no success", `echo >$FERMATA_RESULT; echo fine`, "failed", "The result file is empty"},
		{"a result in a list is no success", `echo '[{"result":"failed"}]'`, "failed", "not valid"},
		{"a question in a list is no success", `printf '[\n  {"status":"needs_input","question":"Which?"}\n]\n'`, "failed", "not valid"},
		{"a list of another program is output", `echo '[{"status":"failed","test":"x"}]'`, "", `"test"`},
		{"a list of many is output", `echo '[{"status":"failed"},{"status":"completed"}]'`, "", `"failed"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fin, _ := play(t, command.Options{Command: shell(tt.script)}, nil)
			if fin.Result != tt.result || !strings.Contains(fin.Summary, tt.summary) {
				t.Errorf("got %q %q, want %q with %q", fin.Result, fin.Summary, tt.result, tt.summary)
			}
		})
	}
}

func TestQuestionsAsText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, result string
		want         *fermata.Ask
	}{
		{"a text", `{"status":"needs_input","question":"Which one?","questionContext":"We have **two**.","summary":"Half."}`, &fermata.Ask{Question: "Which one?", Body: "We have **two**."}},
		{"without a context", `{"result":"needs_input","question":"Which one?"}`, &fermata.Ask{Question: "Which one?"}},
		{"a context beside an object", `{"status":"needs_input","question":{"question":"Which one?","options":["a"]},"questionContext":"Two."}`, &fermata.Ask{Question: "Which one?", Body: "Two.", Options: []fermata.Option{{Value: "a"}}}},
		{"a context in the object", `{"status":"needs_input","question":{"question":"Which one?","context":"Two."}}`, &fermata.Ask{Question: "Which one?", Context: &fermata.QuestionContext{Text: "Two."}}},
		{"an empty one: the server asks the summary", `{"status":"needs_input","question":"","summary":"From summary?"}`, nil},
		{"an empty one beside a context", `{"status":"needs_input","question":" ","questionContext":"Two.","summary":"Which one?"}`, &fermata.Ask{Question: "Which one?", Body: "Two."}},
		{"none: the server asks the summary", `{"status":"needs_input","summary":"Which one?"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fin, _ := play(t, command.Options{Command: shell("echo '" + tt.result + "'")}, nil)
			if diff := cmp.Diff(tt.want, fin.Question); diff != "" || fin.Result != fermata.ResultNeedsInput {
				t.Errorf("got %s %s: %s", fin.Result, fin.Summary, diff)
			}
		})
	}
}

func TestDetailsOfPlainPrograms(t *testing.T) {
	t.Parallel()
	type printed struct {
		ExitCode int    `json:"exit_code"`
		Output   string `json:"output"`
		LeftOut  int    `json:"left_out"`
	}
	long := strings.Repeat("0123456789abcdef", 4096) // 64 KiB
	tests := []struct {
		name, script string
		want         printed
	}{
		{"all that it prints, as it is", `echo ' one'; echo; printf 'two'; echo oops >&2`, printed{0, " one\n\ntwo", 0}},
		{"nothing", `true`, printed{0, "", 0}},
		{"a failure has them too", `echo half; exit 7`, printed{7, "half\n", 0}},
		{"a signal has no code", `kill -9 $$`, printed{-1, "", 0}},
		{"no progress", `echo a; echo '::progress b'; echo c`, printed{0, "a\nc\n", 0}},
		{"no text", `printf 'a\000b\377\n'`, printed{0, "a\uFFFDb\uFFFD\n", 0}},
		{"the last 64 KiB", `head -c 300000 /dev/zero | tr '\0' x; i=0; while [ $i -lt 4096 ]; do printf 0123456789abcdef; i=$((i+1)); done`, printed{0, long, 300000}},
		{"never half a letter", `printf 'ü'; printf '%s' "` + long[1:] + `"`, printed{0, long[1:], 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fin, _ := play(t, command.Options{Command: shell(tt.script)}, nil)
			var got printed
			if err := json.Unmarshal(fin.Details, &got); err != nil || got != tt.want {
				t.Errorf("got %.200s %v, want %.200q", fin.Details, err, tt.want.Output)
			}
		})
	}
	fin, _ := play(t, command.Options{Command: shell(`echo '{"result":"completed","summary":"mine"}'`)}, nil)
	if fin.Details != nil {
		t.Errorf("a program that says what came of it has the details %s", fin.Details)
	}
}

// The output of a workflow's command is data. A command that fails stays failed, whatever it printed.
func TestPlainOutputHoldsNoResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		result       fermata.Result
		output       string
	}{
		{"a result before exit code 1", `echo '{"status":"completed","summary":"3 of 9 tests failed"}'; exit 1`, "failed", `"completed"`},
		{"a check run of GitHub", `echo '{"id":7,"status":"completed","conclusion":"success"}'`, "", `"conclusion"`},
		{"a failure in data", `echo '{"status":"failed","total":3}'`, "", `"total":3`},
		{"a question in data", `echo '{"status":"needs_input","question":"Delete production?"}'`, "", "Delete production?"},
		{"the result file still counts", `echo '{"result":"failed","summary":"file"}' >"$FERMATA_RESULT"`, "failed", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spec, err := json.Marshal(map[string]any{"command": shell(tt.script), "plain_output": true})
			if err != nil {
				t.Fatal(err)
			}
			fin, _ := playWith(t, command.NewShell(command.Options{}), spec)
			var printed struct{ Output string }
			if len(fin.Details) > 0 {
				err = json.Unmarshal(fin.Details, &printed)
			}
			if err != nil || fin.Result != tt.result || fin.Question != nil || !strings.Contains(printed.Output, tt.output) {
				t.Errorf("got %q with %s (%v), want %q with %q", fin.Result, fin.Details, err, tt.result, tt.output)
			}
		})
	}
}

// Each runner refuses a task that is for the other one. A task whose command did not run must not be done.
func TestCommandsOfTasksNeedLeave(t *testing.T) {
	t.Parallel()
	spec := []byte(`{"command":["echo","from the task"]}`)
	own := command.New(command.Options{Command: shell("echo own")})
	ofTasks := command.NewShell(command.Options{Command: shell("echo own")})
	tests := []struct {
		name    string
		runner  *command.Runner
		spec    []byte
		result  fermata.Result
		summary string
	}{
		{"the task's command", ofTasks, spec, "", "from the task"},
		{"no command of the task's", ofTasks, nil, "failed", "nothing to run"},
		{"the worker's program", own, nil, "", "own"},
		{"a command that is not allowed", own, spec, "failed", "does not allow"},
		{"no program of the worker's", command.New(command.Options{}), nil, "failed", "nothing to run"},
		{"a spec of another form", ofTasks, []byte(`{"command":"ls"}`), "failed", "spec must be like"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fin, _ := playWith(t, tt.runner, tt.spec)
			if fin.Result != tt.result || !strings.Contains(fin.Summary, tt.summary) {
				t.Errorf("got %q %q, want %q with %q", fin.Result, fin.Summary, tt.result, tt.summary)
			}
		})
	}
}

// If a program is missing, Run returns an error, so that the worker knows that the program was told nothing.
func TestMissingProgram(t *testing.T) {
	t.Parallel()
	r := command.New(command.Options{Command: []string{"no-such-program-here"}})
	claim := &fermata.Claim{Task: &fermata.Task{ID: "task_1"}, Run: &fermata.Run{ID: "run_1"}}
	if _, err := r.Run(t.Context(), claim, &handle{dir: t.TempDir()}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// This test changes the environment of the process, so it does not run in parallel.
func TestSecretsOfTheWorkerStayThere(t *testing.T) {
	t.Setenv("FERMATA_TOKEN", "fmt_worker")
	t.Setenv("AWS_SECRET", "hidden")
	t.Setenv("NAMED", "passed")
	_, log := play(t, command.Options{
		Command: shell("env"), PassEnv: []string{"NAMED"}, SetEnv: []string{"EXTRA=1", "FERMATA_TASK=other"}, URL: "http://server",
	}, nil)
	for _, secret := range []string{"fmt_worker", "hidden"} {
		if strings.Contains(log, secret) {
			t.Errorf("the agent inherits %s:\n%s", secret, log)
		}
	}
	for _, want := range []string{"NAMED=passed", "EXTRA=1", "FERMATA_URL=http://server", "FERMATA_TASK=task_1", "PATH="} {
		if !slices.ContainsFunc(strings.Split(log, "\n"), func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("the agent does not get %s:\n%s", want, log)
		}
	}
}

// play runs an agent to its end and returns its result and its output.
func play(t *testing.T, opts command.Options, spec []byte) (fermata.Finish, string) {
	t.Helper()
	return playWith(t, command.New(opts), spec)
}

func playWith(t *testing.T, r *command.Runner, spec []byte) (fermata.Finish, string) {
	t.Helper()
	d := &handle{dir: t.TempDir()}
	fin, err := r.Run(t.Context(), &fermata.Claim{
		Task: &fermata.Task{ID: "task_1", Title: "Paint", Spec: spec},
		Run:  &fermata.Run{ID: "run_1", Attempt: 1},
	}, d)
	if err != nil {
		t.Fatal(err)
	}
	return fin, d.log.String()
}

type handle struct {
	dir string
	mu  sync.Mutex
	log bytes.Buffer
}

func (d *handle) Dir() string                          { return d.dir }
func (d *handle) Log() io.Writer                       { return d }
func (d *handle) Progress(fermata.Progress)            {}
func (d *handle) Inbox() <-chan *fermata.ResumeContext { return nil }
func (d *handle) KeepSession(fermata.Session)          {}

func (d *handle) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}
