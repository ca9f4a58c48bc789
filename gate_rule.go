package fermata

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// GateRule decides tool calls without a question, or requires a question for them.
type GateRule struct {
	ID          string `json:"id"`
	WorkspaceID string `json:"workspace_id"`
	NewGateRule
	// Owner is the actor that created the rule.
	Owner Actor `json:"owner"`
	// SessionOwner is the owner of the session that an allow rule is for. Another
	// actor may use the same session key, but the rule allows that actor
	// nothing.
	SessionOwner *Actor     `json:"session_of,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty"`
	// Used counts the calls that the rule allowed, if it has a maximum.
	Used      int       `json:"used"`
	CreatedAt time.Time `json:"created_at"`
}

// NewGateRule is a request to create a rule.
type NewGateRule struct {
	// Tool is a pattern for the name of the tool. In it, * matches any text, ?
	// matches one character, and \ takes the next character literally.
	Tool string `json:"tool" minLength:"1" maxLength:"200"`
	// Args are patterns by the path of an argument, such as command or
	// edits.path. All of them must match.
	Args     map[string]string `json:"args,omitempty"`
	Decision GateDecision      `json:"decision" enum:"allow,deny,ask"`
	// A rule applies to the whole workspace, or to one of the next three.
	Project    string `json:"project,omitempty" maxLength:"64"`
	TaskID     string `json:"task_id,omitempty" maxLength:"64"`
	SessionKey string `json:"session_key,omitempty" maxLength:"128"`
	// ExpiresIn is the time for which the rule is valid. If it is empty or
	// never, the rule stays until it is removed.
	ExpiresIn Timeout `json:"expires_in,omitempty" maxLength:"20"`
	// Uses is the number of calls that an allow rule lets through. 0 means any number.
	Uses int `json:"uses,omitempty" minimum:"0"`
	// Risk is the risk of the questions that an ask rule causes.
	Risk   Risk   `json:"risk,omitempty" enum:"low,medium,high,critical"`
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"why; agents are told"`
}

// Check returns an error that lists every problem of the request.
func (n NewGateRule) Check() error {
	var ps problems
	ps.checkText("tool", n.Tool, 1, 200)
	ps.checkText("reason", n.Reason, 0, 500)
	ps.checkText("session_key", n.SessionKey, 0, 128)
	ps.checkName("project", n.Project)
	ps.checkOneOf("risk", string(n.Risk), risks)
	if !slices.Contains(GateDecisions, n.Decision) {
		ps.add("decision", "is %q, must be one of allow, deny, ask", n.Decision)
	}
	if len(n.Args) > maxGateArgs {
		ps.add("args", "has %d patterns, may have at most %d", len(n.Args), maxGateArgs)
	}
	for _, path := range slices.Sorted(maps.Keys(n.Args)) {
		ps.checkText("args."+path, n.Args[path], 0, maxPattern)
		if path == "" || slices.Contains(strings.Split(path, "."), "") {
			ps.add("args", "%q is no path of an argument; write command, or edits.path", path)
		}
	}
	scopes := 0
	for _, s := range []string{n.Project, n.TaskID, n.SessionKey} {
		if s != "" {
			scopes++
		}
	}
	if scopes > 1 {
		ps.add("project", "a rule is for one project, or one task, or one session")
	}
	if n.ExpiresIn != "" && n.ExpiresIn != Never {
		if _, err := n.ExpiresIn.Duration(); err != nil {
			ps.addError("expires_in", err)
		}
	}
	if n.Uses < 0 || n.Uses > 0 && n.Decision != GateAllow {
		ps.add("uses", "is allowed only with the decision allow, and may not be negative")
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Make returns the rule that the request describes, or the error of [NewGateRule.Check].
func (n NewGateRule) Make(id string, by Actor, now time.Time) (*GateRule, error) {
	if err := n.Check(); err != nil {
		return nil, err
	}
	r := &GateRule{ID: id, NewGateRule: n, Owner: by, CreatedAt: now}
	if n.ExpiresIn != "" && n.ExpiresIn != Never {
		d, err := n.ExpiresIn.Duration()
		if err != nil {
			return nil, err
		}
		expires := TruncateTime(now.Add(d))
		r.ExpiresAt = &expires
	}
	return r, nil
}

// IsLimited reports whether the rule allows only a limited number of calls.
func (r *GateRule) IsLimited() bool { return r.Uses > 0 }

// IsLive reports whether the rule is neither expired nor used up.
func (r *GateRule) IsLive(now time.Time) bool {
	return (r.ExpiresAt == nil || now.Before(*r.ExpiresAt)) && (r.Uses == 0 || r.Used < r.Uses)
}

// Sentence returns one sentence that says what the rule does, and whose rule it is.
func (r *GateRule) Sentence() string {
	who := string(r.Owner.Kind)
	if r.Owner.Name != "" {
		who = oneLine(r.Owner.Name)
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "rule %s of %s: %s %s", r.ID, who, r.Decision, oneLine(r.Tool))
	for _, path := range slices.Sorted(maps.Keys(r.Args)) {
		fmt.Fprintf(&sb, " %s=%q", path, r.Args[path])
	}
	if r.Reason != "" {
		fmt.Fprintf(&sb, " (%s)", oneLine(r.Reason))
	}
	return sb.String()
}
