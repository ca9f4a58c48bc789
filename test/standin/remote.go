// Package standin holds what the stand-ins of remote services have in common.
package standin

// Remote is the service of a channel as a test sees it: what people there see,
// and what they do.
type Remote interface {
	Kind() string
	// Settings are those of a channel that points at the stand-in.
	Settings() map[string]any
	// Person makes a person there.
	Person(name string) (identityID, email string)
	// Seen is what the person sees now, the newest last.
	Seen(person string) []Message
	// Reply acts as the person: presses, picks, types.
	Reply(person string, m Message, r Reply) error
	// Told are the words that the person was told, apart from messages.
	Told(person string) []string
	// Inbound says where the server takes its requests, if it does.
	Inbound(url string)
}

// Message is one that a person sees.
type Message struct {
	ID, Text string
	Buttons  []string
	// Question is the id that is found in it.
	Question string
	Closed   bool
}

// Reply is what a person says to a message.
type Reply struct {
	Answers map[string]any
	Text    string
}
