package process

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (k *syncBuffer) Write(data []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.Write(data)
}

func (k *syncBuffer) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.text.String()
}

// No output of a process is lost, and End does not wait for programs that the process started.
func TestPipeEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	to := &syncBuffer{}
	p, err := NewPipe(to)
	if err != nil {
		t.Fatal(err)
	}
	// cat holds the pipe open until the test closes its input.
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `cat <&3 & seq 1 20000; printf 'begun\0'`)
	holds, letGo, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.ExtraFiles = append(cmd.ExtraFiles, holds)
	cmd.Stdout = p.File
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	p.End()
	if text := to.String(); !strings.HasPrefix(text, "1\n2\n") || !strings.HasSuffix(text, "\n20000\nbegun\x00") {
		t.Errorf("the output ends with %q", text[max(0, len(text)-40):])
	}
	_ = holds.Close()
	_ = letGo.Close()
}
