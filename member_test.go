package fermata_test

import (
	"slices"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestRoleIn(t *testing.T) {
	t.Parallel()
	c := fermata.Caller{Role: fermata.RoleViewer, Projects: map[string]fermata.Role{"web": fermata.RoleOperator}}
	if c.RoleIn("web") != fermata.RoleOperator || c.RoleIn("other") != fermata.RoleViewer {
		t.Errorf("%s %s", c.RoleIn("web"), c.RoleIn("other"))
	}
	c.Role, c.Projects = fermata.RoleAdmin, map[string]fermata.Role{"web": fermata.RoleViewer}
	if c.RoleIn("web") != fermata.RoleAdmin {
		t.Error("an admin is one everywhere")
	}
}

func TestScopesOfAMember(t *testing.T) {
	t.Parallel()
	all := fermata.Scopes
	tests := []struct {
		name   string
		member fermata.Member
		own    []fermata.Scope
		limit  []fermata.Scope
	}{
		{"viewer", fermata.Member{Role: "viewer"}, []fermata.Scope{"read"}, []fermata.Scope{"read"}},
		{"responder", fermata.Member{Role: "responder"}, []fermata.Scope{"read", "ask", "answer"}, []fermata.Scope{"read", "ask", "answer"}},
		{"responder in one project", fermata.Member{Role: "viewer", Projects: map[string]fermata.Role{"web": "responder"}}, []fermata.Scope{"read", "ask", "answer"}, []fermata.Scope{"read", "ask", "answer"}},
		{"operator", fermata.Member{Role: "operator"}, []fermata.Scope{"read", "ask", "answer", "work"}, []fermata.Scope{"read", "ask", "answer", "work"}},
		{"admin", fermata.Member{Role: "admin"}, []fermata.Scope{"admin"}, all},
		{"nobody", fermata.Member{}, []fermata.Scope{"read"}, []fermata.Scope{"read"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.member.Scopes(); !slices.Equal(got, tt.own) {
				t.Errorf("own %v, want %v", got, tt.own)
			}
			got, want := slices.Sorted(slices.Values(tt.member.LimitScopes(all))), slices.Sorted(slices.Values(tt.limit))
			if !slices.Equal(got, want) {
				t.Errorf("limited to %v, want %v", got, want)
			}
		})
	}
}

func TestCanonicalEmail(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" Ann@Example.com ": "ann@example.com", "a@b": "a@b", "": "", "ann": "", "Ann <ann@example.com>": "", "a@b\r\nBcc: c@d": "",
		"a@b,c@d": "", "a b@c": "",
	} {
		if got := fermata.CanonicalEmail(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestAssuranceOfAnAnswer(t *testing.T) {
	t.Parallel()
	policy := fermata.DefaultPolicy()
	policy.LeastAssurance = map[fermata.Risk]fermata.Assurance{"high": "session", "critical": "passkey"}
	if err := policy.Check(); err != nil {
		t.Fatal(err)
	}
	two := &fermata.Quorum{Required: 2}
	tests := []struct {
		name   string
		risk   fermata.Risk
		quorum *fermata.Quorum
		least  fermata.Assurance
	}{
		{"low", "low", nil, ""}, {"high", "high", nil, "session"}, {"critical", "critical", nil, "passkey"},
		{"critical by two", "critical", two, "session"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, known := range fermata.Assurances {
				a := fermata.Ask{Type: fermata.Approval, Question: "run?", Risk: tt.risk, Approvals: tt.quorum}
				q, err := a.Open("q_1", runningTask(), agent, policy, noon)
				if err != nil {
					t.Fatal(err)
				}
				if q.LeastAssurance != tt.least {
					t.Fatalf("needs %q, want %q", q.LeastAssurance, tt.least)
				}
				c := person("ann")
				c.Assurance = known
				if err := q.CheckMayAnswer(c); err != nil {
					t.Errorf("%s is not shown the question: %v", known, err)
				}
				answer := fermata.Answer{Answer: "approve"}
				if known == fermata.AssurancePasskey {
					answer = sign(t, q, answer, c, noon)
				}
				_, err = q.ApplyAnswer(answer, c, noon)
				enough := tt.least == "" || known.AtLeast(tt.least)
				if (err == nil) != enough || !enough && fermata.CodeOf(err) != fermata.CodeNotEligible {
					t.Errorf("%s: %v", known, err)
				}
			}
		})
	}
}

func TestPolicyOfAssurance(t *testing.T) {
	t.Parallel()
	for _, least := range []map[fermata.Risk]fermata.Assurance{{"high": "link"}, {"high": "strong"}, {"huge": "session"}, {"low": ""}} {
		policy := fermata.DefaultPolicy()
		policy.LeastAssurance = least
		if fermata.CodeOf(policy.Check()) != fermata.CodeInvalidRequest {
			t.Errorf("%v: %v", least, policy.Check())
		}
	}
}

// TestCriticalNeedsTwoOrAPasskey checks that without a policy, a critical
// question needs a passkey or two people who are signed in. A token alone never
// decides it.
func TestCriticalNeedsTwoOrAPasskey(t *testing.T) {
	t.Parallel()
	two := &fermata.Quorum{Required: 2}
	for _, tt := range []struct {
		name   string
		risk   fermata.Risk
		quorum *fermata.Quorum
		policy map[fermata.Risk]fermata.Assurance
		least  fermata.Assurance
	}{
		{"by one", "critical", nil, nil, "passkey"}, {"by two", "critical", two, nil, "session"}, {"high", "high", nil, nil, "session"}, {"high, by the policy", "high", nil, map[fermata.Risk]fermata.Assurance{"high": "channel"}, "channel"},
		{"the policy asks for less", "critical", nil, map[fermata.Risk]fermata.Assurance{"critical": "channel"}, "channel"},
		{"the policy is of another risk", "critical", nil, map[fermata.Risk]fermata.Assurance{"high": "session"}, "passkey"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			policy := fermata.DefaultPolicy()
			policy.LeastAssurance = tt.policy
			a := fermata.Ask{Type: fermata.Approval, Question: "run?", Risk: tt.risk, Approvals: tt.quorum}
			q, err := a.Open("q_1", runningTask(), agent, policy, noon)
			if err != nil {
				t.Fatal(err)
			}
			if q.LeastAssurance != tt.least {
				t.Errorf("needs %q, want %q", q.LeastAssurance, tt.least)
			}
			// A question that an earlier version opened has no assurance of its own.
			if tt.policy == nil {
				q.LeastAssurance = ""
			}
			for _, known := range fermata.Assurances {
				c := person("ann")
				c.Assurance = known
				if err := q.CheckMayDecide(c); (err == nil) != (tt.least == "" || known.AtLeast(tt.least)) {
					t.Errorf("%s: %v", known, err)
				}
			}
		})
	}
}

// TestWhoChangesWhatIsOwn checks that a person's own things can be changed in a
// browser or with a token that may answer. A token that may only ask or read
// must not change them.
func TestWhoChangesWhatIsOwn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*fermata.Caller)
		may    bool
	}{
		"a browser":            {func(c *fermata.Caller) { c.SessionID = "ses_1" }, true},
		"a viewer's browser":   {func(c *fermata.Caller) { c.SessionID, c.Scopes = "ses_1", []fermata.Scope{fermata.ScopeRead} }, true},
		"a token that answers": {func(c *fermata.Caller) { c.TokenID, c.Scopes = "tok_1", []fermata.Scope{fermata.ScopeAnswer} }, true},
		"an admin's token":     {func(c *fermata.Caller) { c.TokenID, c.Scopes = "tok_1", []fermata.Scope{fermata.ScopeAdmin} }, true},
		"a token that asks":    {func(c *fermata.Caller) { c.TokenID, c.Scopes = "tok_1", []fermata.Scope{fermata.ScopeAsk} }, false},
		"a token that reads":   {func(c *fermata.Caller) { c.TokenID, c.Scopes = "tok_1", []fermata.Scope{fermata.ScopeRead} }, false},
		"an agent": {func(c *fermata.Caller) {
			*c = fermata.Caller{Kind: fermata.ActorAgent, TokenID: "tok_1", Scopes: []fermata.Scope{fermata.ScopeAnswer}}
		}, false},
	} {
		c := person("ann")
		tt.change(&c)
		if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); (err == nil) != tt.may {
			t.Errorf("%s: %v", name, err)
		}
	}
}
