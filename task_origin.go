package fermata

// OriginHash returns a hash of the parts of a task that never change: its parent, runner, role, isolation and
// session, whether it ends with its answer, and its spec. It is the SHA-256 of their JSON, in hex.
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
