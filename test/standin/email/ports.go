package email

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

// A block of ports lies below those that the system hands out by itself, and
// above those of scripts/with-postgres, so that it stays ours while a server is
// down.
const (
	firstPort = 26000
	blocks    = 1200
	portsEach = 5
)

type ports struct{ smtp, smtps, imap, imaps, lmtp int }

// reservePorts finds a block of free ports and keeps it until the returned
// lock is closed. Whether a port is free says nothing of who takes it next:
// tests of several processes start servers at the same time, and one that
// finds its port taken could be mistaken for the one that took it.
func reservePorts() (ports, *flock.Flock, error) {
	folder := filepath.Join(os.TempDir(), "fermata-mail-ports")
	if err := os.MkdirAll(folder, 0o777); err != nil { //nolint:gosec // users of one machine share it
		return ports{}, nil, err
	}
	for range 100 {
		block := rand.N(blocks) //nolint:gosec // no secret
		lock := flock.New(filepath.Join(folder, strconv.Itoa(block)))
		mine, err := lock.TryLock()
		if err != nil {
			return ports{}, nil, err
		}
		first := firstPort + block*portsEach
		if mine && free(first) {
			return ports{smtp: first, smtps: first + 1, imap: first + 2, imaps: first + 3, lmtp: first + 4}, lock, nil
		}
		_ = lock.Close()
	}
	return ports{}, nil, errors.New("no block of ports is free")
}

func free(first int) bool {
	for port := first; port < first+portsEach; port++ {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)) //nolint:noctx // it ends at once
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
