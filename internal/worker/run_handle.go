package worker

import (
	"fmt"
	"io"
	"sync"

	"github.com/fermata-hq/fermata"
)

// Limits of the server for texts of a run, in characters.
const (
	maxSummary  = 4096
	maxProgress = 2000
	maxStep     = 200
)

// handle is the run handle that a runner gets.
type handle struct{ a *activeRun }

// A handle implements the interface for runners.
var _ RunHandle = handle{}

func (d handle) Dir() string                          { return d.a.copy.workDir }
func (d handle) Log() io.Writer                       { return d.a.runLog }
func (d handle) Inbox() <-chan *fermata.ResumeContext { return d.a.inbox.out }

// Progress stores the update, in place of an older one that was not sent yet. Text that is too long is cut.
func (d handle) Progress(p fermata.Progress) {
	p.Message, p.Step = fermata.Truncate(p.Message, maxProgress), fermata.Truncate(p.Step, maxStep)
	if p.Message == "" {
		return
	}
	for {
		select {
		case d.a.progress <- p:
			return
		default:
		}
		select {
		case <-d.a.progress:
		default:
		}
	}
}

// MarkTold records what the agent was told, from the claim or from the inbox. Everything else is handed to the next run.
func (d handle) MarkTold(rc *fermata.ResumeContext) { d.a.inbox.markTold(rc) }

// KeepSession records the agent's session. A heartbeat sends it at once.
func (d handle) KeepSession(s fermata.Session) {
	d.a.keepSession(s)
	d.a.requestBeat()
}

// firstSession returns the session of the task's last run, if this run can continue it.
func (a *activeRun) firstSession() fermata.Session {
	s := fermata.Session{}
	if last := a.claim.Task.Session; last != nil && (last.Runner == "" || last.Runner == a.runner.Name()) {
		s = *last
	}
	s.Runner, s.Worker, s.Dir, s.Branch = a.runner.Name(), a.w.opts.Name, "", ""
	return s
}

// setWorkDir records the folder in which the agent works. A heartbeat sends it at once.
func (a *activeRun) setWorkDir(c *workingCopy) {
	a.mu.Lock()
	a.session.Dir, a.session.Branch = c.workDir, c.branch
	a.mu.Unlock()
	a.requestBeat()
}

// requestBeat makes the next heartbeat begin at once.
func (a *activeRun) requestBeat() {
	select {
	case a.beatRequest <- struct{}{}:
	default:
	}
}

// keepSession stores the session that the agent reports. It keeps the worker's own values for the runner, the worker,
// the folder and the branch, because the worker knows these better.
func (a *activeRun) keepSession(s fermata.Session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s.Runner, s.Worker, s.Dir, s.Branch = a.session.Runner, a.session.Worker, a.session.Dir, a.session.Branch
	if s.ID == "" {
		s.ID = a.session.ID
	}
	if s.Settings == nil {
		s.Settings = a.session.Settings
	}
	a.session = s
}

// currentSession returns the session, updated with the one that the agent reported at the end.
func (a *activeRun) currentSession(reported *fermata.Session) fermata.Session {
	if reported != nil {
		a.keepSession(*reported)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.session
}

// inbox holds the messages and answers that arrive during a run until the runner takes them. Its 256 places are enough,
// because people write little.
type inbox struct {
	out chan *fermata.ResumeContext
	mu  sync.Mutex
	ids []string
}

func newInbox() *inbox {
	return &inbox{out: make(chan *fermata.ResumeContext, 256)}
}

// put hands over a context. If the inbox is full, the context counts as not told and goes to the next run.
func (b *inbox) put(rc *fermata.ResumeContext) {
	select {
	case b.out <- rc:
	default:
	}
}

// markTold records that the agent was told.
func (b *inbox) markTold(rc *fermata.ResumeContext) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids = append(b.ids, rc.IDs()...)
}

// toldIDs returns the ids of everything that the agent was told.
func (b *inbox) toldIDs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.ids...)
}

// logLine writes a line that comes from the worker, not from the agent.
func logLine(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "fermata: "+format+"\n", args...)
}
