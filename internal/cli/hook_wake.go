package cli

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
)

const (
	// longestWake is the longest time that a hook waits to wake an idle session.
	longestWake = 7 * 24 * time.Hour
	// wakeLook is how long a hook waits for people before it checks that its program is still running.
	wakeLook = time.Minute
	// wakePause is the pause while the server is away.
	wakePause = 15 * time.Second
)

// Claude Code sets these variables for its hooks. A version that sets them runs a hook with
// asyncRewake in the background. An older version would wait for the hook.
const (
	attendedEnv = "CLAUDE_CODE_SESSION_ATTENDED"
	programEnv  = "CLAUDE_PID"
)

// wakeHook waits at the end of a turn for news of the session. It prints the news on standard error, and ends with the
// exit code that wakes the program. In every other case it ends with 0: an error wakes nobody.
func (s *session) wakeHook(ctx context.Context, f gateFlags, d gateDialect) error {
	pid, err := strconv.Atoi(os.Getenv(programEnv))
	if err != nil || os.Getenv(attendedEnv) != "1" {
		return nil
	}
	h := &gateHook{session: s, gateFlags: f, gateDialect: d}
	h.in, err = s.readHook()
	if err != nil {
		fmt.Fprintf(s.err, "fermata: this session is not woken: %s\n", oneLine(err.Error()))
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, longestWake)
	defer cancel()
	woken, err := h.awaitNews(ctx, pid)
	switch {
	case woken:
		return outcome(exitBlocked)
	case err != nil:
		fmt.Fprintf(s.err, "fermata: this session is not woken with the answers: %s\n", oneLine(hookError(err)))
	}
	return nil
}

// awaitNews prints the session's news on standard error, and reports whether there was any. It gives up when the
// session has no pending question, when the program has ended, or when another hook already waits for the session.
func (h *gateHook) awaitNews(ctx context.Context, pid int) (bool, error) {
	notes, err := h.notes()
	if err != nil || !h.isOfSession() || notes.Empty() {
		return false, err
	}
	alone := flock.New(notes.WaitFile(pid))
	if got, err := alone.TryLock(); err != nil || !got {
		return false, err
	}
	defer func() { _ = errors.Join(os.Remove(alone.Path()), alone.Unlock()) }()
	var woken, came bool
	for ctx.Err() == nil && isRunning(pid) {
		waiting, err := h.tellBy(ctx, func(closed []*fermata.Question, words []taskWords) error {
			woken = true
			return h.tellWoken(closed, words)
		})
		switch {
		case woken:
			return true, err
		case fermata.CodeOf(err) == fermata.CodeUnavailable, came:
			// Another hook reported the news, or the news is not for the agent.
			pause(ctx, wakePause)
			came = false
		case err != nil || len(waiting) == 0:
			return false, err
		default:
			came = h.awaitAny(ctx, waiting)
		}
	}
	return false, nil
}

// tellWoken prints the text that the program gives its agent when it is woken.
func (h *gateHook) tellWoken(closed []*fermata.Question, words []taskWords) error {
	text, err := newsText(closed, words)
	if err == nil {
		_, err = io.WriteString(h.err, text)
	}
	return err
}

// awaitAny waits for a while until one of the questions is closed or gets a message. It reports whether that happened.
func (h *gateHook) awaitAny(ctx context.Context, questions []*fermata.Question) bool {
	ctx, cancel := context.WithTimeout(ctx, wakeLook)
	defer cancel()
	ended := make(chan error, len(questions))
	for _, q := range questions {
		go func() {
			_, err := h.server.WaitWords(ctx, q.ID, longestWake)
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
