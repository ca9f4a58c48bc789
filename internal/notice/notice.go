package notice

import (
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
)

// Purpose is the reason for a message.
type Purpose string

// These are the purposes of messages.
const (
	// Asked announces a question. Reminder announces it again while it is open.
	// Escalated announces it to the people that the next level adds.
	Asked     Purpose = "asked"
	Reminder  Purpose = "reminder"
	Escalated Purpose = "escalated"
	// Digest gathers questions of low urgency. Alert informs operators about a
	// problem. Event is one entry of the log, for machines.
	Digest Purpose = "digest"
	Alert  Purpose = "alert"
	Event  Purpose = "event"
	// Test proves that a channel works.
	Test Purpose = "test"
)

// Notice is the content of one message. It is already redacted, and context
// that must not reach a public place is left out.
type Notice struct {
	// Delivery is the id of the delivery. It stays the same over retries and
	// updates, so the receiver can recognize a repeated message by it.
	Delivery string
	Purpose  Purpose
	Question *fermata.Question
	// Questions are the questions of a digest.
	Questions []*fermata.Question
	// TaskTitle and Project name the task and the project of the question.
	TaskTitle, Project string
	To                 Recipient
	// Open is the address of the question's page, which needs a sign-in. Answer
	// is a signed address that is valid only for this person and this question.
	// Answer is empty if the question may not be answered without signing in.
	Open, Answer string
	// Decide reports whether this channel may offer to decide in the message.
	// If it is false, the message only offers to open the question.
	Decide bool
	// Reply is a secret that binds an answer to this person and this question.
	// An answer over the channel carries it if the channel has a place for it.
	Reply string
	// Outcome is how the question ended. It is nil while the question is open.
	Outcome *Outcome
	// Title and Body are the text of an alert or a test. In a digest, they are
	// its headline.
	Title, Body string
	// Raw is the event of a notice with the purpose [Event], as it is sent.
	Raw json.RawMessage
	// At is the time for which the content of the notice is true.
	At time.Time
	// Since is set if the message may have arrived already: an earlier attempt
	// failed, or its process disappeared. The channel looks for that message
	// from Since on. It is zero on the first attempt.
	Since time.Time
	// Replaces is the Ref of the message that this one replaces after a person
	// asked to send it again. The replaced message keeps no buttons.
	Replaces json.RawMessage
}

// Recipient is a person, or a place of the channel if Member is empty.
type Recipient struct {
	// Member is the id of the member. At a place, Name is the name of a person
	// for whom the message is, if the channel's own system does not know that
	// person.
	Member, Handle, Name string
	// Email is the member's address. ID is the member's id in the channel's own
	// system, if it is known.
	Email, ID string
	// Language is the tag of the language that the person reads (BCP 47). Zone
	// is the name of the time zone (IANA).
	Language, Zone string
	// People are the people that the question is assigned to, if the message
	// goes to a place. They are ids in the channel's own system.
	People []string
	// Target is the destination in the channel's system if the asker or the
	// task names one: an issue, a conversation.
	Target string
	// Device is the push subscription (W3C Push API), as the browser gave it.
	Device json.RawMessage
}

// Outcome says in words how a question ended.
type Outcome struct {
	Status fermata.QuestionStatus
	// Words are one sentence: "answered by Ada: toml".
	Words string
	At    time.Time
}

// SentMessage says where a message went.
type SentMessage struct {
	// Ref is the data by which the channel finds the message again. It is nil
	// if the message cannot be changed later.
	Ref json.RawMessage
	// Content is the exact text that was sent. It is stored.
	Content string
}
