package delivery_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

// TestMessagesHaveALinkWhereItIsEnough checks the link of a message. The link
// belongs to the recipient. There is none if the risk is higher than low, or if
// the question contains a secret.
func TestMessagesHaveALinkWhereItIsEnough(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		last := func(person string, n int) *notice.Notice {
			w.awaitMessages(person, n)
			all := w.wall.Notices("wall-" + person)
			return all[len(all)-1]
		}
		low := pickQuestion
		low.Risk = fermata.RiskLow
		q := w.ask(low)
		ann, bob := last("ann", 1), last("bob", 1)
		token, ok := strings.CutPrefix(ann.Answer, "https://fermata.example.com/a/")
		if !ok || ann.Answer == bob.Answer {
			t.Fatalf("the links are %q and %q", ann.Answer, bob.Answer)
		}
		v, err := w.Engine.OpenAnswerLink(w.Context(), token)
		w.OK(err)
		if v.Member.Handle != "ann" || v.Question.ID != q.ID || v.Refusal != nil {
			t.Errorf("the link is %+v", v)
		}
		medium := pickQuestion
		medium.Risk = fermata.RiskMedium
		w.ask(medium)
		if n := last("ann", 2); n.Answer != "" {
			t.Errorf("a question of medium risk has the link %q", n.Answer)
		}
		policy := fermata.DefaultPolicy()
		policy.LinkAnswers = fermata.LinkAnswersMedium
		_, err = w.Engine.SetPolicy(w.Context(), admin, policy)
		w.OK(err)
		w.ask(medium)
		if n := last("ann", 3); n.Answer == "" {
			t.Error("the policy opens medium risk, and there is no link")
		}
		secret := low
		secret.Options = append([]fermata.Option{{Value: fermata.NewSecret()}}, pickQuestion.Options...)
		w.ask(secret)
		if n := last("ann", 4); n.Answer != "" || n.Decide {
			t.Errorf("a question that holds a secret can be decided: %+v", n)
		}
	})
}
