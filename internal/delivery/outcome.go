package delivery

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// outcome is the result of an attempt.
type outcome struct {
	kind outcomeKind
	// reason says why the delivery is deferred or ends. The delivery is deferred until an instant.
	reason string
	until  time.Time
	// message is what the channel accepted, and shown the state of the question that it shows.
	message notice.SentMessage
	shown   shownState
	// err says why the attempt failed. mayHaveArrived reports whether the message may have arrived anyway.
	err            error
	mayHaveArrived bool
}

type outcomeKind int

const (
	// outcomeFailed means that the attempt failed.
	outcomeFailed outcomeKind = iota
	// outcomeSent means that the channel took the message.
	outcomeSent
	// outcomeUnchanged means that a sent message stays as it is.
	outcomeUnchanged
	// outcomeDeferred means that the message waits until an instant.
	outcomeDeferred
	// outcomeSkipped means that the delivery ends without a message.
	outcomeSkipped
	// outcomeMoved is [outcomeSkipped], and the message goes to the channel's own place instead.
	outcomeMoved
)

func failedOutcome(err error) *outcome { return &outcome{kind: outcomeFailed, err: err} }

func skippedOutcome(reason string) *outcome { return &outcome{kind: outcomeSkipped, reason: reason} }

func deferredOutcome(until time.Time, reason string) *outcome {
	return &outcome{kind: outcomeDeferred, until: until, reason: reason}
}

// name returns the name of the outcome in the metrics, for a delivery that was in the state before.
func (o *outcome) name(before fermata.DeliveryState) string {
	switch o.kind {
	case outcomeSkipped, outcomeMoved, outcomeUnchanged:
		return "skipped"
	case outcomeDeferred:
		return "deferred"
	case outcomeSent:
		if before == fermata.DeliverySent {
			return "updated"
		}
		return "sent"
	default:
		return "failed"
	}
}
