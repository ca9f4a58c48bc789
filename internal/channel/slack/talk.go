package slack

import (
	"strings"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// isTalk reports whether a text that did not count looks like talk among
// people. A command is not talk.
func isTalk(text string) bool {
	return !strings.HasPrefix(strings.TrimSpace(text), "/") && notice.LooksLikeTalk(text)
}

// talkWords begin the message that a person gets once about talk in a thread.
const talkWords = "What you write here stays among people: it is no answer, and the agent does not read it. To answer: "

// talkNotices remembers the people who were told that talk in a thread is no
// answer.
type talkNotices struct {
	mu   sync.Mutex
	told map[string]bool
}

// maxTalkNotices is how many entries are remembered.
const maxTalkNotices = 10_000

// markTold records that a person was told in a thread. It reports whether this
// is the first time.
func (t *talkNotices) markTold(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told[key] {
		return false
	}
	if t.told == nil || len(t.told) >= maxTalkNotices {
		t.told = map[string]bool{}
	}
	t.told[key] = true
	return true
}

// replyWords returns the message to a person about a text in a thread. For
// talk, the person is told once that it is not an answer. For an attempt to
// answer, the person is told each time.
func (t *interaction) replyWords(v notice.Verdict) string {
	if !t.thread || v.Counted || !isTalk(t.in.Text) || v.Question != nil && notice.BeginsAsAnswer(v.Question, t.in.Text) {
		return v.Words
	}
	if !t.c.talks.markTold(t.responder.channel + " " + t.responder.thread + " " + t.user + " " + string(v.Code)) {
		return ""
	}
	if v.Code == fermata.CodeInvalidRequest && v.Question != nil && v.Question.Status == fermata.Pending {
		return talkWords + notice.HowToAnswer(v.Question)
	}
	return v.Words
}
