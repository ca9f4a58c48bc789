package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

// An agent that waits outside any run gets a person's message at once, with
// advice. The message counts as handed over from then on, and is returned only
// once.
func TestWordsReachAnAgentThatWaits(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		asked := a.must("ask_user", `{"question":"Which colour?"}`)
		waits := make(chan result, 1)
		go func() {
			r, _ := a.call("check_answer", `{"question_id":"`+asked.QuestionID+`","wait_seconds":600}`)
			waits <- r
		}()
		_, err := a.Engine.Clarify(a.Context(), a.person, asked.QuestionID, "for which fence?")
		a.OK(err)
		got := patience.Receive(a, "the call ends", waits)
		a.wantWords(got, "for which fence?")
		a.equalJSON(fermata.Pending, fermata.QuestionStatus(got.Status))
		if !strings.Contains(got.Message, "cancel_question") || !strings.Contains(got.Message, "ask_user") {
			a.Errorf("the agent is told %q", got.Message)
		}
		a.wantReceipts(fermata.HandoffHanded)

		m, err := a.Engine.PostMessage(a.Context(), a.person, a.task, "and be quick")
		a.OK(err)
		a.equalJSON(fermata.HandoffMaker, m.Handoff)
		a.wantReceipts(fermata.HandoffHanded, fermata.HandoffMaker)
		a.wantWords(a.must("check_answer", `{"question_id":"`+asked.QuestionID+`"}`), "and be quick")
		a.wantReceipts(fermata.HandoffHanded, fermata.HandoffHanded)
		a.wantWords(a.must("check_answer", `{"question_id":"`+asked.QuestionID+`"}`))
	})
}

// A person's message comes with the answer, too.
func TestWordsComeWithTheAnswer(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(a *agent) {
		asked := a.must("ask_user", `{"question":"Which colour?"}`)
		_, err := a.Engine.PostMessage(a.Context(), a.person, a.task, "ask less")
		a.OK(err)
		a.answer(asked.QuestionID, fermata.Answer{Answer: "green"})
		got := a.must("check_answer", `{"question_id":"`+asked.QuestionID+`","wait_seconds":600}`)
		a.equalJSON("green", got.Answer)
		a.wantWords(got, "ask less")
	})
}

func (a *agent) wantWords(r result, want ...string) {
	a.Helper()
	got := []string{}
	for _, m := range r.Messages {
		got = append(got, m.Body)
	}
	a.equalJSON(append([]string{}, want...), got)
}

func (a *agent) wantReceipts(want ...fermata.HandoffState) {
	a.Helper()
	thread, _, err := a.Engine.Messages(a.Context(), a.person, a.task, "", 100)
	a.OK(err)
	var got []fermata.HandoffState
	for _, m := range thread {
		got = append(got, m.Handoff)
	}
	a.equalJSON(want, got)
}
