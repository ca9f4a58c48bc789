package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

const (
	// MaxWakeWait is the longest time that a hook waits to wake an idle session.
	MaxWakeWait = 7 * 24 * time.Hour
	// programCheckInterval is how long a hook waits for people before it checks that its program is still running.
	programCheckInterval = time.Minute
	// serverRetryDelay is the pause while the server is away.
	serverRetryDelay = 15 * time.Second
)

// Claude Code sets these variables for its hooks. A version that sets them runs a hook with
// asyncRewake in the background. An older version would wait for the hook.
const (
	attendedEnv = "CLAUDE_CODE_SESSION_ATTENDED"
	programEnv  = "CLAUDE_PID"
)

// runWake waits at the end of a turn for news of the session. It prints the news on standard error, and ends with
// the exit code that wakes the program. In every other case it ends with 0: an error does not wake the program.
func runWake(ctx context.Context, s *session.Session, f gateFlags, d gateDialect) error {
	pid, err := strconv.Atoi(os.Getenv(programEnv))
	if err != nil || os.Getenv(attendedEnv) != "1" {
		return nil
	}
	h := &gateHook{s: s, gateFlags: f, gateDialect: d}
	h.event, err = readEvent(s)
	if err != nil {
		fmt.Fprintf(s.Err, "fermata: this session is not woken: %s\n", terminal.OneLine(err.Error()))
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, MaxWakeWait)
	defer cancel()
	hasNews, err := h.awaitNews(ctx, pid)
	switch {
	case hasNews:
		return session.ExitError(exitBlocked)
	case err != nil:
		fmt.Fprintf(s.Err, "fermata: this session is not woken with the answers: %s\n", terminal.OneLine(errorText(err)))
	}
	return nil
}

// awaitNews prints the session's news on standard error, and reports whether there was any. It gives up when the
// session has no pending question, when the program has ended, or when another hook already waits for the session.
func (h *gateHook) awaitNews(ctx context.Context, pid int) (bool, error) {
	notes, err := h.notes()
	if err != nil || !h.isDeskSession() || notes.IsEmpty() {
		return false, err
	}
	lock := flock.New(notes.WaitFile(pid))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return false, err
	}
	defer func() { _ = errors.Join(os.Remove(lock.Path()), lock.Unlock()) }()
	var reported, hasNews bool
	for ctx.Err() == nil && isRunning(pid) {
		waiting, err := h.passNews(ctx, func(closed []*fermata.Question, messagesByTask []taskMessages) error {
			reported = true
			return h.printNews(closed, messagesByTask)
		})
		switch {
		case reported:
			return true, err
		case fermata.CodeOf(err) == fermata.CodeUnavailable, hasNews:
			// The server is away, another hook reported the news, or the news is not for the agent.
			session.Sleep(ctx, serverRetryDelay)
			hasNews = false
		case err != nil || len(waiting) == 0:
			return false, err
		default:
			hasNews = h.awaitAnyQuestion(ctx, waiting)
		}
	}
	return false, nil
}

// printNews prints the text that the program gives its agent when it is woken.
func (h *gateHook) printNews(closed []*fermata.Question, messagesByTask []taskMessages) error {
	text, err := newsText(closed, messagesByTask)
	if err == nil {
		_, err = io.WriteString(h.s.Err, text)
	}
	return err
}

// awaitAnyQuestion waits for a while until one of the questions is closed or gets a message. It reports whether that
// happened.
func (h *gateHook) awaitAnyQuestion(ctx context.Context, questions []*fermata.Question) bool {
	ctx, cancel := context.WithTimeout(ctx, programCheckInterval)
	defer cancel()
	ended := make(chan error, len(questions))
	for _, q := range questions {
		go func() {
			_, err := h.server.WaitQuestionOrMessage(ctx, q.ID, MaxWakeWait)
			ended <- err
		}()
	}
	return <-ended == nil
}

// isRunning reports whether the process exists.
func isRunning(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
