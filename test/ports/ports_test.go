package ports_test

import (
	"net"
	"testing"

	"github.com/fermata-hq/fermata/test/ports"
)

func TestBlocksAreFreeAndNeverShared(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 50 {
		b, err := ports.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Release)
		if seen[b.First] {
			t.Fatalf("%d was handed out twice", b.First)
		}
		seen[b.First] = true
		l, err := net.Listen("tcp", b.Address())
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}
