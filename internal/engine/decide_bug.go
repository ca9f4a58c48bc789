//go:build bug_resume_keeps_question

package engine

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// letAgentDecide is wrong on purpose: the task resumes with a message, and then waits for the same question again.
func (e *Engine) letAgentDecide(tx *store.Tx, t *fermata.Task, words string, c fermata.Caller) error {
	if words == "" {
		words = "Go on without an answer."
	}
	return e.addWords(tx, t, words, c.Actor())
}
