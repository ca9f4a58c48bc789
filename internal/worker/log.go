package worker

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"
)

// Limits of the log of a run.
const (
	// logChunk is the most that is sent at once, in bytes.
	logChunk = 64 << 10
	// logDelay is how long output is gathered before it is sent.
	logDelay = 200 * time.Millisecond
	// logMemory limits the output that waits to be sent, in bytes.
	logMemory = 1 << 20
	// logPatience is how long a server that is too slow may hold an agent up.
	logPatience = 2 * time.Second
	// logLastWords is how long the end of the output may take to be sent.
	logLastWords = 10 * time.Second
)

// runLog sends the output of a run to the server in chunks. If the server is too slow, the agent is held up for a
// moment; then the oldest output is left out, and the log says how much. The output is made valid UTF-8: invalid bytes
// are replaced.
type runLog struct {
	send func(ctx context.Context, text string) error

	mu      sync.Mutex
	waiting []byte
	// leftOut counts the bytes that were dropped since the last chunk.
	leftOut int
	// behind makes writers drop output at once, instead of waiting each time.
	behind bool
	ended  bool
	// freed is closed, and replaced, when a chunk was taken.
	freed chan struct{}

	more chan struct{}
	done chan struct{}
	// ctx ends the sending goroutine.
	ctx    context.Context
	cancel context.CancelFunc
}

func newRunLog(send func(ctx context.Context, text string) error) *runLog {
	l := &runLog{send: send, freed: make(chan struct{}), more: make(chan struct{}, 1), done: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.run()
	return l
}

// Write takes output. It never fails, and waits [logPatience] at most.
func (l *runLog) Write(p []byte) (int, error) {
	for piece := range slicesOf(p, logChunk) {
		l.take(piece)
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

func (l *runLog) take(piece []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awaitRoom(len(piece))
	if l.ended {
		return
	}
	if over := len(l.waiting) + len(piece) - logMemory; over > 0 {
		l.waiting = l.waiting[over:]
		l.leftOut += over
	}
	l.waiting = append(l.waiting, piece...)
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// awaitRoom holds a writer up until there is room for n bytes, for [logPatience] at most. The caller holds the lock.
func (l *runLog) awaitRoom(n int) {
	l.behind = l.behind && len(l.waiting) > logMemory/2
	if l.behind || l.ended || len(l.waiting)+n <= logMemory {
		return
	}
	timer := time.NewTimer(logPatience)
	defer timer.Stop()
	for !l.ended && len(l.waiting)+n > logMemory {
		freed := l.freed
		l.mu.Unlock()
		select {
		case <-freed:
			l.mu.Lock()
		case <-timer.C:
			l.mu.Lock()
			l.behind = true
			return
		}
	}
}

// close sends the rest of the output. It waits until ctx ends, but no longer than [logLastWords]. Later output is
// dropped.
func (l *runLog) close(ctx context.Context) {
	l.end()
	timer := time.NewTimer(logLastWords)
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
	l.end()
	<-l.done
}

func (l *runLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.free()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// run sends chunks until the log has ended and is empty.
func (l *runLog) run() {
	defer close(l.done)
	for {
		select {
		case <-l.more:
		case <-l.ctx.Done():
			return
		}
		l.gather()
		for text := l.nextChunk(); text != ""; text = l.nextChunk() {
			if !l.deliver(text) {
				return
			}
		}
		if l.isOver() {
			return
		}
	}
}

// gather lets output collect for [logDelay]. It ends early if there is a whole chunk or the log has ended.
func (l *runLog) gather() {
	timer := time.NewTimer(logDelay)
	defer timer.Stop()
	for !l.isReady() {
		select {
		case <-l.more:
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
	return l.ended || len(l.waiting) >= logChunk
}

func (l *runLog) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended && len(l.waiting) == 0
}

// nextChunk takes a chunk of valid text, or "" if there is none. An incomplete character stays until its other bytes
// arrive.
func (l *runLog) nextChunk() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(logChunk, len(l.waiting))
	if n < len(l.waiting) || !l.ended {
		n -= openRune(l.waiting[:n])
	}
	text := string(bytes.ToValidUTF8(l.waiting[:n], []byte("\uFFFD")))
	text = string(bytes.ReplaceAll([]byte(text), []byte{0}, []byte("\uFFFD")))
	if n > 0 && l.leftOut > 0 {
		text = fmt.Sprintf("\nfermata: %d bytes of output are left out here: the server did not keep pace\n", l.leftOut) + text
		l.leftOut = 0
	}
	l.waiting = l.waiting[n:]
	l.free()
	return text
}

// openRune returns how many bytes at the end of p belong to an incomplete character.
func openRune(p []byte) int {
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

// free wakes the writers that wait for room. The caller holds the lock.
func (l *runLog) free() {
	close(l.freed)
	l.freed = make(chan struct{})
}

// deliver sends a chunk until the server takes it. A chunk that the server refuses is skipped. deliver returns false
// when the run or the log is over.
func (l *runLog) deliver(text string) bool {
	pause := backoff{}
	for {
		err := l.send(l.ctx, text)
		switch {
		case err == nil || isFinal(err):
			return true
		case isStale(err) || l.ctx.Err() != nil:
			l.giveUp()
			return false
		}
		pause.wait(l.ctx)
	}
}

// giveUp makes writers drop all output.
func (l *runLog) giveUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.waiting = true, nil
	l.free()
}
