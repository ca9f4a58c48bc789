package witness_test

import (
	"bufio"
	"net"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/witness"
)

// A system log gets each checkpoint once, and the checkpoints can be read from its lines.
func TestASystemLogIsToldEachCheckpoint(t *testing.T) {
	t.Parallel()
	log, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	lines := make(chan string, 10)
	go func() {
		conn, err := log.Accept()
		if err != nil {
			return
		}
		for read := bufio.NewScanner(conn); read.Scan(); {
			lines <- read.Text()
		}
	}()
	w := open(t, "syslog+tcp://"+log.Addr().String())
	for _, seq := range []int64{3, 3, 2, 7} {
		keep(t, w, checkpoint("default", seq))
	}
	text := <-lines + "\nNov 27 13:00:00 host sshd[1]: something else {\n" + <-lines + "\n"
	if !strings.Contains(text, "fermata-audit") {
		t.Errorf("the lines do not say whose they are:\n%s", text)
	}
	kept, err := witness.Read(strings.NewReader(text))
	if err != nil || len(kept) != 2 || kept[0] != checkpoint("default", 3) || kept[1] != checkpoint("default", 7) {
		t.Errorf("the log holds %v, %v:\n%s", kept, err, text)
	}
}
