package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// say is what the agent is told. Nothing lets it go on with a deferred call; with a
// prompt, that call is not deferred again.
type say struct{ prompt, deferred string }

// turn is one start of the program, as it is read.
type turn struct {
	c      *conversation
	stderr *tail
	state  *os.ProcessState
	stop   context.CancelFunc
	// said is the last text of the assistant; announced is the same until it acts.
	said, announced string
	// last is how the turn ended, once ended.
	last  outcome
	ended bool
	// question is the one for which the hook stopped the agent.
	question string

	mu sync.Mutex
	// session is the id that the program told in this turn.
	session string
	// open are the calls under way.
	open map[string]bool
	// news is what reached the task meanwhile.
	news    []*fermata.ResumeContext
	stopped bool
	timer   *time.Timer
}

// turn starts the program once and reads it to its end.
func (c *conversation) turn(ctx context.Context, s say) (*turn, error) {
	turnCtx, stop := context.WithCancel(ctx)
	defer stop()
	t := &turn{c: c, stderr: &tail{to: c.desk.Log()}, stop: stop, open: map[string]bool{}}
	p := process.Program{
		Argv: c.papers.args(c.opts, c.session), Env: c.papers.env(c.opts, c.claim, s.deferred),
		Dir: c.desk.Dir(), Grace: c.opts.Grace, Stderr: t.stderr,
	}
	if s.prompt != "" {
		file, err := c.papers.prompt(s.prompt)
		if err != nil {
			return nil, err
		}
		defer file.Close() //nolint:errcheck // it was only read
		p.Stdin = file
	}
	out := &lines{each: t.read, rest: c.desk.Log()}
	p.Stdout = out
	endInbox := t.listen(c.desk.Inbox())
	state, err := p.Run(turnCtx)
	endInbox()
	if err != nil {
		return nil, err
	}
	out.end()
	t.state, t.question = state, c.papers.stopped()
	if t.began() {
		c.deferred = ""
		if t.last.Deferred != nil {
			c.deferred = t.last.Deferred.ID
		}
	}
	return t, nil
}

// began reports whether the program got as far as its session.
func (t *turn) began() bool { return t.session != "" }

// words are why the turn failed.
func (t *turn) words() string {
	if words := t.last.words(); words != "" {
		return words
	}
	if words := strings.TrimSpace(string(t.stderr.last)); words != "" {
		return words
	}
	return t.said
}

// read takes a line of the output.
func (t *turn) read(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		t.log("%s", line)
		return
	}
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			t.begin(e)
		}
	case "assistant":
		for _, b := range e.Message.blocks() {
			t.assistant(b)
		}
	case "user":
		for _, b := range e.Message.blocks() {
			t.result(b)
		}
	case "result":
		t.last, t.ended = e.outcome, true
	default:
		// The program tells more than a log needs, and more with every version.
	}
}

// begin notes the session.
func (t *turn) begin(e event) {
	t.mu.Lock()
	known := t.session != ""
	t.session = e.SessionID
	t.mu.Unlock()
	if !known {
		t.log("fermata: Claude Code %s, session %s", e.Version, e.SessionID)
		t.c.keep(e.SessionID)
	}
	t.consider()
}

// assistant takes what the agent says or does.
func (t *turn) assistant(b block) {
	switch b.Type {
	case "text":
		text := strings.TrimSpace(plain(b.Text))
		if text == "" {
			return
		}
		t.said, t.announced = text, text
		t.log("%s", text)
	case "tool_use":
		t.log("> %s", plain(b.describe()))
		t.progress(b)
		t.mu.Lock()
		t.open[b.ID] = true
		t.mu.Unlock()
	default:
	}
}

// progress reports the agent's plan where it writes one, and else what it said
// before it went on to act. Its last words are no progress.
func (t *turn) progress(b block) {
	if p, ok := b.plan(); ok {
		t.c.desk.Progress(p)
	} else if t.announced != "" {
		first, _, _ := strings.Cut(t.announced, "\n")
		t.c.desk.Progress(fermata.Progress{Message: clip(first, 500)})
	}
	t.announced = ""
}

// result takes what came of a call.
func (t *turn) result(b block) {
	if b.Type != "tool_result" {
		return
	}
	if b.IsError {
		t.log("! %s", clip(strings.TrimSpace(plain(textOf(b.Content))), 2000))
	}
	t.mu.Lock()
	delete(t.open, b.ToolUseID)
	t.mu.Unlock()
	t.consider()
}

// listen takes what reaches the task until the returned function is called.
func (t *turn) listen(inbox <-chan *fermata.ResumeContext) (end func()) {
	done := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		for {
			select {
			case <-done:
				return
			case rc := <-inbox:
				t.mu.Lock()
				t.news = append(t.news, rc)
				t.mu.Unlock()
				t.consider()
			}
		}
	})
	return func() {
		close(done)
		listening.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.timer != nil {
			t.timer.Stop()
		}
		t.news = append(t.news, drain(inbox)...)
	}
}

// consider stops the agent when a person wrote and no call is under way whose
// outcome would be lost. An answer alone waits a while: an agent that asked is
// about to end by itself.
func (t *turn) consider() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.session == "" || len(t.news) == 0 {
		return
	}
	wrote := false
	for _, rc := range t.news {
		wrote = wrote || len(rc.Messages) > 0
	}
	if wrote && len(t.open) == 0 {
		t.stopped = true
		t.stop()
		return
	}
	if t.timer == nil {
		t.timer = time.AfterFunc(t.c.opts.Patience, t.stop)
	}
}

func (t *turn) log(format string, args ...any) {
	fmt.Fprintf(t.c.desk.Log(), format+"\n", args...)
}
