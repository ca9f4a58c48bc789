//go:build unix

package command_test

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
	"github.com/fermata-hq/fermata/internal/runner/runnertest"
	"github.com/fermata-hq/fermata/internal/worker"
)

var _ worker.Runner = (*command.Runner)(nil)

// agents are shell scripts that behave as the suite asks.
var agents = map[runnertest.Behaviour]string{
	runnertest.HandsBack: `
		title=$(sed 's/.*"title":"\([^"]*\)".*/\1/')
		text=$(cat "$FERMATA_CONTEXT_TEXT")
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
	runnertest.Fails: `echo 'no space left' >&2; exit 3`,
	runnertest.Babbles: `head -c 3000000 /dev/zero; printf '\n\377\376\n'
		head -c 3000000 /dev/zero | tr '\0' x
		echo '{"result":"completed","summary":"done"}' >"$FERMATA_RESULT"`,
	runnertest.Hangs: `exec 3>alive
		sh -c 'echo ready >&3; exec sleep 1000' & wait`,
	runnertest.IsDeaf: `exec 3>alive
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
		{"a result goes before the exit code", `echo '{"result":"completed","summary":"fine"}'; exit 1`, "completed", "fine"},
		{"other JSON is output", `echo '{"level":"info"}'`, "", `{"level":"info"}`},
		{"an exit code is named", `exit 7`, "failed", "exit status 7"},
		{"a signal is named", `kill -9 $$`, "failed", "killed"},
		{"an unknown field is named", `echo '{"result":"completed","resume":"x"}'`, "failed", `unknown field "resume"`},
		{"an unknown result is named", `echo '{"result":"great"}'`, "failed", `"great"`},
		{"a cut result is no success", `printf '{"result":"comp'`, "failed", "not valid"},
		{"two results are none", `echo '{"result":"completed"}{}' >$FERMATA_RESULT`, "failed", "follows"},
		{"a question goes with needs_input", `echo '{"result":"completed","question":{"question":"Why?"}}'`, "failed", "question"},
		{"a broken file is no success", `echo nonsense >$FERMATA_RESULT`, "failed", "not valid"},
		{"a file that is none is no success", `mkdir $FERMATA_RESULT`, "failed", "no regular file"},
		{"progress is no last line", `echo done; echo '::progress nearly'`, "", "done"},
		{"an empty file says nothing", `: >$FERMATA_RESULT; echo fine`, "", "fine"},
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

func TestCommandsOfTasksNeedLeave(t *testing.T) {
	t.Parallel()
	spec := []byte(`{"command":["echo","from the task"]}`)
	tests := []struct {
		name    string
		opts    command.Options
		spec    []byte
		result  fermata.Result
		summary string
	}{
		{"allowed", command.Options{AllowTaskCommands: true, Command: shell("echo own")}, spec, "", "from the task"},
		{"not allowed", command.Options{Command: shell("echo own")}, spec, "", "own"},
		{"not allowed and none of its own", command.Options{}, spec, "failed", "does not allow"},
		{"nothing to run", command.Options{AllowTaskCommands: true}, nil, "failed", "nothing to run"},
		{"a spec of another form", command.Options{AllowTaskCommands: true}, []byte(`{"command":"ls"}`), "failed", "spec must be like"},
		{"a program that is missing", command.Options{Command: []string{"no-such-program-here"}}, nil, "failed", "could not be started"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fin, _ := play(t, tt.opts, tt.spec)
			if fin.Result != tt.result || !strings.Contains(fin.Summary, tt.summary) {
				t.Errorf("got %q %q, want %q with %q", fin.Result, fin.Summary, tt.result, tt.summary)
			}
		})
	}
}

// It changes the environment of the process, so it does not run in parallel.
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

// play runs an agent to its end and returns what it said and wrote.
func play(t *testing.T, opts command.Options, spec []byte) (fermata.Finish, string) {
	t.Helper()
	d := &desk{dir: t.TempDir()}
	fin, err := command.New(opts).Run(t.Context(), &fermata.Claim{
		Task: &fermata.Task{ID: "task_1", Title: "Paint", Spec: spec},
		Run:  &fermata.Run{ID: "run_1", Attempt: 1},
	}, d)
	if err != nil {
		t.Fatal(err)
	}
	return fin, d.log.String()
}

type desk struct {
	dir string
	mu  sync.Mutex
	log bytes.Buffer
}

func (d *desk) Dir() string                          { return d.dir }
func (d *desk) Log() io.Writer                       { return d }
func (d *desk) Progress(fermata.Progress)            {}
func (d *desk) Inbox() <-chan *fermata.ResumeContext { return nil }
func (d *desk) KeepSession(fermata.Session)          {}

func (d *desk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}
