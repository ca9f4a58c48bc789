package fermata

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"
)

// EventType is a kind of fact (docs/inside/contract.md#the-event-log).
type EventType string

// Types of events. An event that moves its task gives the two states as from
// and to in its data. [EventTaskStateChanged] is for moves that no other event
// reports.
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
	EventQuestionHeld         EventType = "question.held"
	EventQuestionUndone       EventType = "question.undone"
	EventQuestionAssigned     EventType = "question.assigned"
	// EventQuestionReminded reports a reminder that was sent. Its data is
	// delivery_id, channel, kind and, for a reminder to one person, member_id.
	EventQuestionReminded EventType = "question.reminded"

	EventMessagePosted EventType = "message.posted"
	// EventMessageHanded reports which messages a run was handed. These messages wait again if the run is lost or
	// released, or if run.finished names them as unheard.
	EventMessageHanded    EventType = "message.handed"
	EventProgressReported EventType = "progress.reported"

	EventRunFinished EventType = "run.finished"
	EventRunLost     EventType = "run.lost"
	EventRunReleased EventType = "run.released"

	EventStepStarted       EventType = "workflow.step_started"
	EventStepFinished      EventType = "workflow.step_finished"
	EventWorkflowChanged   EventType = "workflow.changed"
	EventWorkflowRemoved   EventType = "workflow.removed"
	EventWorkflowTriggered EventType = "workflow.triggered"
	// EventRunRewound reports that a person sent a run back to a step. EventRunMoved reports that a run goes on with
	// another definition of its workflow.
	EventRunRewound EventType = "workflow.rewound"
	EventRunMoved   EventType = "workflow.moved"
	// EventTriggerSkipped reports a trigger that started no run, and the reason.
	EventTriggerSkipped EventType = "workflow.trigger_skipped"
	EventToolChanged    EventType = "workflow.tool_changed"
	EventToolRemoved    EventType = "workflow.tool_removed"
	// EventLabelAdded reports a label that was added to a GitHub issue. Its
	// data is repository (owner/name), issue (its number), label, actor (the
	// login), title and url.
	EventLabelAdded EventType = "github.label_added"
	// EventDeploymentRequested reports a GitHub Actions job that waits to deploy to an environment. Its data is
	// repository (owner/name), environment, ref, sha, run, deployment, event, actor and url. There, run and
	// deployment are ids at GitHub, event is the cause of the run, and actor is the login that caused it.
	EventDeploymentRequested EventType = "github.deployment_requested"

	EventMemberAdded     EventType = "member.added"
	EventMemberChanged   EventType = "member.changed"
	EventMemberInvited   EventType = "member.invited"
	EventMemberUninvited EventType = "member.uninvited"
	EventMemberLinked    EventType = "member.linked"
	EventMemberSignedIn  EventType = "member.signed_in"
	EventMemberSignedOut EventType = "member.signed_out"
	EventPasskeyAdded    EventType = "member.passkey_added"
	EventPasskeyRemoved  EventType = "member.passkey_removed"
	EventGroupChanged    EventType = "member.group_changed"
	EventTokenCreated    EventType = "token.created"
	EventTokenRevoked    EventType = "token.revoked"
	EventPolicyChanged   EventType = "policy.changed"

	// EventLossAccepted reports that an operator accepted a database with less
	// data than was acknowledged. Its data is acknowledged and found (each with
	// workspace, seq, hash and at), rewritten, and operator.
	EventLossAccepted EventType = "database.loss_accepted"

	// EventAuditCheckpoint reports that the end of the event chain was signed.
	// Its data is a [SignedCheckpoint].
	EventAuditCheckpoint EventType = "audit.checkpoint"
	// EventRetentionApplied reports what was removed because its time had passed. Its data is a [Removal].
	EventRetentionApplied EventType = "retention.applied"

	EventGateDecided     EventType = "gate.decided"
	EventGateRuleAdded   EventType = "gate.rule_added"
	EventGateRuleRemoved EventType = "gate.rule_removed"
	EventGrantUsed       EventType = "grant.used"

	EventChannelAdded    EventType = "channel.added"
	EventChannelChanged  EventType = "channel.changed"
	EventChannelRemoved  EventType = "channel.removed"
	EventRoutesChanged   EventType = "channel.routes_changed"
	EventIdentityChanged EventType = "member.identity_changed"
	EventDeviceAdded     EventType = "member.device_added"
	EventDeviceRemoved   EventType = "member.device_removed"
	// EventDeliveryDead reports a message that was given up. EventDeliveryAlert
	// reports an alert to operators.
	EventDeliveryDead  EventType = "delivery.dead"
	EventDeliveryAlert EventType = "delivery.alert"
)

// Event is an immutable fact. A workspace numbers its events from 1 without
// gaps, in the order of their commits. Retention may remove events; see [TrimmedRange]. Each event holds the hash of the one
// before, so that a change, a gap or a reorder can be detected.
type Event struct {
	// Seq is the number of the event in its workspace.
	Seq         int64     `json:"seq"`
	WorkspaceID string    `json:"workspace_id"`
	Type        EventType `json:"type"`
	TaskID      string    `json:"task_id,omitempty"`
	QuestionID  string    `json:"question_id,omitempty"`
	RunID       string    `json:"run_id,omitempty"`
	Actor       Actor     `json:"actor"`
	At          time.Time `json:"at"`
	// Data is an object with the fields that the type adds.
	Data json.RawMessage `json:"data,omitempty"`
	// PrevHash is the hash of the previous event, or "" for the first one.
	PrevHash string `json:"prev_hash"`
	// Hash is the hash of this event.
	Hash string `json:"hash"`
	// Move is the change of the task's state that the event reports, or nil. It is set in the process that commits the
	// event. [Event.StoredMove] reads it from the data of an event that was loaded.
	Move *TaskMove `json:"-"`
}

// TaskMove is a change of a task's state.
type TaskMove struct {
	// From is empty if the task was created.
	From   TaskState `json:"from,omitempty"`
	To     TaskState `json:"to"`
	Reason string    `json:"reason,omitempty"`
	// Kind is the kind of the task. IsClaimed reports whether the same transaction also gave the task to a worker. Neither
	// is part of the event's data.
	Kind      TaskKind `json:"-"`
	IsClaimed bool     `json:"-"`
}

// StoredMove returns the change of the task's state that the data of the event report. It returns the zero value if
// the event reports none.
func (e *Event) StoredMove() TaskMove {
	var m TaskMove
	if json.Unmarshal(e.Data, &m) != nil || e.TaskID == "" {
		return TaskMove{}
	}
	return m
}

// Link sets the number of the event, the hash of the previous event, and its own hash.
func (e *Event) Link(seq int64, prevHash string) {
	e.Seq, e.PrevHash = seq, prevHash
	e.Hash = e.hash()
}

// Rehash sets the event's own hash from its content.
func (e *Event) Rehash() { e.Hash = e.hash() }

// hash returns the SHA-256 of every field. The length precedes each text field,
// so that two different events never have the same bytes.
func (e *Event) hash() string {
	content := make([]byte, 0, 512+len(e.Data))
	content = binary.BigEndian.AppendUint64(content, uint64(e.Seq))
	content = binary.BigEndian.AppendUint64(content, uint64(e.At.UnixMilli()))
	for _, s := range []string{
		e.PrevHash, e.WorkspaceID, string(e.Type), e.TaskID, e.QuestionID, e.RunID,
		string(e.Actor.Kind), e.Actor.ID, e.Actor.Name, string(e.Data),
	} {
		content = binary.BigEndian.AppendUint32(content, uint32(len(s)))
		content = append(content, s...)
	}
	sum := sha256.Sum256(content)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Chain verifies events in order: the numbers without a gap, and every hash.
type Chain struct {
	// Seq and Hash belong to the last event that was verified.
	Seq  int64
	Hash string
}

// VerifyNext verifies the next event of the chain. The error names the event at fault.
func (c *Chain) VerifyNext(e *Event) error {
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
