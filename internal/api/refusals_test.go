package api

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/test/patience"
)

// signalLog is a log that signals each line.
type signalLog struct {
	mu   sync.Mutex
	text bytes.Buffer
	came chan struct{}
}

func (l *signalLog) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.text.Write(data)
	l.came <- struct{}{}
	return n, err
}

// The first refusal is logged at once, and the others together with their
// count.
func TestRefusalsAreLoggedTogether(t *testing.T) {
	t.Parallel()
	log := &signalLog{came: make(chan struct{}, 16)}
	r := refusals{log: slog.New(slog.NewTextHandler(log, nil)), interval: 50 * time.Millisecond}
	for range 5 {
		r.add(errors.New("the disk is full"))
	}
	patience.Receive(t, "a line is written", log.came)
	patience.Receive(t, "a line is written", log.came)
	log.mu.Lock()
	defer log.mu.Unlock()
	text := log.text.String()
	if !strings.Contains(text, "count=1 ") || !strings.Contains(text, "count=4 ") || strings.Count(text, "\n") != 2 {
		t.Errorf("the log is\n%s", text)
	}
}
