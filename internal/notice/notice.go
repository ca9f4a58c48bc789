package notice

import (
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
)

// Purpose says why a message is sent.
type Purpose string

// Purposes of messages.
const (
	// Asked tells of a question, Reminder once more of one that is still open,
	// Escalated those whom the next level adds.
	Asked     Purpose = "asked"
	Reminder  Purpose = "reminder"
	Escalated Purpose = "escalated"
	// Digest gathers questions of low urgency, Alert tells operators of
	// trouble, Event is one entry of the log for machines.
	Digest Purpose = "digest"
	Alert  Purpose = "alert"
	Event  Purpose = "event"
	// Test proves that a channel works.
	Test Purpose = "test"
)

// Notice is what one message has to show. What it holds is redacted already,
// and context that must not reach a public place is left out.
type Notice struct {
	// Delivery is the id of the delivery. It stays the same over retries and
	// updates: the receiver can tell a repeated message by it.
	Delivery string
	Purpose  Purpose
	Question *fermata.Question
	// Questions are those of a digest.
	Questions []*fermata.Question
	// TaskTitle and Project say what the question belongs to.
	TaskTitle, Project string
	To                 Recipient
	// Open is the address of the question's page behind the sign-in. Answer is
	// a signed one for this person and this question alone; empty where the
	// question may not be answered without signing in.
	Open, Answer string
	// Decide says that this channel may offer to decide here. Where it is
	// false, the message offers only to open the question.
	Decide bool
	// Reply is a secret that binds an answer to this person and this question;
	// an answer that comes back over the channel carries it where the channel
	// has a place for it.
	Reply string
	// Outcome is how the question ended; nil while it is open.
	Outcome *Outcome
	// Title and Body are the text of an alert or a test, and the headline of a
	// digest.
	Title, Body string
	// Raw is the event of [Event], as it is sent.
	Raw json.RawMessage
	// At is when what is shown became true.
	At time.Time
	// Since is set where the message may have arrived already: an earlier try
	// failed, or whoever made it was not heard of again. It is from then on that
	// a channel looks for it. Zero is the first try.
	Since time.Time
	// Replaces is the Ref of the message that this one is sent again for, by
	// hand: nothing is left to press there.
	Replaces json.RawMessage
}

// Recipient is a person, or a place of the channel's own when Member is empty.
type Recipient struct {
	// Member is the id of the member. At a place, Name is of somebody whom the
	// message is for and whom the channel's own system does not know.
	Member, Handle, Name string
	// Email is the member's address; ID who the member is in the channel's own
	// system, where that is known.
	Email, ID string
	// Language is the tag of the language that the person reads (BCP 47), Zone
	// the name of the time zone (IANA).
	Language, Zone string
	// People are those whom the question is assigned to, where the message goes
	// to a place: their ids in the channel's own system.
	People []string
	// Target is where in the channel's system the message goes when the asker
	// or the task says so: an issue, a conversation.
	Target string
	// Device is the push subscription (W3C Push API), as the browser gave it.
	Device json.RawMessage
}

// Outcome is how a question ended, in words.
type Outcome struct {
	Status fermata.QuestionStatus
	// Words say it in one sentence: "answered by Ada: toml".
	Words string
	At    time.Time
}

// Receipt says where a message went.
type Receipt struct {
	// Ref is what the channel needs to find the message again; nil where it
	// cannot be changed any more.
	Ref json.RawMessage
	// Content is what was sent, as it was sent: it is kept.
	Content string
}
