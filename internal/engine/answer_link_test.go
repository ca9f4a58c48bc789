package engine_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

func (w *world) answerLink(q *fermata.Question, c fermata.Caller) string {
	w.Helper()
	token, err := w.Engine.AnswerLink(w.Context(), c.WorkspaceID, q.ID, c.MemberID)
	w.OK(err)
	return token
}

func lowRisk() fermata.Ask {
	return fermata.Ask{
		Type: fermata.Blocking, Title: "Which?", Risk: fermata.RiskLow, Timeout: fermata.Never,
		Items: []fermata.Item{{Key: "it", Prompt: "Which?", ResponseType: fermata.ResponseText}},
	}
}

// TestALinkAnswersWhatItShowed: an answer counts only for the text and the action that its page showed. Here both are
// changed in the database for a moment.
func TestALinkAnswersWhatItShowed(t *testing.T) {
	const action, shown = `{"command":"rm -rf /srv"}`, `{"command":"ls -la /"}`
	for name, edit := range map[string][2]string{
		"words":  {`replace(asked, 'all of it', 'a cache')`, `replace(asked, 'a cache', 'all of it')`},
		"action": {replaceActionSQL(action, shown), replaceActionSQL(shown, action)},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				policy := fermata.DefaultPolicy()
				policy.LeastRisk = map[fermata.QuestionType]fermata.Risk{fermata.Approval: fermata.RiskLow}
				_, err := w.Engine.SetPolicy(w.Context(), admin, policy)
				w.OK(err)
				_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Remove?", Body: "It removes all of it.", Risk: fermata.RiskLow, Timeout: fermata.Never, Action: []byte(action)})
				token := w.answerLink(q, w.alice)
				visit := func() *engine.Visit {
					v, err := w.Engine.OpenAnswerLink(w.Context(), token)
					w.OK(err)
					return v
				}
				w.forge("UPDATE questions SET asked = " + edit[0])
				before := visit()
				if before.Question.ContentHash() == q.ContentHash() {
					w.Fatal("nothing was changed")
				}
				form, confirmation := before.FormToken(), before.ConfirmationToken("approve")
				w.forge("UPDATE questions SET asked = " + edit[1])
				w.Clock.Advance(time.Minute)
				after := visit()
				if after.IsOwnForm(form) || after.CheckConfirmation(confirmation, "approve") == nil {
					w.Error("an answer to other words counts")
				}
				if now := after.ConfirmationToken("approve"); !after.IsOwnForm(after.FormToken()) || now == confirmation {
					w.Error("an answer to these words does not count")
				}
			})
		})
	}
}

func TestAnswerLink(t *testing.T) {
	each(t, func(w *world) {
		bob := w.Person("bob")
		_, q := w.createSuspended(lowRisk())
		token := w.answerLink(q, w.alice)
		w.Equal(token, w.answerLink(q, w.alice))
		if token == w.answerLink(q, bob) {
			w.Fatal("two people have one link")
		}
		v, err := w.Engine.OpenAnswerLink(w.Context(), token)
		w.OK(err)
		if v.Member.Handle != "alice" || v.Question.ID != q.ID || v.Refusal != nil || v.Expired || !v.IsOwnForm(v.FormToken()) || v.IsOwnForm("x") {
			w.Fatalf("got %+v", v)
		}
		answered, err := w.Engine.AnswerByLink(w.Context(), token, fermata.Answer{Answer: "toml"})
		w.OK(err)
		r := answered.Resolution
		if r.AnsweredBy.Name != "alice" || r.Assurance != fermata.AssuranceLink || r.Channel != "link" {
			w.Fatalf("got %+v", r)
		}
		_, err = w.Engine.AnswerByLink(w.Context(), token, fermata.Answer{Answer: "toml"})
		w.OK(err)
		_, err = w.Engine.AnswerByLink(w.Context(), token, fermata.Answer{Answer: "yaml"})
		w.CheckRefused(err, fermata.CodeQuestionClosed)
	})
}

// Links and grants are signed with different keys, so that the key of one cannot sign the other.
func TestAnswerLinkHasAKeyOfItsOwn(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.createSuspended(lowRisk())
		w.answerLink(q, w.alice)
		l := fermata.AnswerLink{
			Workspace: w.alice.WorkspaceID, QuestionID: q.ID, MemberID: w.alice.MemberID,
			ExpiresAt: time.Now().Truncate(24 * time.Hour).Add(fermata.AnswerLinkLifetime),
		}
		_, err := w.Engine.OpenAnswerLink(w.Context(), l.Sign(w.grantKey()))
		w.CheckRefused(err, fermata.CodeNotFound)
	})
}

func TestAnswerLinkEnds(t *testing.T) {
	each(t, func(w *world) {
		_, q := w.createSuspended(lowRisk())
		token := w.answerLink(q, w.alice)
		w.CheckRefused(w.Engine.RevokeAnswerLinks(w.Context(), w.Person("bob"), "alice"), fermata.CodeForbidden)
		w.OK(w.Engine.RevokeAnswerLinks(w.Context(), admin, "alice"))
		_, err := w.Engine.OpenAnswerLink(w.Context(), token)
		w.CheckRefused(err, fermata.CodeNotFound)
		token = w.answerLink(q, w.alice)
		for _, disabled := range []bool{true, false} {
			_, err = w.Engine.ChangeMember(w.Context(), admin, "alice", fermata.MemberChange{Disabled: ptr(disabled)})
			w.OK(err)
		}
		_, err = w.Engine.OpenAnswerLink(w.Context(), token)
		w.CheckRefused(err, fermata.CodeNotFound)
		fresh := w.answerLink(q, w.alice)
		_, err = w.Engine.OpenAnswerLink(w.Context(), fresh)
		w.OK(err)
		w.Clock.Advance(fermata.AnswerLinkLifetime + time.Hour)
		v, err := w.Engine.OpenAnswerLink(w.Context(), fresh)
		w.OK(err)
		if !v.Expired {
			w.Fatal("the link has no end")
		}
		_, err = w.Engine.AnswerByLink(w.Context(), fresh, fermata.Answer{Answer: "toml"})
		w.CheckRefused(err, fermata.CodeForbidden)
		w.checkQuestion(q.ID, fermata.Pending)
	})
}

func TestAnswerLinkObeysTheRules(t *testing.T) {
	each(t, func(w *world) {
		ask := lowRisk()
		ask.Assignees = []string{"bob"}
		w.Person("bob")
		_, q := w.createSuspended(ask)
		_, err := w.Engine.AnswerLink(w.Context(), w.alice.WorkspaceID, q.ID, w.alice.MemberID)
		w.CheckRefused(err, fermata.CodeNotEligible)
		_, err = w.Engine.OpenAnswerLink(w.Context(), "nonsense")
		w.CheckRefused(err, fermata.CodeNotFound)
	})
}

// The asker cannot answer by a link, whatever the risk is.
func TestTheAskerHoldsNoLink(t *testing.T) {
	each(t, func(w *world) {
		own := w.alice
		own.TokenID, own.Scopes = "tok_alice", []fermata.Scope{fermata.ScopeAsk}
		q, err := w.Engine.AskExternal(w.Context(), own, "", "", lowRisk())
		w.OK(err)
		_, err = w.Engine.AnswerLink(w.Context(), w.alice.WorkspaceID, q.ID, w.alice.MemberID)
		w.CheckRefused(err, fermata.CodeNotEligible)
		w.answerLink(q, w.Person("bob"))
		approval := lowRisk()
		approval.Type, approval.Items = fermata.Approval, nil
		_, asked := w.createSuspended(approval)
		w.Equal(fermata.RiskMedium, asked.Risk)
		_, err = w.Engine.AnswerLink(w.Context(), w.alice.WorkspaceID, asked.ID, w.alice.MemberID)
		w.CheckRefused(err, fermata.CodeNotEligible)
	})
}
