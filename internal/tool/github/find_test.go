package github_test

import (
	"slices"
	"testing"

	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// numbers returns the numbers of the issues that a tool found.
func numbers(t *testing.T, out map[string]any) []int {
	t.Helper()
	found := []int{}
	for _, one := range out["issues"].([]any) {
		found = append(found, one.(map[string]any)["number"].(int))
	}
	return found
}

// addIssues creates the issues 11 to 13, and the pull request 14.
func addIssues(w *world) {
	w.Helper()
	for n := 11; n <= 13; n++ {
		w.hub.AddIssue(n)
	}
	w.hub.AddPull(14)
	w.hub.WriteIssue(11, "The gate sticks", "Since *Monday*.")
	w.hub.WriteIssue(12, "The door sticks", "")
	w.hub.WriteIssue(13, "Paint the gate", "")
	w.hub.AddUser("ada", "write")
	w.do("github_add_labels", map[string]any{"issue": 11, "labels": []any{"bug"}})
	w.do("github_add_labels", map[string]any{"issue": 12, "labels": []any{"bug", "needs care"}})
	w.do("github_assign", map[string]any{"issue": 12, "assignees": []any{"ada"}})
	w.do("update_github_issue", map[string]any{"issue": 13, "state": "closed"})
}

func TestListIssues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	addIssues(w)
	for name, tt := range map[string]struct {
		input map[string]any
		want  []int
	}{
		"open ones, the newest first": {nil, []int{12, 11, standin.Issue}},
		"the oldest first":            {map[string]any{"order": "asc"}, []int{standin.Issue, 11, 12}},
		"closed ones":                 {map[string]any{"state": "closed"}, []int{13}},
		"all of them":                 {map[string]any{"state": "all", "order": "asc"}, []int{standin.Issue, 11, 12, 13}},
		"with a label":                {map[string]any{"labels": []any{"bug"}}, []int{12, 11}},
		"with two labels":             {map[string]any{"labels": []any{"bug", "needs care"}}, []int{12}},
		"of somebody":                 {map[string]any{"assignee": "ada"}, []int{12}},
		"of nobody":                   {map[string]any{"assignee": "none"}, []int{11, standin.Issue}},
		"changed since then":          {map[string]any{"since": "2026-01-01T00:00:00Z"}, []int{12, 11}},
		"by a stranger":               {map[string]any{"author": "stranger"}, []int{}},
	} {
		if out := w.do("github_list_issues", tt.input); !slices.Equal(numbers(t, out), tt.want) || out["more"] != false {
			t.Errorf("%s: got %v, more %v, want %v", name, numbers(t, out), out["more"], tt.want)
		}
	}
	out := w.do("github_list_issues", map[string]any{"limit": 2})
	if !slices.Equal(numbers(t, out), []int{12, 11}) || out["more"] != true {
		t.Errorf("of three, two are %v, more %v", numbers(t, out), out["more"])
	}
	first := out["issues"].([]any)[0].(map[string]any)
	if first["title"] != "The door sticks" || !has(first["labels"], "needs care") || !has(first["assignees"], "ada") || first["repository"] != standin.Repository {
		t.Errorf("got %v", first)
	}
	w.mustFail("github_list_issues", map[string]any{"since": "Monday"}, true, `since: "Monday" is no instant`)
	w.mustFail("github_list_issues", map[string]any{"repo": "evil/other"}, true, "may not work on evil/other")
}

// TestListManyIssues checks that pull requests between the issues do not hide that there are more pages.
func TestListManyIssues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := 1000; n < 1250; n++ {
		w.hub.AddPull(n)
	}
	for n := 100; n < 220; n++ {
		w.hub.AddIssue(n)
	}
	out := w.do("github_list_issues", map[string]any{"limit": 200})
	if found := numbers(t, out); len(found) != 121 || found[0] != 219 || found[120] != standin.Issue || out["more"] != false {
		t.Errorf("found %d, more %v", len(found), out["more"])
	}
	if out := w.do("github_list_issues", map[string]any{"limit": 120}); len(numbers(t, out)) != 120 || out["more"] != true {
		t.Errorf("found %d, more %v", len(numbers(t, out)), out["more"])
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	addIssues(w)
	for name, tt := range map[string]struct {
		input map[string]any
		want  []int
	}{
		"words":                          {map[string]any{"query": "gate"}, []int{13, 11}},
		"exact words":                    {map[string]any{"query": `"door sticks"`}, []int{12}},
		"open ones":                      {map[string]any{"query": "gate is:open"}, []int{11}},
		"a label, but not another":       {map[string]any{"query": `is:open label:bug -label:"needs care"`}, []int{11}},
		"of nobody, the oldest first":    {map[string]any{"query": "is:open no:assignee", "sort": "created", "order": "asc"}, []int{standin.Issue, 11}},
		"pull requests":                  {map[string]any{"query": "is:open", "kind": "pull_requests"}, []int{14}},
		"words that look like an option": {map[string]any{"query": "user login"}, []int{}},
	} {
		for _, settings := range []map[string]any{w.hub.Settings(), w.hub.AppSettings()} {
			w.settings = settings
			if out := w.do("github_search", tt.input); !slices.Equal(numbers(t, out), tt.want) || out["total"] != len(tt.want) {
				t.Errorf("%s: got %v of %v, want %v", name, numbers(t, out), out["total"], tt.want)
			}
		}
	}
	if out := w.do("github_search", map[string]any{"query": "label:bug", "limit": 1}); !slices.Equal(numbers(t, out), []int{12}) || out["total"] != 2 {
		t.Errorf("got %v of %v", numbers(t, out), out["total"])
	}
	for _, query := range []string{"repo:evil/other secrets", "gate Org:evil", "(user:evil OR gate)", "-repo:octo/hello"} {
		w.mustFail("github_search", map[string]any{"query": query}, true, "names a place", "leave it out")
	}
	w.mustFail("github_search", map[string]any{"repo": "evil/other", "query": "gate"}, true, "may not work on evil/other")
	w.mustFail("github_search", map[string]any{"query": "color:red"}, true, "the qualifier color")
}
