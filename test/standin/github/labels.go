package github

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// labelEvent is an added label, in the form of the list of events.
type labelEvent struct {
	id     int64
	number int
	label  string
	by     *user
	at     time.Time
}

// Label adds a label to an issue, as an account.
func (s *Server) Label(login string, number int, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLabel(number, s.issues[number], name, s.ensureUser(login, "User"))
}

// Unlabel removes a label from an issue.
func (s *Server) Unlabel(number int, name string) {
	s.set(func() {
		i := s.issues[number]
		i.labels = slices.DeleteFunc(i.labels, func(l string) bool { return l == name })
	})
}

// Lag makes the list of events empty for the next looks requests.
func (s *Server) Lag(looks int) { s.set(func() { s.lagReads = looks }) }

// AddPull adds a pull request that can be labelled.
func (s *Server) AddPull(number int) { s.set(func() { s.issues[number] = &issue{pull: true} }) }

// addLabel stores a new label and sends the event for it. The event of a pull
// request has a different name.
func (s *Server) addLabel(number int, i *issue, name string, by *user) {
	if slices.Contains(i.labels, name) {
		return
	}
	i.labels = append(i.labels, name)
	s.lastID++
	i.changed = s.now().UTC().Truncate(time.Second)
	s.labelEvents = append(s.labelEvents, labelEvent{s.lastID, number, name, by, i.changed})
	event, thing := "issues", "issue"
	if i.pull {
		event, thing = "pull_request", "pull_request"
	}
	s.sendEvent(event, map[string]any{"action": "labeled", thing: s.wireIssue(number, i), "label": map[string]any{"id": 1, "name": name}, "sender": by})
}

// getEvents lists events of issues, such as labels, the newest first.
func (s *Server) getEvents(c *call) (int, any) {
	if !s.isKnownRepository(c) {
		return http.StatusNotFound, message("Not Found")
	}
	shown := s.labelEvents
	if s.lagReads > 0 {
		s.lagReads--
		shown = shown[:0]
	}
	query := c.URL.Query()
	per, page := min(positiveOr(query.Get("per_page"), 30), 100), positiveOr(query.Get("page"), 1)
	list := []map[string]any{}
	for _, l := range slices.Backward(shown) {
		event := map[string]any{
			"id": l.id, "event": "labeled", "actor": l.by, "label": map[string]string{"name": l.label, "color": "ededed"},
			"created_at": l.at.Format(time.RFC3339), "issue": s.wireIssue(l.number, s.issues[l.number]),
			"url": fmt.Sprintf("%s/repos/%s/issues/events/%d", s.URL, Repository, l.id),
		}
		list = append(list, event)
	}
	s.setNextLink(c, page, per, len(list))
	from := min(len(list), (page-1)*per)
	return http.StatusOK, list[from:min(len(list), from+per)]
}
