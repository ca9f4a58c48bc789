package fermata

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"time"
)

// EventType names a kind of fact (spec §7.1).
type EventType string

// Types of events. An event that moves its task says so in its data, with from
// and to; [EventTaskStateChanged] is for moves that no other event tells of.
const (
	EventTaskCreated      EventType = "task.created"
	EventTaskClaimed      EventType = "task.claimed"
	EventTaskStateChanged EventType = "task.state_changed"
	EventTaskEnded        EventType = "task.ended"
	EventTaskUpdated      EventType = "task.updated"

	EventQuestionAsked        EventType = "question.asked"
	EventQuestionAskedAgain   EventType = "question.asked_again"
	EventQuestionAnswered     EventType = "question.answered"
	EventQuestionTimedOut     EventType = "question.timed_out"
	EventQuestionCancelled    EventType = "question.cancelled"
	EventQuestionEscalated    EventType = "question.escalated"
	EventQuestionExtended     EventType = "question.extended"
	EventQuestionAnsweredLate EventType = "question.answered_late"
	EventQuestionVoteCast     EventType = "question.vote_cast"

	EventMessagePosted    EventType = "message.posted"
	EventProgressReported EventType = "progress.reported"

	EventRunFinished EventType = "run.finished"
	EventRunLost     EventType = "run.lost"
	EventRunReleased EventType = "run.released"

	EventMemberAdded   EventType = "member.added"
	EventTokenCreated  EventType = "token.created"
	EventTokenRevoked  EventType = "token.revoked"
	EventPolicyChanged EventType = "policy.changed"

	EventGateDecided     EventType = "gate.decided"
	EventGateRuleAdded   EventType = "gate.rule_added"
	EventGateRuleRemoved EventType = "gate.rule_removed"
	EventGrantUsed       EventType = "grant.used"
)

// Event is an immutable fact. Events of a workspace are numbered from 1
// without gaps, in the order of their commits, and each holds the hash of the
// one before, so that a change, a gap or a reorder can be found.
type Event struct {
	// Seq is the number in the workspace.
	Seq         int64     `json:"seq"`
	WorkspaceID string    `json:"workspace_id"`
	Type        EventType `json:"type"`
	TaskID      string    `json:"task_id,omitempty"`
	QuestionID  string    `json:"question_id,omitempty"`
	RunID       string    `json:"run_id,omitempty"`
	Actor       Actor     `json:"actor"`
	At          time.Time `json:"at"`
	// Data is what the type adds; an object.
	Data json.RawMessage `json:"data,omitempty"`
	// PrevHash is the hash of the event before, "" for the first.
	PrevHash string `json:"prev_hash"`
	// Hash is this event's own.
	Hash string `json:"hash"`
}

// Seal numbers the event, links it to the one before and sets its hash.
func (e *Event) Seal(seq int64, prevHash string) {
	e.Seq, e.PrevHash = seq, prevHash
	e.Hash = e.hash()
}

// Rehash sets the event's own hash from its content.
func (e *Event) Rehash() { e.Hash = e.hash() }

// hash is the SHA-256 of every field, each led by its length, so that no two
// different events have the same bytes.
func (e *Event) hash() string {
	h := sha256.New()
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(e.Seq))
	h.Write(n[:])
	binary.BigEndian.PutUint64(n[:], uint64(e.At.UnixMilli()))
	h.Write(n[:])
	for _, s := range []string{
		e.PrevHash, e.WorkspaceID, string(e.Type), e.TaskID, e.QuestionID, e.RunID,
		string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, string(e.Data),
	} {
		writeField(h, s)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func writeField(h hash.Hash, s string) {
	var n [4]byte
	binary.BigEndian.PutUint32(n[:], uint32(len(s)))
	h.Write(n[:])
	h.Write([]byte(s))
}

// Chain verifies events in order: numbers without a gap, and every hash.
type Chain struct {
	// Seq and Hash are those of the last event that was verified.
	Seq  int64
	Hash string
}

// Next verifies the event that follows. The error names the first bad one.
func (c *Chain) Next(e *Event) error {
	switch {
	case e.Seq != c.Seq+1:
		return fmt.Errorf("event %d follows event %d: the numbers have a gap or are out of order", e.Seq, c.Seq)
	case e.PrevHash != c.Hash:
		return fmt.Errorf("event %d does not hold the hash of event %d", e.Seq, c.Seq)
	case e.Hash != e.hash():
		return fmt.Errorf("event %d was changed: its hash does not fit its content", e.Seq)
	}
	c.Seq, c.Hash = e.Seq, e.Hash
	return nil
}
