//go:build unix

package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/command"
)

// reported is what the details of a run say of a program.
type reported struct {
	ExitCode int             `json:"exit_code"`
	Output   string          `json:"output"`
	Stderr   string          `json:"stderr"`
	LeftOut  int             `json:"left_out"`
	Details  json.RawMessage `json:"details"`
	JSON     json.RawMessage `json:"json"`
}

// playStep runs the command of a workflow's step.
func playStep(t *testing.T, script, report string) (fermata.Finish, reported) {
	t.Helper()
	spec, err := json.Marshal(map[string]any{"command": shell(script), "plain_output": true, "command_report": report})
	if err != nil {
		t.Fatal(err)
	}
	fin, _ := playWith(t, command.NewShell(command.Options{}), spec)
	var got reported
	if err := json.Unmarshal(fin.Details, &got); err != nil {
		t.Fatalf("the details are %.200s: %s", fin.Details, err)
	}
	return fin, got
}

// The details of a step's command say what it printed, however it ended, and keep the details of its result file.
func TestAStepLearnsWhatItsCommandPrinted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		result fermata.Result
		want   reported
	}{
		"it ended well":       {`echo out; echo err >&2`, "", reported{Output: "out\n", Stderr: "err\n"}},
		"it failed":           {`echo out; echo err >&2; exit 3`, "failed", reported{ExitCode: 3, Output: "out\n", Stderr: "err\n"}},
		"it wrote a failure":  {`echo out; echo err >&2; echo '{"result":"failed","details":[1]}' >"$FERMATA_RESULT"; exit 3`, "failed", reported{ExitCode: 3, Output: "out\n", Stderr: "err\n", Details: []byte(`[1]`)}},
		"it wrote a success":  {`echo out; echo '{"result":"completed","details":{"a":1}}' >"$FERMATA_RESULT"`, "completed", reported{Output: "out\n", Details: []byte(`{"a":1}`)}},
		"it wrote no details": {`echo '{"result":"completed","summary":"x"}' >"$FERMATA_RESULT"`, "completed", reported{Details: []byte(`null`)}},
		"it wrote nonsense":   {`echo out; echo nonsense >"$FERMATA_RESULT"`, "failed", reported{Output: "out\n", Details: []byte(`null`)}},
		"its file is empty":   {`echo out; : >"$FERMATA_RESULT"`, "failed", reported{Output: "out\n", Details: []byte(`null`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fin, got := playStep(t, tt.script, "output")
			if diff := cmp.Diff(tt.want, got); diff != "" || fin.Result != tt.result {
				t.Errorf("got %q: %s", fin.Result, diff)
			}
		})
	}
}

// A program that is stopped at its time limit leaves what it has printed until then.
func TestAStoppedProgramLeavesWhatItPrinted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	late := errors.New("too late")
	d := &stoppingHandle{handle: &handle{dir: t.TempDir()}, stop: func() { cancel(late) }}
	r := command.New(command.Options{Command: shell(`echo oops >&2; printf half; exec sleep 1000`)})
	fin, err := r.Run(ctx, &fermata.Claim{Task: &fermata.Task{ID: "task_1"}, Run: &fermata.Run{ID: "run_1"}}, d)
	var got reported
	if parseErr := json.Unmarshal(fin.Details, &got); parseErr != nil || !errors.Is(err, late) {
		t.Fatalf("got %s (%v), %v", fin.Details, parseErr, err)
	}
	if diff := cmp.Diff(reported{ExitCode: -1, Output: "half", Stderr: "oops\n"}, got); diff != "" {
		t.Error(diff)
	}
}

// A step with a schema gets the JSON in its output, up to about 1 MiB.
func TestAStepGetsLongJSON(t *testing.T) {
	t.Parallel()
	const list = `{"list":[%s"<&>"]}`
	printer := func(format string, lines int) string {
		before, after, _ := strings.Cut(format, "%s")
		return "printf '%s' '" + before + "'; yes '\"0123456789\",' | head -n " + strconv.Itoa(lines) + "; echo '" + after + "'"
	}
	for name, tt := range map[string]struct {
		script, report string
		want           int
	}{
		"short JSON is in the output":     {printer(list, 10), "json", 0},
		"long JSON":                       {printer(list, 60_000), "json", 60_001},
		"long JSON behind a log":          {"yes building | head -n 20000; " + printer(list, 20_000), "json", 20_001},
		"JSON of the longest kind":        {printer(list, (fermata.MaxPrintedJSON-18)/14), "json", (fermata.MaxPrintedJSON-18)/14 + 1},
		"JSON that is too long by a line": {printer(list, (fermata.MaxPrintedJSON-18)/14+2), "json", 0},
		"JSON that is too long":           {printer(list, 90_000), "json", 0},
		"no JSON is asked for":            {printer(list, 60_000), "output", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fin, got := playStep(t, tt.script, tt.report)
			var parsed struct{ List []string }
			if len(got.JSON) > 0 {
				if err := json.Unmarshal(got.JSON, &parsed); err != nil {
					t.Fatal(err)
				}
			}
			if len(parsed.List) != tt.want || len(fin.Details) > 1<<20 {
				t.Errorf("got a list of %d in %d bytes, want %d", len(parsed.List), len(fin.Details), tt.want)
			}
			if tt.want > 0 && parsed.List[tt.want-1] != "<&>" {
				t.Errorf("the last element is %q", parsed.List[tt.want-1])
			}
		})
	}
}

// stoppingHandle stops the run when its program has printed the word half.
type stoppingHandle struct {
	*handle
	stop func()
}

func (d *stoppingHandle) Log() io.Writer { return d }

func (d *stoppingHandle) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("half")) {
		d.stop()
	}
	return d.handle.Write(p)
}
