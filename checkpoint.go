package fermata

import (
	"fmt"
	"time"
)

// Limits after which the end of the event chain is signed.
const (
	// MaxCheckpointEvents is the most events between two checkpoints.
	MaxCheckpointEvents = 1000
	// CheckpointInterval is the longest time between an event and its checkpoint, unless the server is configured otherwise.
	CheckpointInterval = 5 * time.Minute
)

// Checkpoint says where a workspace's chain of events ended at an instant. The key that signs checkpoints is not in
// the database. So a person who rewrites the database cannot sign another history.
type Checkpoint struct {
	Workspace string `json:"workspace"`
	// Seq and Hash belong to the last event that the checkpoint covers.
	Seq  int64     `json:"seq"`
	Hash string    `json:"hash"`
	At   time.Time `json:"at"`
}

// SignedCheckpoint is a checkpoint with its signature. It is the data of [EventAuditCheckpoint] and one line at a witness.
type SignedCheckpoint struct {
	Checkpoint
	// Note is a signed note (C2SP signed-note) whose text is [Checkpoint.Text].
	Note string `json:"note"`
}

// checkpointTitle is the first line of the text of every checkpoint. No other signed text begins with it.
const checkpointTitle = "fermata audit checkpoint"

// Text returns the text that the signature of a checkpoint covers. It has one line each for the title, the workspace,
// the number and the hash of the last event, and the instant.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%s\n%d\n%s\n%s\n", checkpointTitle, c.Workspace, c.Seq, c.Hash, c.At.UTC().Format(time.RFC3339Nano))
}

// IsDue reports whether the end of the chain must be signed. It is due if [MaxCheckpointEvents] events followed the
// last checkpoint, or if the first of them is as old as the interval. The argument since is the instant of that first
// event.
func (c Checkpoint) IsDue(end int64, since, now time.Time, interval time.Duration) bool {
	return end-c.Seq >= MaxCheckpointEvents || now.Sub(since) >= interval
}
