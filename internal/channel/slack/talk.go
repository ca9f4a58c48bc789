package slack

import (
	"strings"
	"sync"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// isTalk reports whether words in a thread that did not count are people talking
// to each other. A command is no talk.
func isTalk(text string) bool {
	return !strings.HasPrefix(strings.TrimSpace(text), "/") && notice.LooksLikeTalk(text)
}

// talkWords begin what a person is told once of talk in a thread.
const talkWords = "What you write here stays among people: it is no answer, and the agent does not read it. To answer: "

// talks remembers who was told that a thread is for talk, too.
type talks struct {
	mu   sync.Mutex
	told map[string]bool
}

// mostTalks bounds how many are remembered.
const mostTalks = 10_000

// first reports whether the person has not been told in the thread yet, and
// remembers that they are now.
func (t *talks) first(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told[key] {
		return false
	}
	if t.told == nil || len(t.told) >= mostTalks {
		t.told = map[string]bool{}
	}
	t.told[key] = true
	return true
}

// replyWords returns what a person is told of words in a thread. Talk is told
// once that it is none of the agent's; an attempt to answer every time.
func (t *click) replyWords(v notice.Verdict) string {
	if !t.thread || v.Counted || !isTalk(t.in.Text) || v.Question != nil && notice.BeginsAsAnswer(v.Question, t.in.Text) {
		return v.Words
	}
	if !t.c.talks.first(t.says.channel + " " + t.says.thread + " " + t.user + " " + string(v.Code)) {
		return ""
	}
	if v.Code == fermata.CodeInvalidRequest && v.Question != nil && v.Question.Status == fermata.Pending {
		return talkWords + notice.HowToAnswer(v.Question)
	}
	return v.Words
}
