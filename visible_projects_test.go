package fermata

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestVisibleProjects(t *testing.T) {
	t.Parallel()
	person := func(role Role, projects map[string]Role) Caller {
		return Caller{Kind: ActorHuman, Role: role, Projects: projects}
	}
	for name, tt := range map[string]struct {
		caller           Caller
		web, shop, every bool
	}{
		"a viewer":                         {person(RoleViewer, nil), true, true, true},
		"a viewer, and more in one":        {person(RoleViewer, map[string]Role{"web": RoleOperator}), true, true, true},
		"a viewer from whom one is hidden": {person(RoleViewer, map[string]Role{"web": RoleNone}), false, true, false},
		"no role":                          {person(RoleNone, nil), false, false, false},
		"a role in one":                    {person(RoleNone, map[string]Role{"web": RoleViewer, "shop": RoleNone}), true, false, false},
		"an admin sees what is hidden":     {person(RoleAdmin, map[string]Role{"web": RoleNone}), true, true, true},
		"an agent":                         {Caller{Kind: ActorAgent}, true, true, true},
		"an agent whose token is for one":  {Caller{Kind: ActorAgent, TokenProjects: []string{"web"}}, true, false, false},
		"the server itself":                {Caller{Kind: ActorSystem}, true, true, true},
	} {
		seen := tt.caller.VisibleProjects()
		if seen.Has("web") != tt.web || seen.Has("shop") != tt.shop || seen.HasAll() != tt.every {
			t.Errorf("%s sees web: %t, shop: %t, every project: %t", name, seen.Has("web"), seen.Has("shop"), seen.HasAll())
		}
	}
}

func TestProjectsInBothSets(t *testing.T) {
	t.Parallel()
	web, shop := ProjectSet{Only: true, Names: []string{"web", "shop"}}, ProjectSet{Names: []string{"shop"}}
	for name, both := range map[string]ProjectSet{"one way": web.Intersect(shop), "the other way": shop.Intersect(web)} {
		if !both.Has("web") || both.Has("shop") || both.Has("desk") {
			t.Errorf("%s: %+v", name, both)
		}
	}
	if both := shop.Intersect(ProjectSet{Names: []string{"desk"}}); both.Has("shop") || both.Has("desk") || !both.Has("web") {
		t.Errorf("without two: %+v", both)
	}
	if !(ProjectSet{}).Intersect(ProjectSet{}).HasAll() {
		t.Error("every project and every project is not every project")
	}
}

// TestHiddenPlaces checks that no verb finds a task of a hidden project, and that every verb is refused for the project itself.
func TestHiddenPlaces(t *testing.T) {
	t.Parallel()
	c := Caller{Kind: ActorHuman, Role: RoleOperator, Projects: map[string]Role{"web": RoleNone}, Scopes: []Scope{ScopeAnswer, ScopeAsk, ScopeWork}}
	for _, v := range Verbs() {
		if v.IsPersonal() {
			continue
		}
		if err := c.CheckPermission(v, InTask(&Task{ID: "task_1", Project: "web"})); CodeOf(err) != CodeNotFound {
			t.Errorf("%s in a task of the hidden project: %v", v, err)
		}
		if err := c.CheckPermission(v, InProject("web")); CodeOf(err) != CodeForbidden {
			t.Errorf("%s in the hidden project: %v", v, err)
		}
		if err := c.CheckPermission(v, InEveryProject); CodeOf(err) != CodeForbidden {
			t.Errorf("%s in every project: %v", v, err)
		}
	}
	if err := c.CheckPermission(ToReadTasks, InTask(&Task{ID: "task_1", Project: "shop"})); err != nil {
		t.Errorf("in another project: %v", err)
	}
}

func TestOnlyWhatIsSaidOfVisibleProjects(t *testing.T) {
	t.Parallel()
	c := Caller{Kind: ActorHuman, Role: RoleNone, Projects: map[string]Role{"web": RoleViewer}}
	m := &Member{Projects: map[string]Role{"web": RoleViewer, "shop": RoleOperator}}
	m.HideProjectsFrom(c)
	if diff := cmp.Diff(map[string]Role{"web": RoleViewer}, m.Projects); diff != "" {
		t.Error(diff)
	}
	risks := map[string]Risk{"shop": RiskHigh}
	if p := (Policy{ProjectRisk: risks}).ViewFor(c); p.ProjectRisk != nil || len(risks) != 1 {
		t.Errorf("the policy says %v, and the kept one %v", p.ProjectRisk, risks)
	}
	for query, want := range map[string]bool{"project=shop": false, "project=web&type=approval": true, "q=shop": true} {
		if got := (SavedView{OwnerID: "mem_2", Query: query}).IsVisibleTo(c); got != want {
			t.Errorf("the view %s is visible: %t", query, got)
		}
	}
}

func TestChangesRights(t *testing.T) {
	t.Parallel()
	c := Caller{Kind: ActorHuman, MemberID: "mem_1", SessionID: "ses_1"}
	for name, tt := range map[string]struct {
		event Event
		want  bool
	}{
		"the member's roles":     {Event{Type: EventMemberChanged, Data: json.RawMessage(`{"member_id":"mem_1"}`)}, true},
		"another member's roles": {Event{Type: EventMemberChanged, Data: json.RawMessage(`{"member_id":"mem_2"}`)}, false},
		"the session":            {Event{Type: EventMemberSignedOut, Data: json.RawMessage(`{"member_id":"mem_1","session_id":"ses_1"}`)}, true},
		"another session":        {Event{Type: EventMemberSignedOut, Data: json.RawMessage(`{"member_id":"mem_1","session_id":"ses_2"}`)}, false},
		"a token":                {Event{Type: EventTokenRevoked, Data: json.RawMessage(`{"token_id":"tok_1"}`)}, false},
		"an answer":              {Event{Type: EventQuestionAnswered, Data: json.RawMessage(`{"member_id":"mem_1"}`)}, false},
	} {
		if got := tt.event.ChangesRights(c); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if !(&Event{Type: EventTokenRevoked, Data: json.RawMessage(`{"token_id":"tok_1"}`)}).ChangesRights(Caller{Kind: ActorAgent, TokenID: "tok_1"}) {
		t.Error("the end of the token changes nothing")
	}
}
