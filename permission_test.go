package fermata_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

var updatePermissions = flag.Bool("update-permissions", false, "rewrite docs/reference/permissions.md")

// TestPermissionsPage checks that the documentation page agrees with the table.
func TestPermissionsPage(t *testing.T) {
	t.Parallel()
	const path = "docs/reference/permissions.md"
	want := fermata.PermissionsPage()
	if *updatePermissions {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is old: go test . -run TestPermissionsPage -update-permissions", path)
	}
}

// TestVerbsAreDistinct checks that every name and every operation has only one row.
func TestVerbsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, v := range fermata.Verbs() {
		if v.String() == "" || seen[v.String()] {
			t.Errorf("the verb %q is there twice, or has no name", v)
		}
		seen[v.String()] = true
	}
	if fermata.VerbOf("no-such-call") != (fermata.Verb{}) {
		t.Error("an operation without a row has a verb")
	}
}

// A person whose role lacks a right is not sent to make another token, which could not have it either.
func TestARightThatTheRoleLacks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		role  fermata.Role
		scope fermata.Scope
		want  string
	}{
		"a viewer who wants to administer": {fermata.RoleViewer, fermata.ScopeAdmin, "the role viewer does not have the right admin"},
		"a viewer who wants to answer":     {fermata.RoleViewer, fermata.ScopeAnswer, "the role viewer does not have the right answer"},
		"an admin's token to ask":          {fermata.RoleAdmin, fermata.ScopeAdmin, "the token does not have the scope admin"},
	} {
		caller := fermata.Caller{Kind: fermata.ActorHuman, TokenID: "tok_1", Name: "vera", Role: c.role, Scopes: []fermata.Scope{fermata.ScopeRead}}
		if err := caller.CheckScope(c.scope); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMay checks permissions by kind of caller, scope, role and resource.
func TestMay(t *testing.T) {
	t.Parallel()
	person := func(role fermata.Role, scopes ...fermata.Scope) fermata.Caller {
		return fermata.Caller{
			Kind: fermata.ActorHuman, MemberID: "mem_1", Name: "anna", Role: role, Scopes: scopes,
			Projects: map[string]fermata.Role{"secret": fermata.RoleViewer, "web": fermata.RoleOperator},
		}
	}
	agent := fermata.Caller{Kind: fermata.ActorAgent, TokenID: "tok_1", Scopes: fermata.Scopes}
	signedIn := person(fermata.RoleViewer, fermata.ScopeRead)
	signedIn.SessionID = "ses_1"
	operator, viewer := person(fermata.RoleOperator, fermata.ScopeAnswer, fermata.ScopeWork), person(fermata.RoleViewer, fermata.ScopeAnswer, fermata.ScopeWork)
	admin := person(fermata.RoleAdmin, fermata.ScopeAdmin)
	secret, web, shop := fermata.InProject("secret"), fermata.InProject("web"), fermata.InProject("shop")
	for name, c := range map[string]struct {
		who   fermata.Caller
		verb  fermata.Verb
		at    fermata.Resource
		lacks string
	}{
		"the zero verb":                        {admin, fermata.Verb{}, web, "nobody"},
		"no place":                             {operator, fermata.ToChangeGateRules, fermata.Resource{}, "operator"},
		"an operator of one project":           {viewer, fermata.ToChangeGateRules, web, ""},
		"a viewer there, operator elsewhere":   {operator, fermata.ToChangeGateRules, secret, "secret"},
		"an operator in general":               {operator, fermata.ToChangeGateRules, shop, ""},
		"every project, viewer in one":         {operator, fermata.ToChangeGateRules, fermata.InEveryProject, "every project"},
		"every project, admin":                 {admin, fermata.ToChangeGateRules, fermata.InEveryProject, ""},
		"an agent rules":                       {agent, fermata.ToChangeGateRules, web, "only people"},
		"an agent administers":                 {agent, fermata.ToManagePeople, fermata.InWorkspace, "scope admin"},
		"an agent answers":                     {agent, fermata.ToAnswer, web, "only people"},
		"an agent asks":                        {agent, fermata.ToAsk, web, ""},
		"without the scope":                    {operator, fermata.ToAsk, shop, ""},
		"answer alone asks":                    {person(fermata.RoleOperator, fermata.ScopeAnswer), fermata.ToAsk, shop, "scope ask"},
		"a viewer writes":                      {viewer, fermata.ToCancelTask, shop, "may only read"},
		"tools by a role in one project":       {viewer, fermata.ToDefineTools, fermata.InWorkspace, "whole workspace"},
		"whole, though a project is named":     {viewer, fermata.ToDefineTools, web, "whole workspace"},
		"own, by reading":                      {person(fermata.RoleOperator, fermata.ScopeRead), fermata.ToReadOwn, fermata.OfMember("mem_1"), ""},
		"own, changed by reading":              {person(fermata.RoleOperator, fermata.ScopeRead), fermata.ToChangeOwn, fermata.OfMember("mem_1"), "scope answer"},
		"own, changed by asking":               {person(fermata.RoleOperator, fermata.ScopeAsk), fermata.ToChangeOwn, fermata.OfMember("mem_1"), "scope answer"},
		"own, changed in a browser":            {signedIn, fermata.ToChangeOwn, signedIn.OwnResource(), ""},
		"answers with no right, in a browser":  {signedIn, fermata.ToAnswer, fermata.UnloadedResource, "the role viewer"},
		"another's":                            {operator, fermata.ToChangeOwn, fermata.OfMember("mem_2"), "right admin"},
		"another's, by an admin":               {admin, fermata.ToChangeOwn, fermata.OfMember("mem_2"), ""},
		"an agent's own":                       {agent, fermata.ToReadOwn, agent.OwnResource(), "only people"},
		"tokens with a token":                  {operator, fermata.ToMakeTokens, operator.OwnResource(), "browser"},
		"nobody reads":                         {fermata.Caller{}, fermata.ToReadTasks, fermata.UnloadedResource, "scope read"},
		"a role is asked where it is not read": {viewer, fermata.ToReadTasks, secret, ""},
	} {
		err := c.who.CheckPermission(c.verb, c.at)
		if got := fermata.CodeOf(err); (c.lacks == "") != (err == nil) || err != nil && (got != fermata.CodeForbidden || !strings.Contains(err.Error(), c.lacks)) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.lacks)
		}
	}
}
