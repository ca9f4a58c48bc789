package fermata

// OriginHash returns a hash of what a task was made as and what nothing changes afterwards: below which task, for which runner and
// session, and with which spec. It is the SHA-256, in hex, of their JSON.
func (t *Task) OriginHash() string {
	written, err := ExactJSON(struct {
		Parent         string `json:"parent_id,omitempty"`
		Runner         string `json:"runner,omitempty"`
		Agent          string `json:"agent,omitempty"`
		Isolated       bool   `json:"isolated,omitempty"`
		EndsWithAnswer bool   `json:"ends_with_answer,omitempty"`
		Session        string `json:"session_key,omitempty"`
		Spec           string `json:"spec,omitempty"`
	}{t.ParentID, t.Runner, t.Agent, t.Isolated, t.EndsWithAnswer, t.SessionKey, string(CanonicalAction(t.Spec))})
	if err != nil {
		return ""
	}
	return hashBytes(written)
}
