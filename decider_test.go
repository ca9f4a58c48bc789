package fermata

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeciders(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	members := []*Member{
		{ID: "mem_1", Handle: "zoe", Role: RoleResponder},
		{ID: "mem_2", Handle: "vic", Role: RoleViewer},
		{ID: "mem_3", Handle: "ann", Role: RoleNone, Projects: map[string]Role{"web": RoleOperator}},
		{ID: "mem_4", Handle: "gone", Role: RoleAdmin, DisabledAt: &now},
		{ID: "mem_5", Handle: "asks", Role: RoleAdmin},
	}
	q := &Question{
		Project: "web", Status: Pending,
		Asked: Asked{Risk: RiskCritical, Approvals: &Quorum{Required: 2}, AskedBy: Actor{Kind: ActorHuman, ID: "mem_5"}},
	}
	want := Deciders{
		Items: []Decider{
			{Handle: "ann", Role: RoleOperator, May: true},
			{Handle: "zoe", Role: RoleResponder, May: true},
			{Handle: "asks", Role: RoleAdmin, Why: "the person who asked may not approve"},
			{Handle: "gone", Role: RoleAdmin, Why: "the member is disabled"},
			{Handle: "vic", Role: RoleViewer, Why: "the role viewer may not answer in the project web"},
		},
		LeastAssurance: AssuranceSession, LeastWithoutSignIn: AssuranceSession, Required: 2,
	}
	if diff := cmp.Diff(want, q.Deciders(members)); diff != "" {
		t.Error(diff)
	}
	q = &Question{Project: "web", Assignees: []string{"zoe"}, Status: Pending, Asked: Asked{Risk: RiskLow}}
	d := q.Deciders(members[:3])
	if d.Required != 1 || d.LeastAssurance != "" || d.LeastWithoutSignIn != AssuranceLink {
		t.Errorf("a low risk needs %+v", d)
	}
	if d.Items[0].Handle != "zoe" || !d.Items[0].May || d.Items[1].Why != "the question is for zoe" {
		t.Errorf("of an assigned question: %+v", d.Items)
	}
}
