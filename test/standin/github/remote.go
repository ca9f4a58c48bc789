package github

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/test/standin"
)

var _ standin.Remote = (*Server)(nil)

// Kind returns the kind of the channel.
func (s *Server) Kind() string { return "github" }

// Settings returns the settings of a channel with the machine's token, which
// uses webhooks and also polls.
func (s *Server) Settings() map[string]any {
	return map[string]any{
		"token": Token, "api_url": s.API(), "repository": Repository, "issue": Issue,
		"webhook_secret": Secret, "poll": "1s", "waiting_label": "waiting for an answer", "timeout_label": "nobody answered",
	}
}

// AppSettings returns the settings of a channel that is a GitHub App.
func (s *Server) AppSettings() map[string]any {
	settings := s.Settings()
	delete(settings, "token")
	settings["app_id"], settings["installation_id"], settings["private_key"] = AppID, Installation, s.PrivateKey()
	return settings
}

// AddPerson adds a person with write access.
func (s *Server) AddPerson(name string) (identityID, email string) {
	id := s.AddUser(name, "write")
	return strconv.FormatInt(id, 10), name + "@example.com"
}

var questionID = regexp.MustCompile(`question .(q_[0-9a-z]+)`)

// VisibleMessages returns the messages on the issue, which are the same for everyone.
func (s *Server) VisibleMessages(string) []standin.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []standin.Message
	for _, c := range s.comments {
		said := standin.StripQuotes(c.body)
		if m := questionID.FindStringSubmatch(said); m != nil && s.isOurs(c) {
			list = append(list, standin.Message{
				ID: strconv.FormatInt(c.id, 10), Text: c.body, Question: m[1], Closed: strings.Contains(said, "**Closed:**"),
			})
		}
	}
	return list
}

func (s *Server) isOurs(c *comment) bool { return c.by.Login == Machine || c.by.Type == "Bot" }

// Reply writes a comment that names the question.
func (s *Server) Reply(person string, m standin.Message, r standin.Reply) error {
	text := r.Text
	if len(r.Answers) > 0 {
		text = typedText(r.Answers)
	}
	if !strings.HasPrefix(text, "/") {
		text = "/answer " + m.Question + " " + text
	}
	id, err := strconv.ParseInt(m.ID, 10, 64)
	if err != nil {
		return err
	}
	s.mu.Lock()
	i := slices.IndexFunc(s.comments, func(c *comment) bool { return c.id == id })
	if i < 0 {
		s.mu.Unlock()
		return fmt.Errorf("there is no comment %s", m.ID)
	}
	number := s.comments[i].number
	s.mu.Unlock()
	s.Comment(person, number, text)
	return nil
}

// typedText writes answers as a person types them.
func typedText(answers map[string]any) string {
	if len(answers) == 1 {
		for _, v := range answers {
			return value(v)
		}
	}
	lines := []string{}
	for key, v := range answers {
		lines = append(lines, key+": "+value(v))
	}
	sort.Strings(lines)
	return "\n" + strings.Join(lines, "\n")
}

func value(v any) string {
	switch v := v.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []string:
		return strings.Join(v, ", ")
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = value(v[i])
		}
		return strings.Join(parts, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// Feedback returns what the person was told: replies, and reactions to the person's
// comments.
func (s *Server) Feedback(person string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, c := range s.comments {
		if words, ok := strings.CutPrefix(c.body, "@"+person+": "); ok && s.isOurs(c) {
			list = append(list, words)
		}
		if c.by.Login != person {
			continue
		}
		for _, r := range c.reactions {
			list = append(list, r.content)
		}
	}
	return list
}

// Comment writes a comment as an account, and returns its id.
func (s *Server) Comment(login string, number int, text string) int64 {
	s.mu.Lock()
	one := s.addComment(number, s.ensureUser(login, "User"), text)
	s.sendCommentEvent("created", one, nil)
	id := one.id
	s.mu.Unlock()
	return id
}

// CommentAs writes a comment as a bot, or as a person through an App.
func (s *Server) CommentAs(login, kind string, via int64, text string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.addComment(Issue, s.ensureUser(login, kind), text)
	one.viaApp = via
	s.sendCommentEvent("created", one, nil)
	return one.id
}

// Edit changes a comment. An account with write access may change any comment.
func (s *Server) Edit(id int64, by, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.comments {
		if c.id == id {
			s.changeComment(c, text, s.users[by])
		}
	}
}

// Delete deletes a comment.
func (s *Server) Delete(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.comments {
		if c.id == id {
			s.sendCommentEvent("deleted", c, nil)
			s.comments = slices.Delete(s.comments, i, i+1)
			return
		}
	}
}

// Bodies returns the comments on an issue, oldest first.
func (s *Server) Bodies(number int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, c := range s.comments {
		if c.number == number {
			list = append(list, c.body)
		}
	}
	return list
}

// Reactions returns the reactions on a comment.
func (s *Server) Reactions(id int64) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, c := range s.comments {
		for _, r := range c.reactions {
			if c.id == id {
				list = append(list, r.content)
			}
		}
	}
	return list
}

// Labels returns the labels of an issue.
func (s *Server) Labels(number int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.issues[number].labels)
}

// Assignees returns the logins of the assignees of an issue.
func (s *Server) Assignees(number int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	for _, u := range s.issues[number].assignees {
		list = append(list, u.Login)
	}
	return list
}

// Backdate moves a comment into the past by the given time.
func (s *Server) Backdate(id int64, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.comments {
		if c.id == id {
			c.created, c.updated = c.created.Add(-age), c.updated.Add(-age)
		}
	}
}
