package acp

import (
	"maps"
	"slices"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
)

// mailbox is the mailbox for messages and answers that arrive while the agent runs. If the agent waits for a question,
// it gets the answer as the result of its request, so such an answer is no news.
type mailbox struct {
	handle RunHandle
	mu     sync.Mutex
	// hasAnswer maps each question that this run waited for to whether the agent has its answer.
	hasAnswer map[string]bool
	// openRequests counts the requests that may be about to wait for a question. The answer may arrive before the
	// request knows the question's id.
	openRequests int
	// answersOnly are contexts with nothing but answers, for which a request waits or may wait. news are contexts that
	// a prompt must tell the agent.
	answersOnly, news []*fermata.ResumeContext
	// hasMore holds the questions whose answer has more than fits in the reply to a request. The agent has such an
	// answer only after a prompt has told it the rest.
	hasMore map[string]bool
	// refusal is signalled when a refusal came with a comment, so that the agent is interrupted.
	refusal chan struct{}
	// lateAnswers holds the answers that arrived after their elicitation had ended, by the digest of the elicitation.
	// The agent gets such an answer when it repeats the elicitation.
	lateAnswers map[string]fermata.ResumeAnswer
}

// storeAnswers stores the answers to elicitations, except those that the agent has.
func (m *mailbox) storeAnswers(answers []fermata.ResumeAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range answers {
		if digest := elicitationDigest(a.State); digest != "" && !m.hasAnswer[a.QuestionID] {
			m.lateAnswers[digest] = a
		}
	}
}

// takeAnswer returns the stored answer to an elicitation and drops it. It returns nil if there is none.
func (m *mailbox) takeAnswer(digest string) *fermata.Resolution {
	m.mu.Lock()
	a, ok := m.lateAnswers[digest]
	m.mu.Unlock()
	if !ok {
		return nil
	}
	m.markAnswered(a.QuestionID)
	return a.Resolution
}

// put stores a context, and reports whether it is news.
func (m *mailbox) put(rc *fermata.ResumeContext) bool {
	m.storeAnswers(rc.Questions)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(rc.Messages) == 0 && (m.openRequests > 0 || m.isAwaited(rc)) {
		m.answersOnly = append(m.answersOnly, rc)
		m.dropTold()
		return false
	}
	m.news = append(m.news, rc)
	return true
}

// isAwaited reports whether the agent waited for every question of the context.
func (m *mailbox) isAwaited(rc *fermata.ResumeContext) bool {
	return !slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { _, ok := m.hasAnswer[a.QuestionID]; return !ok })
}

// beginRequest records that a request of the agent may wait for a question until the returned function is called.
// Answers for which no request waited become news then.
func (m *mailbox) beginRequest() (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.openRequests++
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.openRequests--; m.openRequests > 0 {
			return
		}
		m.answersOnly = slices.DeleteFunc(m.answersOnly, func(rc *fermata.ResumeContext) bool {
			if m.isAwaited(rc) {
				return false
			}
			m.news = append(m.news, rc)
			return true
		})
	}
}

// addAwaited records that the agent waits for a question.
func (m *mailbox) addAwaited(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hasAnswer[id] = false
}

// recordHasMore records whether the answer to an awaited question has more than fits in a reply.
func (m *mailbox) recordHasMore(q *fermata.Question) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hasMore[q.ID] = q.SaysMore()
}

// markAnswered records that the agent has the answer.
func (m *mailbox) markAnswered(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hasAnswer[id] = true
	maps.DeleteFunc(m.lateAnswers, func(_ string, a fermata.ResumeAnswer) bool { return a.QuestionID == id })
	if !m.hasMore[id] {
		agent.MarkTold(m.handle, &fermata.ResumeContext{Questions: []fermata.ResumeAnswer{{QuestionID: id}}})
	}
	m.dropTold()
}

// dropTold drops the contexts that the agent knows. Answers that have more than a reply holds become news. A comment on
// a refusal interrupts the agent. The agent is told the other news when its turn has ended.
func (m *mailbox) dropTold() {
	m.answersOnly = slices.DeleteFunc(m.answersOnly, func(rc *fermata.ResumeContext) bool {
		if slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return !m.hasAnswer[a.QuestionID] }) {
			return false
		}
		if !slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return a.SaysMore() }) {
			agent.MarkTold(m.handle, rc)
			return true
		}
		m.news = append(m.news, rc)
		if slices.ContainsFunc(rc.Questions, func(a fermata.ResumeAnswer) bool { return a.SaysMore() && isRefusedAnswer(&a) }) {
			select {
			case m.refusal <- struct{}{}:
			default:
			}
		}
		return true
	})
}

// isRefusedAnswer reports whether the answer refuses the request, or the question ended without an answer.
func isRefusedAnswer(a *fermata.ResumeAnswer) bool {
	return a.Resolution.Status != fermata.Answered || a.Type == fermata.Approval && !a.Resolution.IsApproved()
}

// pullInbox empties the inbox, and reports whether there is news.
func (m *mailbox) pullInbox() bool {
	for {
		select {
		case rc := <-m.handle.Inbox():
			m.put(rc)
			continue
		default:
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(m.news) > 0
	}
}

// takeNews takes the news, for one prompt.
func (m *mailbox) takeNews() []*fermata.ResumeContext {
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
