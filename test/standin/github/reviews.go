package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// review is a review of a pull request, or a comment on its code.
type review struct {
	id     int64
	number int
	by     *user
	body   string
	// state is APPROVED, CHANGES_REQUESTED, COMMENTED or DISMISSED. It is empty for a comment on the code.
	state            string
	created, updated time.Time
	reactions        []string
}

func (s *Server) reviewRoutes(handle func(string, func(*call) (int, any))) {
	const repo = "/repos/{owner}/{repo}"
	handle("GET "+repo+"/pulls/{number}/reviews", func(c *call) (int, any) { return s.getReviews(c, true) })
	handle("GET "+repo+"/pulls/{number}/comments", func(c *call) (int, any) { return s.getReviews(c, false) })
	handle("POST "+repo+"/pulls/{number}/reviews", s.postReview)
	handle("POST "+repo+"/pulls/comments/{id}/reactions", s.postReviewReaction)
}

func (s *Server) wireReview(r *review) map[string]any {
	w := map[string]any{"id": r.id, "user": r.by, "body": r.body, "html_url": fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", s.URL, Repository, r.number, r.id)}
	if r.state != "" {
		w["state"], w["submitted_at"] = r.state, r.created.Format(time.RFC3339)
		return w
	}
	w["created_at"], w["updated_at"] = r.created.Format(time.RFC3339), r.updated.Format(time.RFC3339)
	return w
}

func (s *Server) getReviews(c *call, whole bool) (int, any) {
	n, err := strconv.Atoi(c.PathValue("number"))
	if err != nil || !s.isKnownRepository(c) || s.code.pulls[n] == nil {
		return http.StatusNotFound, message("Not Found")
	}
	since, _ := time.Parse(time.RFC3339, c.URL.Query().Get("since"))
	list := []map[string]any{}
	for _, r := range s.reviews {
		if r.number == n && (r.state != "") == whole && !r.updated.Before(since) {
			list = append(list, s.wireReview(r))
		}
	}
	if page, _ := strconv.Atoi(c.URL.Query().Get("page")); page > 1 {
		return http.StatusOK, []any{}
	}
	return http.StatusOK, list
}

func (s *Server) postReviewReaction(c *call) (int, any) {
	id, _ := strconv.ParseInt(c.PathValue("id"), 10, 64)
	i := slices.IndexFunc(s.reviews, func(r *review) bool { return r.id == id && r.state == "" })
	var sent reactionWire
	if i < 0 || json.NewDecoder(c.Body).Decode(&sent) != nil {
		return http.StatusNotFound, message("Not Found")
	}
	s.reviews[i].reactions = append(s.reviews[i].reactions, sent.Content)
	return http.StatusCreated, sent
}

// postReview submits a review. Nobody can approve their own pull request, and remarks are only accepted on changed
// lines. In this stand-in, the lines 1 to 100 of every file are changed.
func (s *Server) postReview(c *call) (int, any) {
	n, i := s.issue(c)
	if i == nil || s.code.pulls[n] == nil {
		return http.StatusNotFound, message("Not Found")
	}
	if !s.hasPermission(c, "pull_requests", "write") {
		return s.deny(c)
	}
	var sent struct {
		Body, Event string
		Commit      string `json:"commit_id"`
		Comments    []struct {
			Path, Body string
			Line       int
		}
	}
	_ = json.NewDecoder(c.Body).Decode(&sent)
	state := map[string]string{"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}[sent.Event]
	refuse := func(text string) (int, any) {
		return http.StatusUnprocessableEntity, map[string]any{"message": "Unprocessable Entity", "errors": []string{text}}
	}
	switch {
	case state == "":
		return refuse("Event is not included in the list")
	case s.code.pulls[n].by == c.by.user && sent.Event == "APPROVE":
		return refuse("Can not approve your own pull request")
	case s.code.pulls[n].by == c.by.user && sent.Event == "REQUEST_CHANGES":
		return refuse("Can not request changes on your own pull request")
	case sent.Commit != "" && s.code.commit(sent.Commit) == "":
		return refuse("The commit is not part of the pull request")
	}
	for _, one := range sent.Comments {
		if one.Line < 1 || one.Line > 100 {
			return refuse("Line could not be resolved")
		}
	}
	r := s.addReview(c.by.Login, n, state, sent.Body)
	for _, one := range sent.Comments {
		s.addReview(c.by.Login, n, "", fmt.Sprintf("%s:%d: %s", one.Path, one.Line, one.Body))
	}
	s.sendReviewEvent("pull_request_review", "submitted", r)
	return http.StatusOK, s.wireReview(r)
}

// OpenPull opens a pull request and returns its number.
func (s *Server) OpenPull() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 100 + len(s.code.pulls)
	s.issues[n] = &issue{pull: true}
	s.code.pulls[n] = &pull{title: "A change", state: "open", by: s.ensureUser("author", "User"), updated: s.now()}
	return n
}

// Review submits a review: approve, request_changes or comment.
func (s *Server) Review(login string, number int, event, text string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := map[string]string{"approve": "APPROVED", "request_changes": "CHANGES_REQUESTED", "comment": "COMMENTED"}[event]
	r := s.addReview(login, number, state, text)
	s.sendReviewEvent("pull_request_review", "submitted", r)
	return r.id
}

// ReviewComment writes a comment on the code of a pull request.
func (s *Server) ReviewComment(login string, number int, text string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.addReview(login, number, "", text)
	s.sendReviewEvent("pull_request_review_comment", "created", r)
	return r.id
}

// Dismiss dismisses a review. [Server.EditReview] changes its text.
func (s *Server) Dismiss(id int64) {
	s.changeReview(id, "dismissed", func(r *review) { r.state = "DISMISSED" })
}

// EditReview changes the text of a review.
func (s *Server) EditReview(id int64, text string) {
	s.changeReview(id, "edited", func(r *review) { r.body = text })
}

func (s *Server) changeReview(id int64, action string, change func(r *review)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reviews {
		if r.id == id {
			change(r)
			r.updated = s.now()
			s.code.pulls[r.number].updated = s.now()
			s.sendReviewEvent("pull_request_review", action, r)
		}
	}
}

func (s *Server) addReview(login string, number int, state, text string) *review {
	s.lastID++
	r := &review{id: s.lastID, number: number, by: s.ensureUser(login, "User"), body: text, state: state, created: s.now(), updated: s.now()}
	s.reviews = append(s.reviews, r)
	s.code.pulls[number].updated = s.now()
	return r
}

func (s *Server) sendReviewEvent(event, action string, r *review) {
	about := "review"
	if r.state == "" {
		about = "comment"
	}
	w := s.wireReview(r)
	if state, ok := w["state"].(string); ok {
		// Webhooks write the state in lower case; the lists do not.
		w["state"] = strings.ToLower(state)
	}
	s.sendEvent(event, map[string]any{"action": action, about: w, "pull_request": s.wirePull(r.number, s.code.pulls[r.number]), "sender": r.by})
}

// ReviewBodies returns the texts of the reviews of a pull request, and of the comments on its code.
func (s *Server) ReviewBodies(number int) (reviews, comments []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reviews {
		switch {
		case r.number != number:
		case r.state != "":
			reviews = append(reviews, r.body)
		default:
			comments = append(comments, r.body)
		}
	}
	return reviews, comments
}

// ReviewReactions returns the reactions on a comment on the code.
func (s *Server) ReviewReactions(id int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.reviews {
		if r.id == id {
			return slices.Clone(r.reactions)
		}
	}
	return nil
}
