//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/test/script"
)

// handle is the worker's side of a run. It records what the runner reports.
type handle struct {
	dir     string
	mu      sync.Mutex
	log     bytes.Buffer
	inbox   chan *fermata.ResumeContext
	session []fermata.Session
	heard   []*fermata.ResumeContext
	history string
}

func newRunHandle(t *testing.T) *handle {
	return &handle{dir: t.TempDir(), inbox: make(chan *fermata.ResumeContext, 8)}
}

func (d *handle) Dir() string                          { return d.dir }
func (d *handle) Log() io.Writer                       { return d }
func (d *handle) Progress(fermata.Progress)            {}
func (d *handle) Inbox() <-chan *fermata.ResumeContext { return d.inbox }
func (d *handle) KeepSession(s fermata.Session)        { d.session = append(d.session, s) }
func (d *handle) MarkTold(rc *fermata.ResumeContext)   { d.heard = append(d.heard, rc) }

func (d *handle) History(context.Context) (*fermata.ResumeContext, error) {
	return &fermata.ResumeContext{Text: d.history}, nil
}

func (d *handle) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}

func (d *handle) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// prompt returns a prompt that the program was given, from the file in which the program saved it.
func (d *handle) prompt(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatalf("%v\n%s", err, d.text())
	}
	return string(data)
}

// pipe creates a pipe in the folder of the program.
func (d *handle) pipe(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(d.dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// kind is a program whose output lines are events in JSON. Its first argument is the session to resume, or "new".
var kind = agent.Kind{
	Name: "test",
	Command: func(t *agent.Turn) (args, env []string, err error) {
		if t.Session == "" {
			return []string{"new"}, nil, nil
		}
		return []string{t.Session}, nil, nil
	},
	Reader: func() func([]byte) []agent.Event {
		return func(line []byte) []agent.Event {
			var e agent.Event
			if json.Unmarshal(line, &e) != nil {
				return nil
			}
			return []agent.Event{e}
		}
	},
	InUse: func(words string) bool { return strings.Contains(words, "busy") },
}

func run(t *testing.T, d *handle, script string, claim *fermata.Claim, o agent.Options) fermata.Finish {
	t.Helper()
	return runKind(t, kind, d, script, claim, o)
}

func runKind(t *testing.T, k agent.Kind, d *handle, text string, claim *fermata.Claim, o agent.Options) fermata.Finish {
	t.Helper()
	o.Program, o.Grace = filepath.Join(t.TempDir(), "agent"), time.Second
	script.Write(t, o.Program, text)
	fin, err := agent.New(k, o).Run(t.Context(), claim, d)
	if err != nil {
		t.Fatal(err)
	}
	return fin
}

func firstClaim() *fermata.Claim {
	return &fermata.Claim{
		Task:    &fermata.Task{ID: "task_1", Title: "Paint the fence", Body: "All of it."},
		Run:     &fermata.Run{ID: "run_1", Attempt: 1},
		Context: &fermata.ResumeContext{TaskID: "task_1"},
	}
}

func resumedClaim() *fermata.Claim {
	c := firstClaim()
	c.Context.Resumed, c.Context.Session, c.Context.Text = true, &fermata.Session{ID: "s-1", Runner: "test"}, "Answered: green"
	return c
}

func TestSessionThatIsGoneBeginsAnew(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	d.history = "Answered: first blue, then green"
	fin := run(t, d, `cat >"prompt-$1"
		[ "$1" = new ] || { echo 'no such session' >&2; exit 1; }
		echo '{"Session":"s-2"}'; echo '{"Said":"painted"}'`, resumedClaim(), agent.Options{})
	if fin.Result != "" || fin.Summary != "painted" || fin.Session.ID != "s-2" {
		t.Errorf("got %+v", fin)
	}
	if got := d.prompt(t, "prompt-s-1"); got != "Answered: green" {
		t.Errorf("the old session was told %q", got)
	}
	got := d.prompt(t, "prompt-new")
	for _, want := range []string{"# Paint the fence", "All of it.", "cannot be resumed", "first blue, then green"} {
		if !strings.Contains(got, want) {
			t.Errorf("the new session was not told %q:\n%s", want, got)
		}
	}
	if log := d.text(); !strings.Contains(log, "the session s-1 cannot be resumed: a new one begins") {
		t.Errorf("the log does not say so:\n%s", log)
	}
}

func TestSessionInUseIsWaitedFor(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	fin := run(t, d, `echo x >>tries
		[ "$(wc -l <tries)" -gt 2 ] || { echo 'it is busy' >&2; exit 1; }
		echo '{"Session":"'$1'","Said":"painted"}'`, resumedClaim(), agent.Options{})
	if fin.Result != "" || fin.Summary != "painted" || fin.Session.ID != "s-1" {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
}

func TestSessionThatFailsIsKept(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	fin := run(t, d, `echo '{"Session":"s-1"}'; echo '{"Trouble":"no credit left","Fatal":true}'`, resumedClaim(), agent.Options{})
	if fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "no credit left") || fin.Session.ID != "s-1" {
		t.Errorf("got %+v", fin)
	}
}

// A call that is in progress when a person writes may end first.
func TestInterruptWaitsForACall(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	ready, goOn := d.pipe(t, "ready"), d.pipe(t, "go-on")
	rc := &fermata.ResumeContext{Messages: []fermata.Message{{ID: "msg_1"}}, Text: "use less paint"}
	go func() {
		readPipe(ready)
		d.inbox <- rc
		for len(d.inbox) > 0 { // until the runner took it
			readPipe(ready)
		}
		_ = os.WriteFile(goOn, []byte("x\n"), 0o600)
	}()
	fin := run(t, d, `
		if [ "$1" = s-1 ]; then echo '{"Session":"s-1"}'; echo '{"Said":"'"$(cat)"'"}'; exit; fi
		trap 'echo stopped >>order; exit 143' TERM
		echo '{"Session":"s-1","Opens":"call"}'
		{ while :; do echo r >ready || exit; done; } 2>/dev/null &
		read x <go-on
		echo closed >>order
		echo '{"Closes":"call"}'
		while :; do sleep 1000 & wait $!; done`, firstClaim(), agent.Options{})
	if fin.Result != "" || fin.Summary != "use less paint" {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
	if order := d.prompt(t, "order"); order != "closed\nstopped\n" {
		t.Errorf("the order was %q", order)
	}
	if len(d.heard) != 1 || d.heard[0] != rc {
		t.Errorf("the worker does not know that the agent was told: %v", d.heard)
	}
}

// If a program is stopped before its agent replied, the program may not have saved its prompt. The next turn repeats
// the text, and only then it counts as heard.
func TestWhatACutOffTurnToldIsToldAgain(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	one := &fermata.ResumeContext{Messages: []fermata.Message{{ID: "msg_1"}}, Text: "use less paint"}
	two := &fermata.ResumeContext{Messages: []fermata.Message{{ID: "msg_2"}}, Text: "and a finer brush"}
	// Each turn has its own pipe: on a shared one, a reader could meet the writer of the turn before.
	begun, again := d.pipe(t, "begun-1"), d.pipe(t, "begun-2")
	go func() {
		readPipe(begun)
		d.inbox <- one
		readPipe(again)
		d.inbox <- two
	}()
	fin := run(t, d, `prompt=$(cat)
		if [ -e second ]; then echo "$prompt" >last; echo '{"Session":"s-1"}'; echo '{"Said":"painted"}'; exit; fi
		turn=1; [ ! -e first ] || { touch second; turn=2; }
		touch first
		echo '{"Session":"s-1"}'
		echo r >begun-$turn
		while :; do sleep 1000 & wait $!; done`, firstClaim(), agent.Options{})
	if fin.Summary != "painted" {
		t.Fatalf("got %+v\n%s", fin, d.text())
	}
	last := d.prompt(t, "last")
	at := 0
	for _, want := range []string{"# Paint the fence", "use less paint", "and a finer brush"} {
		i := strings.Index(last[at:], want)
		if i < 0 {
			t.Fatalf("the prompt lacks %q:\n%s", want, last)
		}
		at += i
	}
	if len(d.heard) != 2 || d.heard[0] != one || d.heard[1] != two {
		t.Errorf("heard: %v", d.heard)
	}
}

// When a turn with a deferred call is cut off, the call may have finished or not. So the message comes with a prompt,
// or with the call.
func TestACutOffTurnOfADeferredCall(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]bool{"the call is over": true, "the call is still put off": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newRunHandle(t)
			claim := resumedClaim()
			claim.Context.Session.Settings = map[string]string{"deferred_call": "call-1"}
			claim.Context.Messages = []fermata.Message{{ID: "msg_1"}}
			claim.Context.Text = "which fence?"
			claim.Context.Pending = &fermata.Question{ID: "q_1"}
			begun := d.pipe(t, "begun")
			go func() {
				readPipe(begun)
				d.inbox <- &fermata.ResumeContext{Messages: []fermata.Message{{ID: "msg_2"}}, Text: "the long one"}
			}()
			closes := ""
			if over {
				closes = "call-1"
			}
			fin := runKind(t, kind, d, `prompt=$(cat)
				touch "$FERMATA_RUN_FOLDER/gated"
				if [ -e first ]; then
					[ -z "$FERMATA_DEFERRED" ] || prompt=$(cat "$FERMATA_RUN_FOLDER/words")
					echo "$FERMATA_DEFERRED: $prompt" >last; echo '{"Session":"s-1","Said":"painted"}'; exit
				fi
				touch first
				echo '{"Session":"s-1","Closes":"`+closes+`"}'
				echo r >begun
				while :; do sleep 1000 & wait $!; done`, claim, agent.Options{Fermata: "/bin/fermata"})
			if fin.Summary != "painted" {
				t.Fatalf("got %+v\n%s", fin, d.text())
			}
			want := ": which fence?\nthe long one\n"
			if !over {
				want = "call-1" + want
			}
			if got := d.prompt(t, "last"); got != want {
				t.Errorf("the agent was told %q, want %q", got, want)
			}
		})
	}
}

// If an agent never replied, the message of its run is not heard, and the session is known to lack the task. The next
// run tells both.
func TestASessionWithoutAReplyIsToldTheTask(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	claim := firstClaim()
	claim.Context.Messages, claim.Context.Text = []fermata.Message{{ID: "msg_1"}}, "use less paint"
	fin := run(t, d, `echo '{"Session":"s-1"}'; echo '{"Trouble":"no model","Fatal":true}'`, claim, agent.Options{})
	if fin.Result != fermata.ResultFailed || len(d.heard) != 0 || fin.Session == nil {
		t.Fatalf("got %+v, heard %v", fin, d.heard)
	}
	again := firstClaim()
	again.Context.Resumed, again.Context.Session, again.Context.Text = true, fin.Session, "use less paint"
	again.Context.Messages = claim.Context.Messages
	fin = run(t, d, `cat >"prompt-$1"; echo '{"Session":"s-1"}'; echo '{"Said":"painted"}'`, again, agent.Options{})
	got := d.prompt(t, "prompt-s-1")
	if !strings.Contains(got, "# Paint the fence") || !strings.Contains(got, "use less paint") {
		t.Errorf("the session was told:\n%s", got)
	}
	if len(d.heard) != 1 || len(fin.Session.Settings) != 0 {
		t.Errorf("heard %v, settings %v", d.heard, fin.Session.Settings)
	}
}

func readPipe(pipe string) {
	file, err := os.Open(pipe)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	_, _ = io.ReadFull(file, make([]byte, 2))
}

// The session of an interrupted first run may be gone. The new session is told the message, which counts as heard with
// the first turn that began.
func TestSessionGoneWithAMessage(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	claim := firstClaim()
	claim.Context.Text = "written before"
	d.inbox <- &fermata.ResumeContext{Text: "use less paint"}
	fin := run(t, d, `prompt=$(cat); echo "$prompt" >>prompts
		case $1 in
		new) [ -e begun ] || { touch begun; echo '{"Session":"s-1"}'; exit; }; echo '{"Session":"s-2","Said":"painted"}' ;;
		*) echo 'no such session' >&2; exit 1 ;;
		esac`, claim, agent.Options{})
	if fin.Summary != "painted" || fin.Session.ID != "s-2" || len(d.heard) != 1 {
		t.Errorf("got %+v, heard %d\n%s", fin, len(d.heard), d.text())
	}
	_, last, _ := strings.Cut(d.prompt(t, "prompts"), "Your session of that time is gone")
	if !strings.Contains(last, "use less paint") {
		t.Errorf("the new session was not told:\n%s", d.prompt(t, "prompts"))
	}
}

// A message that was not told because the agent stopped for a question is not heard.
func TestUntoldIsNotHeard(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	d.inbox <- &fermata.ResumeContext{Text: "use less paint"}
	fin := run(t, d, `echo '{"Session":"s-1"}'; echo '{"Asked":"q_1"}'; exec sleep 1000`, firstClaim(), agent.Options{})
	if fin.Result != fermata.ResultNeedsInput || len(d.heard) != 0 {
		t.Errorf("got %+v, heard %d", fin, len(d.heard))
	}
}

// If a program cannot be started, Run returns an error, so that the worker knows that its agent was told nothing.
func TestProgramThatIsNotThere(t *testing.T) {
	t.Parallel()
	_, err := agent.New(kind, agent.Options{Program: filepath.Join(t.TempDir(), "none")}).Run(t.Context(), firstClaim(), newRunHandle(t))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A deferred call comes again before any prompt is read. So a person's message comes with the call, and with nothing
// else.
func TestDeferredCallBringsTheWords(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"the call is there": `[ "$FERMATA_DEFERRED" = call-1 ] && [ -z "$prompt" ]; cat "$FERMATA_RUN_FOLDER/words" >told`,
		"the call is gone": `[ -n "$prompt" ] || { echo 'no deferred call' >&2; exit 1; }
			[ -z "$FERMATA_DEFERRED" ]; echo "$prompt" >told; [ ! -e "$FERMATA_RUN_FOLDER/words" ]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newRunHandle(t)
			claim := resumedClaim()
			claim.Context.Session.Settings = map[string]string{"deferred_call": "call-1"}
			claim.Context.Messages = []fermata.Message{{ID: "msg_1"}}
			claim.Context.Text = "which fence?"
			claim.Context.Pending = &fermata.Question{ID: "q_1"}
			script := "set -e; prompt=$(cat); " + script + "\ntouch \"$FERMATA_RUN_FOLDER/gated\"; echo '{\"Session\":\"s-1\",\"Said\":\"painted\"}'"
			fin := runKind(t, kind, d, script, claim, agent.Options{Fermata: "/bin/fermata"})
			if fin.Summary != "painted" {
				t.Fatalf("got %+v\n%s", fin, d.text())
			}
			if got := strings.TrimSpace(d.prompt(t, "told")); got != "which fence?" {
				t.Errorf("the agent was told %q", got)
			}
		})
	}
}

// A message that arrives when the agent has already ended is not lost.
func TestMessageAtTheEndIsHeard(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	d.inbox <- &fermata.ResumeContext{Text: "use less paint"}
	fin := run(t, d, `prompt=$(cat)
		echo '{"Session":"s-1"}'
		[ "$1" = new ] && prompt=painted
		echo '{"Said":"'"$prompt"'"}'`, firstClaim(), agent.Options{})
	if fin.Summary != "use less paint" {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
}

// A question takes precedence over a message: the worker hands over the message with the next run.
func TestQuestionStops(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	fin := run(t, d, `echo '{"Session":"s-1","Said":"I ask."}'; echo '{"Asked":"q_1"}'; exec sleep 1000`, firstClaim(), agent.Options{ExtraArgs: []string{"--fast"}})
	if fin.Result != fermata.ResultNeedsInput || fin.Question != nil || fin.Session.ID != "s-1" || fin.Summary != "I ask." {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
	if len(d.session) != 1 || d.session[0].ID != "s-1" || d.session[0].Settings["args"] != "--fast" {
		t.Errorf("the sessions kept are %+v", d.session)
	}
	if len(d.heard) != 0 {
		t.Error("nobody told the agent anything")
	}
}

func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	claim := firstClaim()
	claim.Task.Body = strings.Repeat("Long words. ", 20_000)
	run(t, d, `cat >prompt; env >environment; echo '{"Session":"s-1"}'`, claim, agent.Options{
		Fermata: "/bin/fermata", URL: "http://127.0.0.1:7433", Token: "fmt_x", SetEnv: []string{"FERMATA_TASK=other"},
	})
	got := d.prompt(t, "prompt")
	for _, want := range []string{fermata.AgentGuidance(fermata.HostWorker), "# Paint the fence\n", strings.TrimSpace(claim.Task.Body)} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %.100q", want)
		}
	}
	env := "\n" + d.prompt(t, "environment")
	for _, want := range []string{"FERMATA_TASK=task_1", "FERMATA_RUN=run_1", "FERMATA_URL=http://127.0.0.1:7433", "FERMATA_TOKEN=fmt_x", "FERMATA_RESUMED=0"} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("the environment lacks %s:\n%s", want, env)
		}
	}
}

func TestAwaits(t *testing.T) {
	t.Parallel()
	pending := `{"status":"pending","question_id":"q_1"}`
	for _, c := range []struct{ tool, input, output, want string }{
		{"ask_user", `{"question":"a?"}`, pending, "q_1"},
		{"request_approval", `{}`, pending, "q_1"},
		{"ask_user", `{"type":"non_blocking"}`, pending, ""},
		{"ask_user", `null`, `{"status":"answered","question_id":"q_1"}`, ""},
		{"ask_user", `{}`, `{"error":{"code":"rate_limited"}}`, ""},
		{"ask_user", `{}`, `the server is down`, ""},
		{"post_question", `{}`, pending, ""},
		{"check_answer", `{}`, pending, ""},
	} {
		if got := agent.AwaitedQuestion(c.tool, json.RawMessage(c.input), c.output); got != c.want {
			t.Errorf("%s %s -> %s: got %q, want %q", c.tool, c.input, c.output, got, c.want)
		}
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	if agent.PlanProgress(nil) != nil {
		t.Error("an empty plan is no progress")
	}
	p := agent.PlanProgress([]agent.PlanStep{{"dig", true}, {"plant", false}, {"water", false}})
	if p.Message != "plant" || p.Current != 1 || p.Total != 3 {
		t.Errorf("got %+v", p)
	}
	if p := agent.PlanProgress([]agent.PlanStep{{"dig", true}}); p.Message != "dig" || p.Current != 1 {
		t.Errorf("got %+v", p)
	}
}

// gatedKind returns a program that reports the end of a turn. If stops is true, its hooks can end a turn.
func gatedKind(stops bool) agent.Kind {
	k := kind
	k.HooksStop, k.TellsEnd = stops, true
	return k
}

// A program whose hooks do not run is stopped as soon as it acts.
func TestUngatedProgramIsStopped(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	script := `echo '{"Session":"s-1"}'; echo '{"Opens":"call","Acts":true}'; exec sleep 1000`
	fin := runKind(t, gatedKind(false), d, script, firstClaim(), agent.Options{Fermata: "/bin/fermata"})
	if fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "does not call the hooks") {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
}

// A call that no hook let through ends the run and all processes of the program.
func TestACallThatNoHookLetThroughFailsTheRun(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	script := `echo '{"Session":"s-1"}'; echo '{"Ran":{"ID":"c1"}}'; exec sleep 1000`
	fin := runKind(t, kind, d, script, firstClaim(), agent.Options{Fermata: "/bin/fermata"})
	if fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "no hook of the worker let through") {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
}

// A hook leaves the question for which a call was deferred. The runner ends the program, or waits if the program can
// end by itself.
func TestHookStops(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stops bool
		then  string
	}{
		"the runner":  {false, `exec sleep 1000`},
		"the program": {true, `echo '{"Closes":"call"}'; echo ended >ended; echo '{"Paused":true,"Ended":true}'`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newRunHandle(t)
			fin := runKind(t, gatedKind(tt.stops), d, `touch "$FERMATA_RUN_FOLDER/gated"
				echo '{"Session":"s-1","Said":"I ask.","Acts":true}'
				echo q_1 >"$FERMATA_RUN_FOLDER/stopped"
				`+tt.then, firstClaim(), agent.Options{Fermata: "/bin/fermata"})
			if fin.Result != fermata.ResultNeedsInput || fin.Session.ID != "s-1" || fin.Summary != "I ask." {
				t.Errorf("got %+v\n%s", fin, d.text())
			}
			if tt.stops {
				d.prompt(t, "ended")
			}
		})
	}
}

// A turn that another program's hook ended is a failure, because Fermata does not know what it waits for.
func TestForeignHook(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	fin := run(t, d, `echo '{"Session":"s-1"}'; echo '{"Paused":true,"Ended":true}'`, firstClaim(), agent.Options{})
	if fin.Result != fermata.ResultFailed || !strings.Contains(fin.Summary, "not Fermata's") {
		t.Errorf("got %+v", fin)
	}
}

// A deferred call whose answer is there comes again without a prompt. If the call is gone, the agent is told the
// answer.
func TestDeferredCall(t *testing.T) {
	t.Parallel()
	d := newRunHandle(t)
	claim := resumedClaim()
	claim.Context.Session.Settings = map[string]string{"deferred_call": "call-1"}
	claim.Context.Questions = []fermata.ResumeAnswer{{QuestionID: "q_1"}}
	fin := run(t, d, `prompt=$(cat); echo "[$prompt]" >>prompts
		[ -n "$prompt" ] || { echo 'no deferred call' >&2; exit 1; }
		echo '{"Session":"s-1","Said":"painted"}'`, claim, agent.Options{})
	if fin.Summary != "painted" || fin.Session.Settings["deferred_call"] != "" {
		t.Errorf("got %+v\n%s", fin, d.text())
	}
	if got := d.prompt(t, "prompts"); got != "[]\n[Answered: green]\n" {
		t.Errorf("the agent was told %q", got)
	}
}

// A summary is cut at its end, but a workflow looks for the result there.
func TestWholeKeepsWhatASummaryCuts(t *testing.T) {
	t.Parallel()
	if details := agent.FullTextDetails(strings.Repeat("ü", 4096)); details != nil {
		t.Errorf("what fits into a summary has the details %.100s", details)
	}
	for _, long := range []string{strings.Repeat("ü", 4097) + "end", strings.Repeat("x", 300_000) + "end"} {
		var got struct{ Text string }
		if err := json.Unmarshal(agent.FullTextDetails(long), &got); err != nil || !strings.HasSuffix(got.Text, "end") || len(got.Text) > 200_000 {
			t.Errorf("got %d bytes, %v", len(got.Text), err)
		}
	}
}
