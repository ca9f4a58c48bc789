package acp

import (
	"slices"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// mail is what people write and answer while the agent runs. Answers to questions
// that the agent is waiting for reach it as the result of its request, so they
// are no news.
type mail struct {
	desk Desk
	mu   sync.Mutex
	// state says of each question that this run waited for whether the agent has its answer.
	state map[string]bool
	// held is what brought answers only; news is what the agent must be told.
	held, news []*fermata.ResumeContext
}

// put takes what came, and reports whether it is news.
func (m *mail) put(rc *fermata.ResumeContext) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	mine := func(a fermata.ResumeAnswer) bool { _, ok := m.state[a.QuestionID]; return ok }
	if len(rc.Messages) == 0 && !slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return !mine(a) }) {
		m.held = append(m.held, rc)
		m.sweep()
		return false
	}
	m.news = append(m.news, rc)
	return true
}

// waits notes that the agent waits for a question.
func (m *mail) waits(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[id] = false
}

// decided notes that the agent has the answer.
func (m *mail) decided(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[id] = true
	m.sweep()
}

// sweep lets go of what the agent knows.
func (m *mail) sweep() {
	m.held = slices.DeleteFunc(m.held, func(rc *fermata.ResumeContext) bool {
		if slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return !m.state[a.QuestionID] }) {
			return false
		}
		agent.Heard(m.desk, rc)
		return true
	})
}

// unread takes what is left in the inbox, and reports whether there is news.
func (m *mail) unread() bool {
	for {
		select {
		case rc := <-m.desk.Inbox():
			m.put(rc)
			continue
		default:
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.news) > 0
	}
}

// read returns the news, which count as heard from here on.
func (m *mail) read() []*fermata.ResumeContext {
	m.mu.Lock()
	defer m.mu.Unlock()
	news := m.news
	m.news = nil
	for _, rc := range news {
		agent.Heard(m.desk, rc)
	}
	return news
}
