package acp

import (
	"maps"
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
	// asking counts the requests that may be about to wait for a question. Its
	// answer may come before the request knows the question.
	asking int
	// held is what brought answers only; news is what the agent must be told.
	held, news []*fermata.ResumeContext
	// more holds the questions whose answer says more than the reply to a request can: the
	// agent has it when a prompt tells it.
	more map[string]bool
	// refusal is signalled when a refusal came with words, so that the agent is interrupted.
	refusal chan struct{}
	// given holds the answers that came when their elicitation had ended, by its digest. The agent
	// gets an answer when it elicits the same again.
	given map[string]fermata.ResumeAnswer
}

// give keeps the answers to elicitations, except those that the agent has.
func (m *mail) give(answers []fermata.ResumeAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range answers {
		if digest := elicited(a.State); digest != "" && !m.state[a.QuestionID] {
			m.given[digest] = a
		}
	}
}

// take returns the kept answer to an elicitation and drops it. It returns nil if there is none.
func (m *mail) take(digest string) *fermata.Resolution {
	m.mu.Lock()
	a, ok := m.given[digest]
	m.mu.Unlock()
	if !ok {
		return nil
	}
	m.decided(a.QuestionID)
	return a.Resolution
}

// put takes what came, and reports whether it is news.
func (m *mail) put(rc *fermata.ResumeContext) bool {
	m.give(rc.Questions)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(rc.Messages) == 0 && (m.asking > 0 || m.isAwaited(rc)) {
		m.held = append(m.held, rc)
		m.dropTold()
		return false
	}
	m.news = append(m.news, rc)
	return true
}

// isAwaited reports whether the agent waited for every question of the context.
func (m *mail) isAwaited(rc *fermata.ResumeContext) bool {
	return !slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { _, ok := m.state[a.QuestionID]; return !ok })
}

// asks notes that a request of the agent may wait for a question until the returned
// function is called. What no request waited for is news then.
func (m *mail) asks() (asked func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asking++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.asking--; m.asking > 0 {
			return
		}
		m.held = slices.DeleteFunc(m.held, func(rc *fermata.ResumeContext) bool {
			if m.isAwaited(rc) {
				return false
			}
			m.news = append(m.news, rc)
			return true
		})
	}
}

// waits notes that the agent waits for a question.
func (m *mail) waits(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[id] = false
}

// noteClosed notes how a question ended for which the agent waits.
func (m *mail) noteClosed(q *fermata.Question) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.more[q.ID] = q.SaysMore()
}

// decided notes that the agent has the answer.
func (m *mail) decided(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[id] = true
	maps.DeleteFunc(m.given, func(_ string, a fermata.ResumeAnswer) bool { return a.QuestionID == id })
	if !m.more[id] {
		agent.Heard(m.desk, &fermata.ResumeContext{Questions: []fermata.ResumeAnswer{{QuestionID: id}}})
	}
	m.dropTold()
}

// dropTold lets go of what the agent knows. Answers that say more are news: the agent is
// interrupted for the words that came with a refusal, and told others when its turn is over.
func (m *mail) dropTold() {
	m.held = slices.DeleteFunc(m.held, func(rc *fermata.ResumeContext) bool {
		if slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return !m.state[a.QuestionID] }) {
			return false
		}
		if !slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return a.SaysMore() }) {
			agent.Heard(m.desk, rc)
			return true
		}
		m.news = append(m.news, rc)
		if slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return a.SaysMore() && refuses(&a) }) {
			select {
			case m.refusal <- struct{}{}:
			default:
			}
		}
		return true
	})
}

// refuses reports whether the agent may not do what it asked for, or got no answer.
func refuses(a *fermata.ResumeAnswer) bool {
	return a.Resolution.Status != fermata.Answered || a.Type == fermata.Approval && !a.Resolution.Approved()
}

// takeUnread takes what is left in the inbox, and reports whether there is news.
func (m *mail) takeUnread() bool {
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

// read returns the news, for one prompt.
func (m *mail) read() []*fermata.ResumeContext {
	m.mu.Lock()
	defer m.mu.Unlock()
	news := m.news
	m.news = nil
	select {
	case <-m.refusal: // its words are among the news
	default:
	}
	return news
}
