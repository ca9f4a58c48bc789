package slack

import (
	"strings"

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

// maxTalkNotices is how many people and threads a channel remembers, of those who were told that talk is no answer.
const maxTalkNotices = 10_000

// replyWords returns the message to a person about a text in a thread. For
// talk, the person is told once that it is not an answer. For an attempt to
// answer, the person is told each time.
func (t *interaction) replyWords(v notice.Verdict) string {
	if !t.thread || v.Counted || !isTalk(t.in.Text) || v.Question != nil && notice.BeginsAsAnswer(v.Question, t.in.Text) {
		return v.Words
	}
	if _, wasTold := t.c.toldOfTalk.GetOrSet(t.responder.channel+" "+t.responder.thread+" "+t.user+" "+string(v.Code), true); wasTold {
		return ""
	}
	if v.Code == fermata.CodeInvalidRequest && v.Question != nil && v.Question.Status == fermata.Pending {
		return talkWords + notice.HowToAnswer(v.Question)
	}
	return v.Words
}
