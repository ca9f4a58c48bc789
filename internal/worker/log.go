package worker

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of the log of a run.
const (
	// maxLogChunk is the most that is sent at once, in bytes.
	maxLogChunk = 64 << 10
	// logDelay is how long output is gathered before it is sent.
	logDelay = 200 * time.Millisecond
	// maxLogPending limits the output that waits to be sent, in bytes.
	maxLogPending = 1 << 20
	// maxLogStall is how long a server that is too slow may hold an agent up.
	maxLogStall = 2 * time.Second
	// logCloseTimeout is how long the end of the output may take to be sent.
	logCloseTimeout = 10 * time.Second
)

// runLog sends the output of a run to the server in chunks. If the server is too slow, the agent is held up for a
// moment; then the oldest output is left out, and the log says how much. The output is made valid UTF-8: invalid bytes
// are replaced.
type runLog struct {
	send func(ctx context.Context, text string) error

	mu      sync.Mutex
	pending []byte
	// droppedBytes counts the bytes that were dropped since the last chunk.
	droppedBytes int
	// dropsAtOnce makes writers drop output at once, instead of waiting each time.
	dropsAtOnce bool
	ended       bool
	// roomFreed is closed, and replaced, when a chunk was taken.
	roomFreed chan struct{}

	wake chan struct{}
	done chan struct{}
	// ctx ends the sending goroutine.
	ctx    context.Context
	cancel context.CancelFunc
}

func newRunLog(send func(ctx context.Context, text string) error) *runLog {
	l := &runLog{send: send, roomFreed: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.run()
	return l
}

// Write takes output. It never fails, and waits [maxLogStall] at most.
func (l *runLog) Write(p []byte) (int, error) {
	for piece := range slicesOf(p, maxLogChunk) {
		l.addPiece(piece)
	}
	return len(p), nil
}

// slicesOf yields p in pieces of at most n bytes.
func slicesOf(p []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			k := min(n, len(p))
			if !yield(p[:k]) {
				return
			}
			p = p[k:]
		}
	}
}

func (l *runLog) addPiece(piece []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaitRoom(len(piece))
	if l.ended {
		return
	}
	if over := len(l.pending) + len(piece) - maxLogPending; over > 0 {
		l.pending = l.pending[over:]
		l.droppedBytes += over
	}
	l.pending = append(l.pending, piece...)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// awaitRoom holds a writer up until there is room for n bytes, for [maxLogStall] at most. The caller holds the lock.
func (l *runLog) awaitRoom(n int) {
	l.dropsAtOnce = l.dropsAtOnce && len(l.pending) > maxLogPending/2
	if l.dropsAtOnce || l.ended || len(l.pending)+n <= maxLogPending {
		return
	}
	timer := time.NewTimer(maxLogStall)
	defer timer.Stop()
	for !l.ended && len(l.pending)+n > maxLogPending {
		roomFreed := l.roomFreed
		l.mu.Unlock()
		select {
		case <-roomFreed:
			l.mu.Lock()
		case <-timer.C:
			l.mu.Lock()
			l.dropsAtOnce = true
			return
		}
	}
}

// close sends the rest of the output. It waits until ctx ends, but no longer than [logCloseTimeout]. Later output is
// dropped.
func (l *runLog) close(ctx context.Context) {
	l.markEnded()
	timer := time.NewTimer(logCloseTimeout)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	l.cancel()
	<-l.done
}

// discard ends the log without sending the rest.
func (l *runLog) discard() {
	l.cancel()
	l.markEnded()
	<-l.done
}

func (l *runLog) markEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.wakeWriters()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// run sends chunks until the log has ended and is empty.
func (l *runLog) run() {
	defer close(l.done)
	for {
		select {
		case <-l.wake:
		case <-l.ctx.Done():
			return
		}
		l.waitForBatch()
		for text := l.nextChunk(); text != ""; text = l.nextChunk() {
			if !l.sendChunk(text) {
				return
			}
		}
		if l.isOver() {
			return
		}
	}
}

// waitForBatch lets output collect for [logDelay]. It ends early if there is a whole chunk or the log has ended.
func (l *runLog) waitForBatch() {
	timer := time.NewTimer(logDelay)
	defer timer.Stop()
	for !l.isReady() {
		select {
		case <-l.wake:
		case <-timer.C:
			return
		case <-l.ctx.Done():
			return
		}
	}
}

func (l *runLog) isReady() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended || len(l.pending) >= maxLogChunk
}

func (l *runLog) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended && len(l.pending) == 0
}

// nextChunk takes a chunk of valid text, or "" if there is none. An incomplete character stays until its other bytes
// arrive.
func (l *runLog) nextChunk() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(maxLogChunk, len(l.pending))
	if n < len(l.pending) || !l.ended {
		n -= incompleteBytes(l.pending[:n])
	}
	text := strings.Map(replaceNUL, string(l.pending[:n]))
	if n > 0 && l.droppedBytes > 0 {
		text = fmt.Sprintf("\nfermata: %d bytes of output are left out here: the server did not keep pace\n", l.droppedBytes) + text
		l.droppedBytes = 0
	}
	l.pending = l.pending[n:]
	l.wakeWriters()
	return text
}

// replaceNUL replaces a NUL, which a text of PostgreSQL cannot hold. [strings.Map] calls it with the replacement character
// for each invalid byte, so that the text does not depend on where a chunk ends.
func replaceNUL(r rune) rune {
	if r == 0 {
		return utf8.RuneError
	}
	return r
}

// incompleteBytes returns how many bytes at the end of p belong to an incomplete character.
func incompleteBytes(p []byte) int {
	for i := 1; i <= min(len(p), utf8.UTFMax-1); i++ {
		if b := p[len(p)-i]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-i:]) {
				return i
			}
			return 0
		}
	}
	return 0
}

// wakeWriters wakes the writers that wait for room. The caller holds the lock.
func (l *runLog) wakeWriters() {
	close(l.roomFreed)
	l.roomFreed = make(chan struct{})
}

// sendChunk sends a chunk until the server takes it. A chunk that the server refuses is skipped. sendChunk returns
// false when the run or the log has ended.
func (l *runLog) sendChunk(text string) bool {
	retry := newBackOff()
	for {
		err := l.send(l.ctx, text)
		switch {
		case err == nil || isFinal(err):
			return true
		case isStale(err) || l.ctx.Err() != nil:
			l.giveUp()
			return false
		}
		pause(l.ctx, retry)
	}
}

// giveUp makes writers drop all output.
func (l *runLog) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.pending = true, nil
	l.wakeWriters()
}
