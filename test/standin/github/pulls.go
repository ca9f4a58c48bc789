package github

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (s *Server) wirePull(n int, p *pull) map[string]any {
	end := func(branch string) map[string]any {
		return map[string]any{"label": Owner + ":" + branch, "ref": branch, "sha": s.code.head(branch)}
	}
	return map[string]any{
		"number": n, "title": p.title, "body": p.body, "state": p.state, "draft": p.draft, "user": p.by,
		"updated_at": p.updated.Format(time.RFC3339),
		"head":       end(p.head), "base": end(p.base), "html_url": fmt.Sprintf("%s/%s/pull/%d", s.URL, Repository, n),
	}
}

func (s *Server) getPull(c *call) (int, any) {
	n, err := strconv.Atoi(c.PathValue("number"))
	if err != nil || !s.isKnownRepository(c) || s.code.pulls[n] == nil {
		return http.StatusNotFound, message("Not Found")
	}
	return http.StatusOK, s.wirePull(n, s.code.pulls[n])
}

// getPulls lists pull requests, the newest first. A head without its owner
// filters nothing, as at GitHub.
func (s *Server) getPulls(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	query := c.URL.Query()
	owner, branch, _ := strings.Cut(query.Get("head"), ":")
	list := []map[string]any{}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(s.code.pulls))) {
		p := s.code.pulls[n]
		state, base := query.Get("state"), query.Get("base")
		if (state == "all" || p.state == state || state == "" && p.state == "open") &&
			(base == "" || p.base == base) && (branch == "" || owner == Owner && p.head == branch) {
			list = append(list, s.wirePull(n, p))
		}
	}
	return http.StatusOK, list
}

func (s *Server) postPull(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	if !s.hasPermission(c, "pull_requests", "write") {
		return s.deny(c)
	}
	var sent struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	_ = json.NewDecoder(c.Body).Decode(&sent)
	sent.Head = strings.TrimPrefix(sent.Head, Owner+":")
	if faults := s.pullFaults(sent.Title, sent.Head, sent.Base); len(faults) > 0 {
		return validationFailed(faults...)
	}
	n := slices.Max(append(slices.Collect(maps.Keys(s.issues)), 0)) + 1
	s.issues[n] = &issue{pull: true}
	s.code.pulls[n] = &pull{title: sent.Title, body: sent.Body, head: sent.Head, base: sent.Base, state: "open", draft: sent.Draft, by: c.by.user}
	return http.StatusCreated, s.wirePull(n, s.code.pulls[n])
}

// pullFaults returns the reasons why a pull request cannot be opened.
func (s *Server) pullFaults(title, head, base string) []map[string]string {
	fault := func(field, code string) []map[string]string {
		return []map[string]string{{"resource": "PullRequest", "field": field, "code": code}}
	}
	custom := func(text string) []map[string]string {
		return []map[string]string{{"resource": "PullRequest", "code": "custom", "message": text}}
	}
	switch {
	case title == "":
		return []map[string]string{{"resource": "Issue", "code": "missing_field", "field": "title"}}
	case s.code.head(base) == "":
		return fault("base", "invalid")
	case s.code.head(head) == "":
		return fault("head", "invalid")
	case slices.Contains(s.code.branches[base], s.code.head(head)):
		return custom(fmt.Sprintf("No commits between %s and %s", base, head))
	}
	for _, p := range s.code.pulls {
		if p.state == "open" && p.head == head && p.base == base {
			return custom("A pull request already exists for " + Owner + ":" + head + ".")
		}
	}
	return nil
}
