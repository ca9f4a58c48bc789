package fermata

import (
	"encoding/json"
	"time"
)

// DecisionReceipt records the question, its end and the people who decided it. A copy can be checked without the
// server: see [SignedReceipt].
type DecisionReceipt struct {
	WorkspaceID string       `json:"workspace_id"`
	Project     string       `json:"project"`
	TaskID      string       `json:"task_id"`
	QuestionID  string       `json:"question_id"`
	Type        QuestionType `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Title       string       `json:"title"`
	Body        string       `json:"body,omitempty"`
	Items       []Item       `json:"items"`
	// Action is the exact bytes of the action that people were asked to approve.
	Action     json.RawMessage `json:"action,omitempty"`
	ActionHash string          `json:"action_hash,omitempty"`
	Risk       Risk            `json:"risk" enum:"low,medium,high,critical"`
	// LeastAssurance and Required are the requirements of the policy and the asker for the people who decide.
	LeastAssurance Assurance `json:"least_assurance,omitempty" enum:"link,channel,session,passkey" doc:"how strongly those who decide had to be known"`
	Required       int       `json:"required" doc:"how many had to approve"`
	AskedBy        Actor     `json:"asked_by"`
	AskedAt        time.Time `json:"asked_at"`
	// AskedEvent and ClosedEvent are event numbers in the audit, and ClosedHash is the hash of ClosedEvent. The
	// policy of the question is in the last policy.changed event before AskedEvent.
	AskedEvent  int64  `json:"asked_event" doc:"number of the event that opened the question"`
	ClosedEvent int64  `json:"closed_event" doc:"number of the event that closed the question"`
	ClosedHash  string `json:"closed_hash" doc:"hash of that event in the audit"`

	Votes      []Vote      `json:"votes,omitempty"`
	Resolution *Resolution `json:"resolution"`
	// PublicKeys are the public keys of the passkeys that signed, by the id of the passkey.
	PublicKeys map[string]string `json:"public_keys,omitempty" doc:"COSE keys in base64, by the id of the passkey"`
	IssuedAt   time.Time         `json:"issued_at"`
}

// SignedReceipt is a receipt with the signature of the server.
type SignedReceipt struct {
	Receipt DecisionReceipt `json:"receipt"`
	// Note is a signed note (C2SP signed-note) whose text is [DecisionReceipt.Text].
	Note string `json:"note" doc:"a signed note (C2SP signed-note) of the receipt: the file to keep"`
}

// ReceiptTitle is the first line of the text of every receipt. No other signed text begins with it.
const ReceiptTitle = "fermata receipt"

// Text returns the text that the signature of a receipt covers. It has one line for the title and one for the JSON of
// the receipt.
func (r DecisionReceipt) Text() (string, error) {
	data, err := json.Marshal(r)
	return ReceiptTitle + "\n" + string(data) + "\n", err
}

// Receipt returns the receipt of a closed question, without its event numbers and public keys. It returns an error if
// the question is open.
func (q *Question) Receipt(now time.Time) (DecisionReceipt, error) {
	if !q.isClosed() {
		return DecisionReceipt{}, Errorf(CodeIllegalTransition, "the question is open: there is no receipt before it is decided").
			WithHint("who may decide it says: fermata member who-can %s", q.ID)
	}
	r := DecisionReceipt{
		WorkspaceID: q.WorkspaceID, Project: q.Project, TaskID: q.TaskID, QuestionID: q.ID, Type: q.Type, Title: q.Title, Body: q.Body,
		Items: q.Items, Action: q.Action, ActionHash: q.ActionHash, Risk: q.Risk, LeastAssurance: q.requiredAssurance(false), Required: 1,
		AskedBy: q.AskedBy, AskedAt: q.CreatedAt, Votes: q.Votes, Resolution: q.Resolution, IssuedAt: now,
	}
	if q.Approvals != nil {
		r.Required = max(1, q.Approvals.Required)
	}
	return r, nil
}

// Question returns the question of the receipt, for checks of its content and signatures. Fields that decide who may
// answer, such as the assurance and the quorum, are empty.
func (r DecisionReceipt) Question() *Question {
	return &Question{
		ID: r.QuestionID, WorkspaceID: r.WorkspaceID, TaskID: r.TaskID, Project: r.Project, Type: r.Type, Status: r.Resolution.Status,
		Title:     r.Title,
		CreatedAt: r.AskedAt, Votes: r.Votes, Resolution: r.Resolution,
		Asked: Asked{Body: r.Body, Items: r.Items, Action: r.Action, ActionHash: r.ActionHash, Risk: r.Risk, AskedBy: r.AskedBy},
	}
}

// Signers returns the ids of the members whose passkeys signed their decision.
func (q *Question) Signers() []string {
	var ids []string
	for _, v := range q.Votes {
		if v.Signed != nil {
			ids = append(ids, v.By.ID)
		}
	}
	if r := q.Resolution; r != nil && r.Signed != nil && r.AnsweredBy != nil && len(q.Votes) == 0 {
		ids = append(ids, r.AnsweredBy.ID)
	}
	return ids
}
