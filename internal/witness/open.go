package witness

import (
	"context"
	"log/slog"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Witness keeps signed checkpoints outside the database.
type Witness interface {
	// Name returns where the witness keeps its checkpoints.
	Name() string
	// Keep stores a checkpoint, and returns when the checkpoint is handed over.
	Keep(ctx context.Context, c fermata.SignedCheckpoint) error
}

// Schemes of addresses that are not a file.
const (
	gitScheme    = "git:"
	syslogScheme = "syslog"
)

// Open returns the witness for an address. git:FOLDER is the clone of a Git repository. syslog:,
// syslog+tcp://HOST:PORT and syslog+udp://HOST:PORT are system logs. Any other address is a file. Open refuses an
// address at which no checkpoint can be kept.
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
