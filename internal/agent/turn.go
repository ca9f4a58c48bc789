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

// maxActionWait is how long an agent that has to stop may continue an action in progress.
const maxActionWait = 30 * time.Second

// maxProgress is the longest progress message that people see, in characters.
const maxProgress = 500

// turn is one start of the program and what its output has said so far.
type turn struct {
	*Turn
	kind   Kind
	handle RunHandle
	argv   []string
	stdin  *os.File
	stderr *tail
	reader func([]byte) []Event
	stop   context.CancelFunc
	state  *os.ProcessState
	// saveSession records the session. onReply records that the agent replied. began reports whether the session is
	// known.
	saveSession func(id string)
	onReply     func(began bool)
	// replied is true once the agent said or did something. Then it has read the text of the turn.
	replied bool
	// lastMessage is the last message. fatal is true if the turn failed, and trouble is the reason.
	lastMessage, trouble string
	fatal                bool
	// ended is true once the program's last event came. paused is true if a hook ended the turn, and deferredCall is
	// the call that it deferred.
	ended, paused bool
	deferredCall  string
	// openDeferredCall is the call that the last turn deferred, until that call has finished.
	openDeferredCall string
	// ungated is true if the agent began to act without its hooks.
	ungated bool
	// finishedCalls counts the finished calls, by their keys.
	finishedCalls map[string]tally

	mu sync.Mutex
	// session is the id that the program reported in this turn.
	session string
	// openActions holds the actions in progress.
	openActions map[string]bool
	// endsItself is true if the program ends by itself. stopped is true if it was told to stop.
	endsItself, stopped bool
	// news holds the messages and answers of people that arrived during the turn.
	news  []*fermata.ResumeContext
	timer *time.Timer
}

// hasBegun reports whether the program got as far as its session.
func (t *turn) hasBegun() bool { return t.session != "" }

// hasSucceeded reports whether the program ended well by itself.
func (t *turn) hasSucceeded() bool {
	return t.state.Success() && !t.fatal && (t.ended || !t.kind.TellsEnd)
}

// read takes a line of the output.
func (t *turn) read(ctx context.Context, line []byte) {
	events := []Event(nil)
	if line[0] == '{' {
		events = t.reader(line)
	} else {
		fmt.Fprintf(t.handle.Log(), "%s\n", line)
	}
	for i := range events {
		t.recordEvent(&events[i])
	}
	t.stopIfDue(ctx)
}

// recordEvent records an event.
func (t *turn) recordEvent(e *Event) {
	if e.Said != "" || e.Opens != "" {
		t.setReplied()
	}
	if e.Session != "" && t.setSession(e.Session) {
		t.saveSession(e.Session)
	}
	t.lastMessage = cmp.Or(e.Said, t.lastMessage)
	if e.Note != "" {
		fmt.Fprintf(t.handle.Log(), "%s\n", PlainText(e.Note))
	}
	if e.Trouble != "" {
		t.trouble = e.Trouble
		fmt.Fprintf(t.handle.Log(), "! %s\n", PlainText(e.Trouble))
	}
	if e.Ended {
		t.ended, t.fatal, t.paused, t.deferredCall = true, e.Fatal, e.Paused, e.Deferred
	}
	t.fatal, t.paused = t.fatal || e.Fatal, t.paused || e.Paused
	if e.Progress != nil {
		p := *e.Progress
		p.Message = fermata.Truncate(PlainText(p.Message), maxProgress)
		t.handle.Progress(p)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.AskedQuestion, t.endsItself = cmp.Or(t.AskedQuestion, e.Asked), t.endsItself || e.Paused
	if e.Opens != "" {
		t.openActions[e.Opens] = true
	}
	if e.Acts {
		t.checkGate()
	}
	if e.Ran != nil {
		t.checkFinishedCall(e.Ran)
	}
	if e.Closes == t.openDeferredCall {
		t.openDeferredCall = ""
	}
	delete(t.openActions, e.Closes)
}

// setReplied records the agent's first reply in this turn.
func (t *turn) setReplied() {
	if !t.replied {
		t.replied = true
		t.onReply(t.hasBegun())
	}
}

// checkGate stops an agent that acts without its hooks, because nothing else keeps its tools from running.
func (t *turn) checkGate() {
	if t.Fermata == "" || t.isGated() {
		return
	}
	t.ungated, t.fatal = true, true
	t.trouble = "The agent's program does not call the hooks of the worker, so no gate keeps its tools from running. It was stopped."
	t.stop()
}

// finishTurn reads the files of the hooks after the program has ended. A turn that a foreign hook ended has failed.
func (t *turn) finishTurn(ctx context.Context) {
	t.stopped = true
	t.readStoppedQuestion(ctx)
	if t.paused && t.AskedQuestion == "" {
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
	tick := time.NewTicker(hookPollInterval)
	listening.Go(func() {
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case rc := <-from:
				t.interrupt(ctx, rc)
			case <-tick.C:
				t.readStoppedQuestion(ctx)
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
	t.stopIfDue(ctx)
}

// hasUrgentNews reports whether the news must reach the working agent at once: a message, or a person's answer to a
// question that did not suspend the task. Answers to questions that suspend the task wait a while, because the agent is
// about to end by itself.
func (t *turn) hasUrgentNews() bool {
	isUrgent := func(a fermata.ResumeAnswer) bool {
		return !a.Type.Suspends() && a.Resolution != nil && a.Resolution.DecidedBy == fermata.ActorHuman
	}
	return slices.ContainsFunc(t.news, func(rc *fermata.ResumeContext) bool {
		return len(rc.Messages) > 0 || slices.ContainsFunc(rc.Questions, isUrgent)
	})
}

// stopIfDue stops the agent when there is a reason to, and no action is in progress that would be lost. An action that
// does not end within [maxActionWait] is cut off.
func (t *turn) stopIfDue(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopped || t.AskedQuestion == "" && (len(t.news) == 0 || t.session == "") {
		return
	}
	if len(t.openActions) > 0 || t.endsItself || t.AskedQuestion == "" && !t.hasUrgentNews() {
		if t.timer == nil {
			t.timer = time.AfterFunc(maxActionWait, t.stop)
		}
		return
	}
	t.stopped = true
	if t.kind.AwaitRecord != nil && t.session != "" {
		t.Session = t.session
		t.kind.AwaitRecord(ctx, t.Turn)
	}
	t.stop()
}
