package notice

import (
	"time"

	"github.com/fermata-hq/fermata"
)

// Inbound is a message that a person sent back over a channel, or an event that
// happened in the remote system.
type Inbound struct {
	// ID is the remote system's id of this message or click. Messages with the
	// same id count once.
	ID string
	// Question is the id of the question, or a unique ending of the id. Reply
	// is the secret of the notice. Delivery is the id of the delivery. At least
	// one of them names the question.
	Question, Reply, Delivery string
	From                      Identity
	// Text is what the person wrote; [ParseReply] reads it. Answer is a
	// structured answer from buttons and forms, and takes precedence over Text.
	// If both are empty, the channel only looks the question up, to show a
	// form. Then nothing is decided and the id is not stored. The verdict has
	// the question, and a Code if the person may not answer it.
	Text   string
	Answer *fermata.Answer
	// Signature is the text below Text that was taken for a signature. At high
	// risk, a signature may be only a name.
	Signature string
	// InSharedPlace reports whether Text was written in a place where people also talk
	// to each other.
	InSharedPlace bool
	At            time.Time
	// RemoteEvent is a fact that answers nothing. If it is set, only ID is set
	// beside it.
	RemoteEvent *RemoteEvent
}

// RemoteEvent is an event in the remote system, such as a label on an issue. It
// becomes an event of the log, and anyone may have caused it. The rules about who may
// answer do not apply to it.
type RemoteEvent struct {
	Type fermata.EventType
	// By is the person who caused it. The event names the member, if a member
	// has this identity.
	By   Identity
	Data map[string]any
}

// Identity identifies a person in a channel's own system. The channel vouches
// for it: it has checked a signature or asked the system itself.
type Identity struct {
	// Kind is the channel's kind. ID is the person's id in that system.
	Kind, ID string
	// Name is for display. Email is set only if the system has verified the
	// address.
	Name, Email string
	// DenialReason says why the system itself does not let this person decide, such
	// as a commenter without write access. It is empty if the system allows it.
	// Remedy says what the person can do about it.
	DenialReason, Remedy string
}

// Verdict says what became of an inbound message, for the person who sent it.
type Verdict struct {
	// Counted reports whether the answer was taken: from this message, or from
	// an earlier one of the same person with the same answer.
	Counted bool
	// Code is the reason if the answer was not taken.
	Code fermata.Code
	// Words are one or two sentences for the person. They say that the answer
	// counted, that the person may not answer, or that another person was
	// first. Or they say what was wrong and how to write it instead.
	Words string
	// Question is the current question, redacted as a notice of this channel
	// is. It is nil if the person may not read it.
	Question *fermata.Question
}
