package fermata

import (
	"cmp"
	"slices"
)

// Decider says whether one member may decide a question.
type Decider struct {
	Handle string `json:"handle"`
	Name   string `json:"name,omitempty"`
	Role   Role   `json:"role" doc:"in the project of the question"`
	May    bool   `json:"may"`
	// Why is the reason why the member may not decide. It is empty if the member may.
	Why string `json:"why,omitempty" doc:"why not; absent where may is true"`
}

// Deciders lists the members with their right to decide a question, and the assurance that they need.
type Deciders struct {
	// Items are all members: first those who may decide, then the others, each part sorted by handle.
	Items []Decider `json:"items"`
	// LeastAssurance is the assurance that a person needs when signed in or with a token. LeastWithoutSignIn is the
	// assurance for an answer over a channel or by a link. An empty value means that any assurance is enough.
	LeastAssurance     Assurance `json:"least_assurance,omitempty" enum:"link,channel,session,passkey" doc:"how strongly somebody must be known who is signed in or has a token"`
	LeastWithoutSignIn Assurance `json:"least_outside,omitempty" enum:"link,channel,session,passkey" doc:"the same over a channel or by a link"`
	// Required is the number of people who must approve. It is 1 without a quorum.
	Required int `json:"required" doc:"how many must approve"`
}

// Deciders returns which of the members may decide the question. It uses the same rule as every answer.
func (q *Question) Deciders(members []*Member) Deciders {
	d := Deciders{Items: make([]Decider, 0, len(members)), LeastAssurance: q.requiredAssurance(false), LeastWithoutSignIn: q.requiredAssurance(true), Required: 1}
	if q.Approvals != nil {
		d.Required = max(1, q.Approvals.Required)
	}
	for _, m := range members {
		d.Items = append(d.Items, q.decider(m))
	}
	slices.SortFunc(d.Items, func(a, b Decider) int {
		switch {
		case a.May && !b.May:
			return -1
		case b.May && !a.May:
			return 1
		default:
			return cmp.Compare(a.Handle, b.Handle)
		}
	})
	return d
}

func (q *Question) decider(m *Member) Decider {
	c := m.Caller()
	// This check is about the person, so the scopes of a token do not matter.
	c.Scopes = []Scope{ScopeAnswer}
	d := Decider{Handle: m.Handle, Name: m.Name, Role: c.RoleIn(q.Project)}
	switch err := q.CheckMayAnswer(c); {
	case m.DisabledAt != nil:
		d.Why = "the member is disabled"
	case err != nil:
		d.Why = err.Error()
	default:
		d.May = true
	}
	return d
}
