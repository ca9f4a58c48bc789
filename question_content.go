package fermata

// questionContent is the frozen content of a question: what it asks, its asker, and the rules that decide it. It
// excludes assignees and the deadline, because people and time change them.
type questionContent struct {
	TaskID         string            `json:"task_id"`
	Project        string            `json:"project"`
	Type           QuestionType      `json:"type"`
	Title          string            `json:"title"`
	Body           string            `json:"body,omitempty"`
	Items          []Item            `json:"items"`
	Context        *QuestionContext  `json:"context,omitempty"`
	ActionHash     string            `json:"action_hash,omitempty"`
	Approvals      *Quorum           `json:"approvals,omitempty"`
	Timeout        Timeout           `json:"timeout"`
	OnTimeout      TimeoutAction     `json:"on_timeout,omitempty"`
	Escalation     []EscalationLevel `json:"escalation,omitempty"`
	Channels       []string          `json:"channels,omitempty"`
	Reminders      []string          `json:"reminders,omitempty"`
	RemindEvery    Timeout           `json:"remind_every,omitempty"`
	ShareContext   bool              `json:"share_context,omitempty"`
	Priority       int               `json:"priority"`
	Confidence     *int              `json:"confidence,omitempty"`
	Risk           Risk              `json:"risk"`
	LeastAssurance Assurance         `json:"least_assurance,omitempty"`
	CallbackURL    string            `json:"callback_url,omitempty"`
	State          []byte            `json:"state,omitempty"` // the bytes unchanged, as the asker wrote them
	Metadata       map[string]string `json:"metadata,omitempty"`
	AskedBy        Actor             `json:"asked_by"`
}

// KeyHash returns a hash of the question's idempotency key and of the request that used the key. It is empty without a key.
func (q *Question) KeyHash() string {
	if q.IdempotencyKey == "" {
		return ""
	}
	return hashBytes([]byte(q.IdempotencyKey + "\x00" + q.Fingerprint))
}

// ContentHash returns the hash by which the event question.asked names all frozen content of a question: the SHA-256
// of its JSON, in hex. New fields must be left out of the JSON when they are empty, so that the hash of an older
// question stays the same.
func (q *Question) ContentHash() string {
	written, err := ExactJSON(questionContent{
		TaskID: q.TaskID, Project: q.Project, Type: q.Type, Title: q.Title, Body: q.Body, Items: q.Items, Context: q.Context,
		ActionHash: q.ActionHash, Approvals: q.Approvals, Timeout: q.Timeout, OnTimeout: q.OnTimeout, Escalation: q.Escalation,
		Channels: q.Channels, Reminders: q.Reminders, RemindEvery: q.RemindEvery, ShareContext: q.ShareContext, Priority: q.Priority,
		Confidence: q.Confidence, Risk: q.Risk, LeastAssurance: q.LeastAssurance, CallbackURL: q.CallbackURL, State: q.State,
		Metadata: q.Metadata, AskedBy: q.AskedBy,
	})
	if err != nil {
		return ""
	}
	return hashBytes(written)
}

// ContentHash returns the hash by which the event message.posted names the text of a message: its SHA-256 in hex.
func (m *Message) ContentHash() string { return hashBytes([]byte(m.Body)) }
