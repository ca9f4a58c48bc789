package notice

import (
	"encoding/json"
	"time"

	"github.com/fermata-hq/fermata"
)

// Inbound is something that a person sent back over a channel, or something
// that happened there.
type Inbound struct {
	// ID is the remote system's id of this message or click: the same one
	// counts once.
	ID string
	// Question is the id, or a unique ending of it; Reply the secret of the
	// notice; Delivery its id. At least one of them names the question.
	Question, Reply, Delivery string
	From                      Identity
	// Text is what the person wrote, read by [ParseReply]. Answer is a
	// structured one from buttons and forms, and wins over Text. With neither,
	// the channel only looks, to make a form: nothing is decided, the id is not
	// kept, and the verdict has the question, with a Code where the person may
	// not answer it.
	Text   string
	Answer *fermata.Answer
	// Signature is what stood below Text and was taken for a signature. At high
	// risk it may be no more than a name.
	Signature string
	// Among says that Text was written where people also talk to each other.
	Among bool
	// Context is opaque to Fermata and given back to Tell: where the person is
	// to be told what became of it.
	Context json.RawMessage
	At      time.Time
	// Happened is a fact and answers nothing: all but ID is left out beside it.
	Happened *Happening
}

// Happening is something that happened in the remote system, such as a label
// on an issue. It becomes an event of the log, whoever did it; who may answer
// has no part in it.
type Happening struct {
	Type fermata.EventType
	// By is who did it. The event names the member, where one has this identity.
	By   Identity
	Data map[string]any
}

// Identity is who somebody is in a channel's own system. The channel vouches
// for it: it has checked a signature or asked the system itself.
type Identity struct {
	// Kind is the channel's kind, ID the id in that system.
	Kind, ID string
	// Name is for people. Email is set only where the system has verified it.
	Name, Email string
	// Denied says why the system itself does not let this person decide here,
	// such as a commenter without write access; empty where it does. Remedy says
	// what the person can do about it.
	Denied, Remedy string
}

// Verdict is what became of something inbound, for the person who sent it.
type Verdict struct {
	// Counted says that the answer was taken, now or by an earlier message of
	// the same person that said the same.
	Counted bool
	// Code is the reason otherwise.
	Code fermata.Code
	// Words are one or two sentences for the person: that it counted, that they
	// may not, who was first, what was wrong and how to write it instead.
	Words string
	// Question is the question as it is now, redacted as a notice of this
	// channel is; nil for who may not read it.
	Question *fermata.Question
}
