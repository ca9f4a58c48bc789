package github

import (
	"time"
)

// Fail answers one request with a status: the next one whose method and path
// begin with path.
func (s *Server) Fail(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{path: path, status: status})
}

// HangUp processes the next request whose method and path begin with path, but
// closes the connection without a response.
func (s *Server) HangUp(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{path: path})
}

// SetLimits sets how many requests are left until reset, how many of them may
// create content, and how long to wait when no more content may be created.
func (s *Server) SetLimits(left int, reset time.Time, creating int, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requestsLeft, s.reset, s.contentLeft, s.contentWait = left, reset, creating, wait
}

// RequestsLeft returns how many requests are left in this hour.
func (s *Server) RequestsLeft() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requestsLeft
}

// RejectedRequests returns how many requests were refused because the hourly limit was
// reached.
func (s *Server) RejectedRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejectedRequests
}

// Requests returns the requests since the last call, and forgets them.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.requests
	s.requests = nil
	return list
}

// SetClock sets the clock of the stand-in.
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Revoke revokes every token.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Rename changes the login of an account.
func (s *Server) Rename(login, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[login]
	delete(s.users, login)
	u.Login = to
	s.users[to] = u
}

// Archive archives the repository.
func (s *Server) Archive() { s.set(func() { s.archived = true }) }

// Suspend suspends the App's installation.
func (s *Server) Suspend() { s.set(func() { s.suspended = true }) }

// Grant gives the App a permission.
func (s *Server) Grant(name, level string) { s.set(func() { s.permissions[name] = level }) }

// Subscribe sets the events that the App receives.
func (s *Server) Subscribe(events ...string) { s.set(func() { s.events = events }) }

// SetScopes makes the machine's token a classic one with these scopes.
func (s *Server) SetScopes(scopes string) { s.set(func() { s.scopes = scopes }) }

// Permit sets the permission of an account in the repository.
func (s *Server) Permit(login, permission string) { s.set(func() { s.rights[login] = permission }) }

// AddIssue adds an issue.
func (s *Server) AddIssue(number int) { s.set(func() { s.issues[number] = &issue{} }) }

// WriteIssue sets the title and the text of an issue.
func (s *Server) WriteIssue(number int, title, body string) {
	s.set(func() { s.issues[number].title, s.issues[number].body = title, body })
}

// CloseIssue closes an issue.
func (s *Server) CloseIssue(number int) { s.set(func() { s.issues[number].state = "closed" }) }

// IsOpen reports whether an issue is open.
func (s *Server) IsOpen(number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issues[number].state != "closed"
}

// LockIssue locks the conversation on an issue to everyone except writers.
func (s *Server) LockIssue(number int) { s.set(func() { s.issues[number].locked = true }) }

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}
