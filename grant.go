package fermata

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// GrantLifetime is the time for which an approval may be used after it was given.
const GrantLifetime = 7 * 24 * time.Hour

// grantPrefix is the prefix of every grant. Its number is the version of the format.
const grantPrefix = "fg1"

// Grant is the permission for one approved action, used once
// (docs/inside/contract.md#consent-and-grants). The workspace's key signs it.
type Grant struct {
	WorkspaceID string `json:"workspace_id"`
	QuestionID  string `json:"question_id"`
	TaskID      string `json:"task_id"`
	ActionHash  string `json:"action_hash"`
	// Decision is always approve.
	Decision string `json:"decision"`
	// By is the actor that approved: a person or a rule.
	By        Actor     `json:"by"`
	Assurance Assurance `json:"assurance,omitempty"`
	At        time.Time `json:"at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// GrantCheck is a request to check that a grant permits the action that is
// about to run.
type GrantCheck struct {
	Grant string `json:"grant" minLength:"1" maxLength:"4096"`
	// RunID is the run that is about to act. It is empty if no run acts.
	RunID string `json:"run_id,omitempty" maxLength:"64"`
	// Action is the action that is about to run.
	Action json.RawMessage `json:"action"`
}

// Grant returns the grant for the approved action of the question. It returns
// false unless the question is an approval of an action and was approved.
func (q *Question) Grant() (Grant, bool) {
	if q.Type != Approval || q.ActionHash == "" || !q.Resolution.IsApproved() {
		return Grant{}, false
	}
	r := q.Resolution
	g := Grant{
		WorkspaceID: q.WorkspaceID, QuestionID: q.ID, TaskID: q.TaskID, Decision: Approve,
		By: Actor{Kind: r.DecidedBy}, Assurance: r.Assurance, At: r.At, ExpiresAt: TruncateTime(r.At.Add(GrantLifetime)),
	}
	if r.AnsweredBy != nil {
		g.By = *r.AnsweredBy
	}
	g.ActionHash = r.ActionHashOr(q.ActionHash)
	return g, true
}

// Sign returns the grant as signed text.
func (g Grant) Sign(key []byte) string {
	data, err := json.Marshal(g)
	if err != nil {
		// This cannot happen, because every text and time has a JSON form.
		panic("fermata: write a grant: " + err.Error())
	}
	body := grantPrefix + "." + base64.RawURLEncoding.EncodeToString(data)
	return body + "." + base64.RawURLEncoding.EncodeToString(grantMAC(key, body))
}

func grantMAC(key []byte, body string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(body))
	return mac.Sum(nil)
}

// OpenGrant returns the content of a signed grant. It returns an error unless
// the key signed it.
func OpenGrant(signed string, key []byte) (Grant, error) {
	var g Grant
	if !strings.HasPrefix(strings.TrimSpace(signed), grantPrefix+".") {
		return g, Errorf(CodeForbidden, "this is no grant: a grant begins with %s.", grantPrefix).
			WithHint("take it from the context of the resumed task, which has it until it is used")
	}
	bad := Errorf(CodeForbidden, "the grant is not one of this workspace, or was changed").
		WithHint("take it from the context of the resumed task, whole")
	body, sum, ok := cutLast(strings.TrimSpace(signed), ".")
	if !ok {
		return g, bad
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(sum)
	if err != nil || !hmac.Equal(given, grantMAC(key, body)) {
		return g, bad
	}
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(body, grantPrefix+"."))
	if err != nil || json.Unmarshal(data, &g) != nil {
		return g, bad
	}
	return g, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// CheckAction returns an error if the grant is for another action, or has expired.
func (g Grant) CheckAction(action []byte, now time.Time) error {
	switch {
	case g.Decision != Approve:
		return Errorf(CodeForbidden, "the grant approves nothing")
	case !HasHash(action, g.ActionHash):
		return Errorf(CodeForbidden, "what is about to run is not what was approved").
			WithHint("run exactly the approved action, or ask again")
	case !now.Before(g.ExpiresAt):
		return Errorf(CodeForbidden, "the grant expired at %s", formatInstant(g.ExpiresAt)).WithHint("ask again")
	}
	return nil
}

// CheckTask returns an error if nothing may run for the task of the grant. The
// other arguments are those of [Task.HaltReason]. A task that ends with its answer is
// an exception: it is done before the script that asked can use the grant.
func (g Grant) CheckTask(t *Task, runID string, run *Run, now time.Time) error {
	if t.EndsWithAnswer && t.State == TaskDone {
		return nil
	}
	if why := t.HaltReason(runID, run, now); why != "" {
		return Errorf(CodeForbidden, "the grant cannot be used: %s", why).
			WithHint("do not run the action; ask again once the task goes on")
	}
	return nil
}
