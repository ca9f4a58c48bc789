package witness

import (
	"context"
	"log/slog"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Witness keeps signed checkpoints outside the database.
type Witness interface {
	// Name says where it keeps them.
	Name() string
	// Keep keeps a checkpoint, and returns when it is handed over.
	Keep(ctx context.Context, c fermata.SignedCheckpoint) error
}

// Schemes of addresses that are no file.
const (
	gitScheme    = "git:"
	syslogScheme = "syslog"
)

// Open returns the witness of an address. git:FOLDER names the clone of a Git repository. syslog:,
// syslog+tcp://HOST:PORT and syslog+udp://HOST:PORT name a system log. Anything else names a file. Open refuses an address
// that names nothing that can keep checkpoints.
func Open(ctx context.Context, address string, log *slog.Logger) (Witness, error) {
	switch {
	case address == "":
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "a witness of the audit needs a place").
			WithHint("name a file, git:FOLDER with a clone, or syslog:")
	case strings.HasPrefix(address, gitScheme):
		return openGit(ctx, strings.TrimPrefix(address, gitScheme), log)
	case strings.HasPrefix(address, syslogScheme+":"), strings.HasPrefix(address, syslogScheme+"+"):
		return openSyslog(address)
	default:
		return NewFile(address)
	}
}
