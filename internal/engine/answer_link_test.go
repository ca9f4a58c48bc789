package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

func (w *world) answerLink(q *fermata.Question, c fermata.Caller) string {
	w.Helper()
	token, err := w.e.AnswerLink(w.Context(), c.WorkspaceID, q.ID, c.MemberID)
	w.ok(err)
	return token
}

func lowRisk() fermata.Ask {
	return fermata.Ask{
		Type: fermata.Blocking, Title: "Which?", Risk: fermata.RiskLow, Timeout: fermata.Never,
		Items: []fermata.Item{{Key: "it", Prompt: "Which?", ResponseType: fermata.ResponseText}},
	}
}

func TestAnswerLink(t *testing.T) {
	each(t, func(w *world) {
		bob := w.person("bob")
		_, q := w.suspended(lowRisk())
		token := w.answerLink(q, w.alice)
		w.equal(token, w.answerLink(q, w.alice))
		if token == w.answerLink(q, bob) {
			w.Fatal("two people have one link")
		}
		v, err := w.e.OpenAnswerLink(w.Context(), token)
		w.ok(err)
		if v.Member.Handle != "alice" || v.Question.ID != q.ID || v.Refused != nil || v.Expired || !v.SentFrom(v.Form()) || v.SentFrom("x") {
			w.Fatalf("got %+v", v)
		}
		answered, err := w.e.AnswerByLink(w.Context(), token, fermata.Answer{Answer: "toml"})
		w.ok(err)
		r := answered.Resolution
		if r.AnsweredBy.Name != "alice" || r.Assurance != fermata.AssuranceLink || r.Channel != "link" {
			w.Fatalf("got %+v", r)
		}
		_, err = w.e.AnswerByLink(w.Context(), token, fermata.Answer{Answer: "toml"})
		w.ok(err)
		_, err = w.e.AnswerByLink(w.Context(), token, fermata.Answer{Answer: "yaml"})
		w.refused(err, fermata.CodeQuestionClosed)
	})
}

func TestAnswerLinkEnds(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.suspended(lowRisk())
		token := w.answerLink(q, w.alice)
		w.refused(w.e.RevokeAnswerLinks(w.Context(), w.person("bob"), "alice"), fermata.CodeForbidden)
		w.ok(w.e.RevokeAnswerLinks(w.Context(), admin, "alice"))
		_, err := w.e.OpenAnswerLink(w.Context(), token)
		w.refused(err, fermata.CodeNotFound)
		fresh := w.answerLink(q, w.alice)
		_, err = w.e.OpenAnswerLink(w.Context(), fresh)
		w.ok(err)
		w.clock.Advance(fermata.AnswerLinkLasts + time.Hour)
		v, err := w.e.OpenAnswerLink(w.Context(), fresh)
		w.ok(err)
		if !v.Expired {
			w.Fatal("the link has no end")
		}
		_, err = w.e.AnswerByLink(w.Context(), fresh, fermata.Answer{Answer: "toml"})
		w.refused(err, fermata.CodeForbidden)
		w.question(q.ID, fermata.Pending)
	})
}

func TestAnswerLinkObeysTheRules(t *testing.T) {
	each(t, func(w *world) {
		ask := lowRisk()
		ask.Assignees = []string{"bob"}
		w.person("bob")
		_, q := w.suspended(ask)
		_, err := w.e.AnswerLink(w.Context(), w.alice.WorkspaceID, q.ID, w.alice.MemberID)
		w.refused(err, fermata.CodeNotEligible)
		_, err = w.e.OpenAnswerLink(w.Context(), "nonsense")
		w.refused(err, fermata.CodeNotFound)
	})
}
