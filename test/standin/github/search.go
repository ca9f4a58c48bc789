package github

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// searchRoutes adds the routes that list and search issues.
func (s *Server) searchRoutes(handle func(string, func(*call) (int, any))) {
	handle("GET /repos/{owner}/{repo}/issues", s.getIssues)
	handle("GET /search/issues", s.getSearch)
}

// getIssues lists issues and pull requests.
func (s *Server) getIssues(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	query := c.URL.Query()
	since, _ := time.Parse(time.RFC3339, query.Get("since"))
	wanted := filter{
		state: cmp.Or(query.Get("state"), "open"), assignee: query.Get("assignee"), author: query.Get("creator"), since: since,
	}
	if labels := query.Get("labels"); labels != "" {
		wanted.labels = strings.Split(labels, ",")
	}
	return http.StatusOK, s.page(c, s.findIssues(wanted, query.Get("sort"), cmp.Or(query.Get("direction"), "desc")))
}

// getSearch knows the qualifiers that tests use, and refuses others. It also refuses a search by an App without a kind
// (is:issue or is:pull-request).
func (s *Server) getSearch(c *call) (int, any) {
	query := c.URL.Query()
	wanted := filter{state: "all"}
	inRepository, kinds := true, 0
	for _, term := range terms(query.Get("q")) {
		name, value, qualified := strings.Cut(term, ":")
		value = strings.Trim(value, `"`)
		switch {
		case !qualified:
			wanted.words = append(wanted.words, strings.Trim(term, `"`))
		case name == "repo":
			inRepository = inRepository && strings.EqualFold(value, Repository)
		case name == "is" && (value == "issue" || value == "pull-request"):
			kinds++
			wanted.kind = value
		case name == "is" || name == "state":
			wanted.state = value
		case name == "label":
			wanted.labels = append(wanted.labels, value)
		case name == "-label":
			wanted.withoutLabels = append(wanted.withoutLabels, value)
		case name == "no" && value == "assignee":
			wanted.assignee = "none"
		case name == "assignee":
			wanted.assignee = value
		case name == "author":
			wanted.author = value
		default:
			return validationFailed(map[string]string{"resource": "Search", "field": "q", "code": "invalid", "message": "the qualifier " + name + " is not known here"})
		}
	}
	if c.by.app && kinds != 1 {
		return validationFailed(map[string]string{"resource": "Search", "field": "q", "code": "invalid", "message": "Query must include 'is:issue' or 'is:pull-request'"})
	}
	var all []int
	if inRepository {
		all = s.findIssues(wanted, query.Get("sort"), cmp.Or(query.Get("order"), "desc"))
	}
	return http.StatusOK, map[string]any{"total_count": len(all), "incomplete_results": false, "items": s.page(c, all)}
}

// term matches a word, a quoted text, or a qualifier with either of them.
var term = regexp.MustCompile(`[^\s"]*"[^"]*"|\S+`)

func terms(query string) []string { return term.FindAllString(query, -1) }

// filter selects the issues to return.
type filter struct {
	kind, state, assignee, author string
	labels, withoutLabels, words  []string
	since                         time.Time
}

func (f *filter) fits(i *issue) bool {
	has := func(label string) bool { return slices.Contains(i.labels, label) }
	text := strings.ToLower(cmp.Or(i.title, "An issue") + " " + i.body)
	switch {
	case f.kind == "issue" && i.pull, f.kind == "pull-request" && !i.pull,
		f.state != "all" && f.state != cmp.Or(i.state, "open"),
		f.assignee == "none" && len(i.assignees) > 0, f.assignee == "*" && len(i.assignees) == 0,
		f.author != "" && f.author != Machine,
		i.changed.Before(f.since):
		return false
	}
	if f.assignee != "" && f.assignee != "none" && f.assignee != "*" &&
		!slices.ContainsFunc(i.assignees, func(u *user) bool { return u.Login == f.assignee }) {
		return false
	}
	for _, w := range f.words {
		if !strings.Contains(text, strings.ToLower(w)) {
			return false
		}
	}
	return !slices.ContainsFunc(f.labels, func(l string) bool { return !has(l) }) && !slices.ContainsFunc(f.withoutLabels, has)
}

// findIssues lists the numbers of matching issues in the requested order.
func (s *Server) findIssues(f filter, by, order string) []int {
	var all []int
	for _, n := range slices.Sorted(maps.Keys(s.issues)) {
		if f.fits(s.issues[n]) {
			all = append(all, n)
		}
	}
	if by == "updated" {
		slices.SortStableFunc(all, func(a, b int) int { return s.issues[a].changed.Compare(s.issues[b].changed) })
	}
	if order == "desc" {
		slices.Reverse(all)
	}
	return all
}

// page returns the requested page.
func (s *Server) page(c *call, all []int) []map[string]any {
	query := c.URL.Query()
	per, page := min(positiveOr(query.Get("per_page"), 30), 100), positiveOr(query.Get("page"), 1)
	s.setNextLink(c, page, per, len(all))
	list := []map[string]any{}
	for _, n := range all[min(len(all), (page-1)*per):min(len(all), page*per)] {
		list = append(list, s.wireIssue(n, s.issues[n]))
	}
	return list
}
