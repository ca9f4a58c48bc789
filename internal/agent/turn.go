package agent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
)

// patience is how long an agent that has to stop may continue an action in progress.
const patience = 30 * time.Second

// maxProgress is the longest progress message that people see, in characters.
const maxProgress = 500

// turn is one start of the program and what its output has said so far.
type turn struct {
	*Turn
	kind   Kind
	desk   Desk
	argv   []string
	stdin  *os.File
	stderr *tail
	reader func([]byte) []Event
	stop   context.CancelFunc
	state  *os.ProcessState
	// keep records the session. reply records that the agent replied, and gets whether the session is known.
	keep  func(id string)
	reply func(began bool)
	// replied is true once the agent said or did something: it has what the turn told it.
	replied bool
	// said is the last message. fatal is true if the turn failed, and trouble is the reason.
	said, trouble string
	fatal         bool
	// ended is true once the program's last event came. paused is true if a hook ended the turn, and deferred is the
	// call that it deferred.
	ended, paused bool
	deferred      string
	// putOff is the call that the last turn deferred, until that call is over.
	putOff string
	// ungated is true if the agent began to act without its hooks.
	ungated bool
	// ran counts the calls that are over, by their keys.
	ran map[string]tally

	mu sync.Mutex
	// session is the id that the program reported in this turn.
	session string
	// open holds the actions in progress.
	open map[string]bool
	// ends is true if the program ends by itself. stopped is true if it was told to stop.
	ends, stopped bool
	// news holds the messages and answers of people that arrived during the turn.
	news  []*fermata.ResumeContext
	timer *time.Timer
}

// hasBegun reports whether the program got as far as its session.
func (t *turn) hasBegun() bool { return t.session != "" }

// ok reports whether the program ended well by itself.
func (t *turn) ok() bool { return t.state.Success() && !t.fatal && (t.ended || !t.kind.TellsEnd) }

// read takes a line of the output.
func (t *turn) read(ctx context.Context, line []byte) {
	events := []Event(nil)
	if line[0] == '{' {
		events = t.reader(line)
	} else {
		fmt.Fprintf(t.desk.Log(), "%s\n", line)
	}
	for i := range events {
		t.take(&events[i])
	}
	t.consider(ctx)
}

// take records an event.
func (t *turn) take(e *Event) {
	if e.Said != "" || e.Opens != "" {
		t.setReplied()
	}
	if e.Session != "" && t.setSession(e.Session) {
		t.keep(e.Session)
	}
	t.said = cmp.Or(e.Said, t.said)
	if e.Note != "" {
		fmt.Fprintf(t.desk.Log(), "%s\n", plainText(e.Note))
	}
	if e.Trouble != "" {
		t.trouble = e.Trouble
		fmt.Fprintf(t.desk.Log(), "! %s\n", plainText(e.Trouble))
	}
	if e.Ended {
		t.ended, t.fatal, t.paused, t.deferred = true, e.Fatal, e.Paused, e.Deferred
	}
	t.fatal, t.paused = t.fatal || e.Fatal, t.paused || e.Paused
	if e.Progress != nil {
		p := *e.Progress
		p.Message = Clip(plainText(p.Message), maxProgress)
		t.desk.Progress(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Asked, t.ends = cmp.Or(t.Asked, e.Asked), t.ends || e.Paused
	if e.Opens != "" {
		t.open[e.Opens] = true
	}
	if e.Acts {
		t.checkGate()
	}
	if e.Ran != nil {
		t.checkRan(e.Ran)
	}
	if e.Closes == t.putOff {
		t.putOff = ""
	}
	delete(t.open, e.Closes)
}

// setReplied records the agent's first reply in this turn.
func (t *turn) setReplied() {
	if !t.replied {
		t.replied = true
		t.reply(t.hasBegun())
	}
}

// checkGate stops an agent that acts without its hooks, because nothing else keeps its tools from running.
func (t *turn) checkGate() {
	if t.Fermata == "" || t.gated() {
		return
	}
	t.ungated, t.fatal = true, true
	t.trouble = "The agent's program does not call the hooks of the worker, so no gate keeps its tools from running. It was stopped."
	t.stop()
}

// end reads the files of the hooks after the program has ended. A turn that a foreign hook ended has failed.
func (t *turn) end(ctx context.Context) {
	t.stopped = true
	t.look(ctx)
	if t.paused && t.Asked == "" {
		t.fatal, t.trouble = true, "The turn was ended by a hook that is not Fermata's, so nobody knows what it waits for."
	}
}

// setSession stores the session, and reports whether it was unknown.
func (t *turn) setSession(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != "" {
		return false
	}
	t.session = id
	return true
}

// listen takes the messages and answers of people until the returned function is called.
func (t *turn) listen(ctx context.Context, from <-chan *fermata.ResumeContext) (end func()) {
	done := make(chan struct{})
	var listening sync.WaitGroup
	tick := time.NewTicker(hookLook)
	listening.Go(func() {
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case rc := <-from:
				t.interrupt(ctx, rc)
			case <-tick.C:
				t.look(ctx)
			}
		}
	})
	return func() {
		close(done)
		listening.Wait()
		t.drain(from)
	}
}

// drain takes the messages and answers that arrived while the turn ended.
func (t *turn) drain(from <-chan *fermata.ResumeContext) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	for {
		select {
		case rc := <-from:
			t.news = append(t.news, rc)
		default:
			return
		}
	}
}

// interrupt stops the agent, as soon as possible, to tell it what a person wrote.
func (t *turn) interrupt(ctx context.Context, rc *fermata.ResumeContext) {
	t.mu.Lock()
	t.news = append(t.news, rc)
	t.mu.Unlock()
	t.consider(ctx)
}

// isPersonsWord reports whether the news must reach the working agent at once: a message, or a person's answer to a
// question that did not suspend the task. Answers to questions that suspend the task wait a while, because the agent is
// about to end by itself.
func (t *turn) isPersonsWord() bool {
	beside := func(a fermata.ResumeAnswer) bool {
		return !a.Type.Suspends() && a.Resolution != nil && a.Resolution.DecidedBy == fermata.ActorHuman
	}
	return slices.ContainsFunc(t.news, func(rc *fermata.ResumeContext) bool {
		return len(rc.Messages) > 0 || slices.ContainsFunc(rc.Questions, beside)
	})
}

// consider stops the agent when there is a reason to, and no action is in progress that would be lost. An action that
// does not end within [patience] is cut off.
func (t *turn) consider(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.Asked == "" && (len(t.news) == 0 || t.session == "") {
		return
	}
	if len(t.open) > 0 || t.ends || t.Asked == "" && !t.isPersonsWord() {
		if t.timer == nil {
			t.timer = time.AfterFunc(patience, t.stop)
		}
		return
	}
	t.stopped = true
	if t.kind.AwaitKept != nil && t.session != "" {
		t.Session = t.session
		t.kind.AwaitKept(ctx, t.Turn)
	}
	t.stop()
}
