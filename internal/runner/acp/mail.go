package acp

import (
	"maps"
	"slices"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// mail is the mailbox for messages and answers that arrive while the agent runs. If the agent waits for a question, it
// gets the answer as the result of its request, so such an answer is no news.
type mail struct {
	desk Desk
	mu   sync.Mutex
	// state maps each question that this run waited for to whether the agent has its answer.
	state map[string]bool
	// asking counts the requests that may be about to wait for a question. The answer may arrive before the request
	// knows the question's id.
	asking int
	// held are contexts with answers only. news are contexts that the agent must be told.
	held, news []*fermata.ResumeContext
	// more holds the questions whose answer has more than fits in the reply to a request. The agent has such an answer
	// only after a prompt told it.
	more map[string]bool
	// refusal is signalled when a refusal came with a comment, so that the agent is interrupted.
	refusal chan struct{}
	// given holds the answers that arrived after their elicitation had ended, by the digest of the elicitation. The
	// agent gets such an answer when it repeats the elicitation.
	given map[string]fermata.ResumeAnswer
}

// give stores the answers to elicitations, except those that the agent has.
func (m *mail) give(answers []fermata.ResumeAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range answers {
		if digest := elicited(a.State); digest != "" && !m.state[a.QuestionID] {
			m.given[digest] = a
		}
	}
}

// take returns the stored answer to an elicitation and drops it. It returns nil if there is none.
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

// put takes a context, and reports whether it is news.
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

// asks records that a request of the agent may wait for a question until the returned function is called. Answers for
// which no request waited become news then.
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

// waits records that the agent waits for a question.
func (m *mail) waits(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state[id] = false
}

// noteClosed records whether the answer to an awaited question has more than fits in a reply.
func (m *mail) noteClosed(q *fermata.Question) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.more[q.ID] = q.SaysMore()
}

// decided records that the agent has the answer.
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

// dropTold drops the contexts that the agent knows. Answers that have more become news. The agent is interrupted for a
// comment that came with a refusal, and is told the others when its turn is over.
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

// refuses reports whether the answer refuses the request, or the question ended without an answer.
func refuses(a *fermata.ResumeAnswer) bool {
	return a.Resolution.Status != fermata.Answered || a.Type == fermata.Approval && !a.Resolution.Approved()
}

// takeUnread empties the inbox, and reports whether there is news.
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

// read takes the news, for one prompt.
func (m *mail) read() []*fermata.ResumeContext {
	m.mu.Lock()
	defer m.mu.Unlock()
	news := m.news
	m.news = nil
	select {
	case <-m.refusal: // its comment is in the news
	default:
	}
	return news
}
