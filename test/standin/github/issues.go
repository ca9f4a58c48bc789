package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

func (s *Server) getSelf(c *call) (int, any) {
	if c.by.app {
		return http.StatusForbidden, message("Resource not accessible by integration")
	}
	if s.scopes != "" {
		c.header.Set("X-OAuth-Scopes", s.scopes)
	}
	return http.StatusOK, c.by.user
}

func (s *Server) getByID(c *call) (int, any) {
	for _, u := range s.users {
		if strconv.FormatInt(u.ID, 10) == c.PathValue("id") {
			return http.StatusOK, u
		}
	}
	return http.StatusNotFound, message("Not Found")
}

func (s *Server) getUser(c *call) (int, any) {
	if u := s.users[c.PathValue("login")]; u != nil {
		return http.StatusOK, u
	}
	return http.StatusNotFound, message("Not Found")
}

func (s *Server) isKnownRepository(c *call) bool {
	return c.PathValue("owner") == Owner && c.PathValue("repo") == Repo
}

// canWrite reports whether the caller has write access.
func (s *Server) canWrite(c *call) bool {
	if c.by.app {
		return s.permissions["issues"] == "write"
	}
	return slices.Contains([]string{"admin", "maintain", "write"}, s.rights[c.by.Login])
}

func (s *Server) getRepository(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	return http.StatusOK, map[string]any{
		"full_name": Repository, "archived": s.archived, "default_branch": Base,
		"permissions": map[string]bool{"push": s.canWrite(c), "pull": true},
	}
}

// getPermission reports maintain as write and triage as read, as GitHub does.
func (s *Server) getPermission(c *call) (int, any) {
	u := s.users[c.PathValue("login")]
	switch {
	case !s.isKnownRepository(c) || u == nil:
		return http.StatusNotFound, message("Not Found")
	case !s.canWrite(c):
		return http.StatusForbidden, message("Must have push access to view collaborator permission.")
	}
	role := s.rights[u.Login]
	if role == "" {
		role = "none"
	}
	permission := role
	switch role {
	case "maintain":
		permission = "write"
	case "triage":
		permission = "read"
	}
	return http.StatusOK, map[string]any{"permission": permission, "role_name": role, "user": u}
}

// issue finds the issue that the request names.
func (s *Server) issue(c *call) (int, *issue) {
	n, err := strconv.Atoi(c.PathValue("number"))
	if err != nil || !s.isKnownRepository(c) {
		return 0, nil
	}
	return n, s.issues[n]
}

func (s *Server) wireIssue(n int, i *issue) map[string]any {
	labels := []map[string]string{}
	for _, l := range i.labels {
		labels = append(labels, map[string]string{"name": l})
	}
	people := slices.Clone(i.assignees)
	if people == nil {
		people = []*user{}
	}
	wire := map[string]any{
		"number": n, "title": cmp.Or(i.title, "An issue"), "body": i.body, "state": cmp.Or(i.state, "open"), "state_reason": i.reason,
		"repository_url": s.URL + "/repos/" + Repository, "labels": labels, "assignees": people, "locked": i.locked, "html_url": fmt.Sprintf("%s/%s/issues/%d", s.URL, Repository, n),
		"user": s.users[Machine], "created_at": "2026-01-02T03:04:05Z", "updated_at": i.changed.Format(time.RFC3339),
	}
	if i.pull {
		wire["pull_request"] = map[string]string{"url": fmt.Sprintf("%s/repos/%s/pulls/%d", s.URL, Repository, n)}
	}
	return wire
}

func (s *Server) getIssue(c *call) (int, any) {
	n, i := s.issue(c)
	if i == nil {
		return http.StatusNotFound, message("Not Found")
	}
	return http.StatusOK, s.wireIssue(n, i)
}

func (s *Server) wireComment(c *comment) map[string]any {
	w := map[string]any{
		"id": c.id, "body": c.body, "user": c.by,
		"created_at": c.created.Format(time.RFC3339), "updated_at": c.updated.Format(time.RFC3339),
		"html_url":           fmt.Sprintf("%s/%s/issues/%d#issuecomment-%d", s.URL, Repository, c.number, c.id),
		"issue_url":          fmt.Sprintf("%s/repos/%s/issues/%d", s.URL, Repository, c.number),
		"author_association": "OWNER", // the same for every author, so that Fermata cannot rely on it
	}
	if c.viaApp != 0 {
		w["performed_via_github_app"] = map[string]any{"id": c.viaApp}
	}
	return w
}

// getComments lists the comments of an issue by id, or the comments of the
// repository in the requested order.
func (s *Server) getComments(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	number := 0
	if c.PathValue("number") != "" {
		n, i := s.issue(c)
		if i == nil {
			return http.StatusNotFound, message("Not Found")
		}
		number = n
	}
	query := c.URL.Query()
	since, _ := time.Parse(time.RFC3339, query.Get("since"))
	var found []*comment
	for _, one := range s.comments {
		if (number == 0 || one.number == number) && !one.updated.Before(since) {
			found = append(found, one)
		}
	}
	if number == 0 && query.Get("sort") == "updated" {
		slices.SortStableFunc(found, func(a, b *comment) int { return a.updated.Compare(b.updated) })
	}
	per, page := positiveOr(query.Get("per_page"), 30), positiveOr(query.Get("page"), 1)
	per = min(per, 100)
	s.setNextLink(c, page, per, len(found))
	list := []map[string]any{}
	for _, one := range found[min(len(found), (page-1)*per):min(len(found), page*per)] {
		list = append(list, s.wireComment(one))
	}
	return http.StatusOK, list
}

func positiveOr(text string, otherwise int) int {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// maxCommentLength is GitHub's limit for a comment, in characters.
const maxCommentLength = 65536

func (s *Server) body(c *call) (string, map[string]string) {
	var sent struct {
		Body string `json:"body"`
	}
	if err := json.NewDecoder(c.Body).Decode(&sent); err != nil || sent.Body == "" {
		return "", message("Validation Failed")
	}
	if utf8.RuneCountInString(sent.Body) > maxCommentLength {
		return "", message("Body is too long (maximum is 65536 characters)")
	}
	return sent.Body, nil
}

func (s *Server) postComment(c *call) (int, any) {
	n, i := s.issue(c)
	switch {
	case i == nil:
		return http.StatusNotFound, message("Not Found")
	case s.archived || i.locked && !s.canWrite(c) || c.by.app && !s.canWrite(c):
		return http.StatusForbidden, message("Resource not accessible by integration")
	}
	body, wrong := s.body(c)
	if wrong != nil {
		return http.StatusUnprocessableEntity, wrong
	}
	one := s.addComment(n, c.by.user, body)
	if c.by.app {
		one.viaApp = AppID
	}
	s.sendCommentEvent("created", one, nil)
	return http.StatusCreated, s.wireComment(one)
}

func (s *Server) addComment(number int, by *user, body string) *comment {
	s.lastID++
	now := s.now().UTC().Truncate(time.Second)
	one := &comment{id: s.lastID, number: number, by: by, body: body, created: now, updated: now}
	s.comments = append(s.comments, one)
	return one
}

func (s *Server) comment(c *call) *comment {
	if !s.isKnownRepository(c) {
		return nil
	}
	for _, one := range s.comments {
		if strconv.FormatInt(one.id, 10) == c.PathValue("id") {
			return one
		}
	}
	return nil
}

func (s *Server) patchComment(c *call) (int, any) {
	one := s.comment(c)
	switch {
	case one == nil:
		return http.StatusNotFound, message("Not Found")
	case one.by != c.by.user && !s.canWrite(c):
		return http.StatusForbidden, message("Must have admin rights to Repository.")
	}
	body, wrong := s.body(c)
	if wrong != nil {
		return http.StatusUnprocessableEntity, wrong
	}
	s.changeComment(one, body, c.by.user)
	return http.StatusOK, s.wireComment(one)
}

func (s *Server) changeComment(one *comment, body string, by *user) {
	one.body, one.updated = body, s.now().UTC().Truncate(time.Second)
	s.sendCommentEvent("edited", one, by)
}

func (s *Server) getReactions(c *call) (int, any) {
	one := s.comment(c)
	if one == nil {
		return http.StatusNotFound, message("Not Found")
	}
	list := []map[string]any{}
	for _, r := range one.reactions {
		list = append(list, map[string]any{"content": r.content, "user": r.by})
	}
	return http.StatusOK, list
}

func (s *Server) postReaction(c *call) (int, any) {
	one := s.comment(c)
	if one == nil {
		return http.StatusNotFound, message("Not Found")
	}
	var sent reactionWire
	if json.NewDecoder(c.Body).Decode(&sent) != nil || !slices.Contains([]string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}, sent.Content) {
		return http.StatusUnprocessableEntity, message("Validation Failed")
	}
	r := reaction{c.by.user, sent.Content}
	if slices.Contains(one.reactions, r) {
		return http.StatusOK, sent
	}
	one.reactions = append(one.reactions, r)
	return http.StatusCreated, sent
}

type reactionWire struct {
	Content string `json:"content"`
}

func (s *Server) postLabels(c *call) (int, any) {
	n, i := s.issue(c)
	switch {
	case i == nil:
		return http.StatusNotFound, message("Not Found")
	case !s.canWrite(c):
		return http.StatusForbidden, message("Resource not accessible")
	}
	var sent struct {
		Labels []string `json:"labels"`
	}
	raw := json.NewDecoder(c.Body)
	var list []string
	if err := raw.Decode(&list); err != nil {
		return http.StatusUnprocessableEntity, message("Validation Failed")
	}
	sent.Labels = list
	for _, l := range sent.Labels {
		s.addLabel(n, i, l, c.by.user)
	}
	return http.StatusOK, s.labels(i)
}

func (s *Server) labels(i *issue) []map[string]string {
	list := []map[string]string{}
	for _, l := range i.labels {
		list = append(list, map[string]string{"name": l})
	}
	return list
}

func (s *Server) deleteLabel(c *call) (int, any) {
	_, i := s.issue(c)
	if i == nil || !slices.Contains(i.labels, c.PathValue("label")) {
		return http.StatusNotFound, message("Label does not exist")
	}
	if !s.canWrite(c) {
		return http.StatusForbidden, message("Resource not accessible")
	}
	i.labels = slices.DeleteFunc(i.labels, func(l string) bool { return l == c.PathValue("label") })
	return http.StatusOK, s.labels(i)
}

func (s *Server) postAssignees(c *call) (int, any) {
	return s.assign(c, func(i *issue, u *user) {
		// People that may not be assigned are left out silently, as at GitHub.
		if s.rights[u.Login] != "" && !slices.Contains(i.assignees, u) {
			i.assignees = append(i.assignees, u)
		}
	}, http.StatusCreated)
}

func (s *Server) deleteAssignees(c *call) (int, any) {
	return s.assign(c, func(i *issue, u *user) {
		i.assignees = slices.DeleteFunc(i.assignees, func(have *user) bool { return have == u })
	}, http.StatusOK)
}

func (s *Server) assign(c *call, each func(*issue, *user), status int) (int, any) {
	n, i := s.issue(c)
	switch {
	case i == nil:
		return http.StatusNotFound, message("Not Found")
	case !s.canWrite(c):
		return http.StatusForbidden, message("Resource not accessible")
	}
	var sent struct {
		Assignees []string `json:"assignees"`
	}
	if err := json.NewDecoder(c.Body).Decode(&sent); err != nil {
		return http.StatusUnprocessableEntity, message("Validation Failed")
	}
	for _, login := range sent.Assignees {
		if u := s.users[login]; u != nil {
			each(i, u)
		}
	}
	return status, s.wireIssue(n, i)
}
