package fermata_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

var update = flag.Bool("update", false, "rewrite the golden files and docs/inside/states.md")

// noon is the instant at which the tests begin.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// agent is the asker in these tests.
var agent = fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_coder", Name: "coder"}

// tb is the part of a *testing.T or a *rapid.T that helpers need.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// person returns a caller who may answer, with the assurance of a session.
func person(handle string, groups ...string) fermata.Caller {
	return fermata.Caller{
		WorkspaceID: "main", Kind: fermata.ActorHuman, MemberID: "mem_" + handle, Name: handle, Role: fermata.RoleResponder,
		Groups: groups, Scopes: []fermata.Scope{fermata.ScopeAnswer}, Assurance: fermata.AssuranceSession,
	}
}

func runningTask() *fermata.Task {
	return &fermata.Task{
		ID: "task_1", WorkspaceID: "main", Project: "shop", Title: "Build the shop", State: fermata.TaskInProgress,
		Priority: 2, MaxAttempts: 3, RunID: "run_1", CreatedBy: agent, CreatedAt: noon, UpdatedAt: noon,
	}
}

// waitingTask returns the task of a process that waits for the answers to its questions.
func waitingTask() *fermata.Task {
	t := runningTask()
	t.Runner = fermata.RunnerExternal
	return t
}

// openQuestion returns the question of a process that waits, opened at noon under the default policy.
func openQuestion(t tb, a fermata.Ask) *fermata.Question {
	t.Helper()
	q, err := a.Open("q_1", waitingTask(), agent, fermata.DefaultPolicy(), noon)
	if err != nil {
		t.Fatalf("open %+v: %v", a, err)
	}
	return q
}

// decode returns a request decoded from JSON as it comes over the wire.
func decode[T any](t tb, text string) T {
	t.Helper()
	var v T
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return v
}

// throughJSON returns v as it comes back from a JSON column.
func throughJSON[T any](t tb, v T) T {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	var back T
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatalf("decode %s: %v", data, err)
	}
	return back
}

// faultyFields returns the fields of an error's problems, in the error's order.
func faultyFields(err error) []string {
	var e *fermata.Error
	if !errors.As(err, &e) {
		return nil
	}
	var out []string
	for _, p := range e.Problems {
		out = append(out, p.Field)
	}
	return out
}

func wantError(t *testing.T, err error, code fermata.Code, atFault ...string) {
	t.Helper()
	if got := fermata.CodeOf(err); got != code {
		t.Fatalf("code is %q, want %q (%v)", got, code, err)
	}
	if diff := cmp.Diff(atFault, faultyFields(err)); len(atFault) > 0 && diff != "" {
		t.Errorf("fields at fault (-want +got):\n%s\n%v", diff, err)
	}
}

// compareGolden compares a text with a file in testdata. The flag -update writes the file.
func compareGolden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		writeFile(t, file, text)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; write it with -update", err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got; if this is meant, write it with -update):\n%s", file, diff)
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ptr[T any](v T) *T { return &v }
