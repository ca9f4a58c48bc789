// Package standin holds the types that the stand-ins for remote services share.
package standin

// Remote is a channel's remote service as a test uses it: it shows what people
// see there, and acts as they do.
type Remote interface {
	Kind() string
	// Settings returns the settings of a channel that uses the stand-in.
	Settings() map[string]any
	// AddPerson adds a person to the service.
	AddPerson(name string) (identityID, email string)
	// VisibleMessages returns the messages that the person sees, the newest last.
	VisibleMessages(person string) []Message
	// Reply acts as the person: it presses, picks or types.
	Reply(person string, m Message, r Reply) error
	// Feedback returns the texts that the person was told, apart from messages.
	Feedback(person string) []string
	// SetInbound sets the address at which the server takes requests of the
	// service, if the service sends any.
	SetInbound(url string)
}

// Message is a message that a person sees.
type Message struct {
	ID, Text string
	Buttons  []string
	// Question is the id of the question that the message contains.
	Question string
	Closed   bool
}

// Reply is a person's answer to a message.
type Reply struct {
	Answers map[string]any
	Text    string
}
