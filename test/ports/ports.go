// Package ports reserves ports for test servers that need an address before they
// listen, or must have the same address after a restart.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/gofrs/flock"
)

// Each is how many ports a block has.
const Each = 5

// A block lies below the ports that the system hands out by itself, and above
// those of scripts/with-postgres.
const (
	first  = 26000
	blocks = 1200
)

// Block is a range of free ports that is reserved until it is released.
type Block struct {
	// First is the lowest of its ports.
	First int

	lock *flock.Flock
}

// Reserve finds a block of free ports and locks it. To find a free port is not
// enough: several test processes start servers at the same time. If another one
// takes the port, a test could mistake that server for its own.
func Reserve() (*Block, error) {
	folder := filepath.Join(os.TempDir(), "fermata-ports")
	if err := os.MkdirAll(folder, 0o777); err != nil { //nolint:gosec // users of one machine share it
		return nil, err
	}
	for range 100 {
		n := rand.N(blocks) //nolint:gosec // no secret
		b := &Block{First: first + n*Each, lock: flock.New(filepath.Join(folder, strconv.Itoa(n)))}
		mine, err := b.lock.TryLock()
		if err != nil {
			return nil, err
		}
		if mine && b.free() {
			return b, nil
		}
		b.Release()
	}
	return nil, errors.New("no block of ports is free")
}

// Release unlocks the block.
func (b *Block) Release() { _ = b.lock.Close() }

// Address returns the loopback address with the first port.
func (b *Block) Address() string { return fmt.Sprint("127.0.0.1:", b.First) }

func (b *Block) free() bool {
	for port := b.First; port < b.First+Each; port++ {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)) //nolint:noctx // it ends at once
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// Address reserves an address on this machine for the time of the test.
func Address(tb testing.TB) string {
	tb.Helper()
	b, err := Reserve()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(b.Release)
	return b.Address()
}
