package fermata

import (
	"fmt"
	"time"
)

// When the end of a chain is signed.
const (
	// CheckpointEvents is after how many events at most.
	CheckpointEvents = 1000
	// CheckpointEvery is how long after an event at most, unless the server is told otherwise.
	CheckpointEvery = 5 * time.Minute
)

// Checkpoint says where the chain of events of a workspace ended at an instant. The server signs checkpoints with a key
// that is not in its database: whoever rewrites the database cannot sign another history.
type Checkpoint struct {
	Workspace string `json:"workspace"`
	// Seq and Hash are those of the last event that the checkpoint covers.
	Seq  int64     `json:"seq"`
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// SignedCheckpoint is a checkpoint with its signature. It is the data of [EventAuditCheckpoint] and a line of a witness.
type SignedCheckpoint struct {
	Checkpoint
	// Note is a signed note (C2SP signed-note) whose text is [Checkpoint.Text].
	Note string `json:"note"`
}

// checkpointTitle is the first line of the text of every checkpoint: no other signed text begins so.
const checkpointTitle = "fermata audit checkpoint"

// Text is what the signature of a checkpoint covers: a title, the workspace, the number and the hash of the last event,
// and the instant, a line each.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%s\n%d\n%s\n%s\n", checkpointTitle, c.Workspace, c.Seq, c.Hash, c.At.UTC().Format(time.RFC3339Nano))
}

// IsDue reports whether the end of a chain is to be signed: many events came since the last checkpoint, or the first of
// them has waited for long enough. Since is that event's instant.
func (c Checkpoint) IsDue(end int64, since, now time.Time, every time.Duration) bool {
	return end-c.Seq >= CheckpointEvents || now.Sub(since) >= every
}
