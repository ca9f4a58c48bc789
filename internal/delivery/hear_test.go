package delivery_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/test/standin"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// click sends a click and returns the reply that the person sees.
func (w *world) click(c wall.Click) string {
	w.Helper()
	w.OK(w.wall.SendClick(c))
	all := w.wall.Feedback(c.From)
	return all[len(all)-1]
}

func (w *world) status(q *fermata.Question) fermata.QuestionStatus {
	w.Helper()
	now, err := w.Engine.Question(w.Context(), admin, q.ID)
	w.OK(err)
	return now.Status
}

func TestWhoMayNotAnswerIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	ask := pickQuestion
	ask.Assignees = []string{"bob"}
	q := w.ask(ask)
	m := w.awaitMessages("ann", 1)[0]
	for want, c := range map[string]wall.Click{
		"the question is for bob":              {From: "wall-ann", Delivery: m.ID, Text: "toml"},
		"no active member is connected with":   {From: "wall-stranger", Delivery: m.ID, Text: "toml"},
		"you may not decide here: no access":   {From: "wall-bob", Delivery: m.ID, Text: "toml", DenialReason: "no access"},
		"you may not decide here: no proof":    {From: "wall-stranger", Delivery: m.ID, Text: "toml", DenialReason: "no proof"},
		"/q/" + q.ID:                           {From: "wall-stranger", Delivery: m.ID, Text: "toml", DenialReason: "no proof"},
		"not clear which question":             {From: "wall-bob", Text: "toml"},
		"not clear which question this answer": {From: "wall-bob", Question: "q_00000000000000000000", Text: "toml"},
	} {
		if told := w.click(c); !strings.Contains(told, want) && !strings.Contains(told, strings.ToUpper(want[:1])+want[1:]) {
			t.Errorf("%+v was told %q, want %q", c, told, want)
		}
	}
	if told := w.click(wall.Click{From: "wall-bob", Delivery: m.ID, Text: "json"}); !strings.Contains(told, "toml") {
		t.Errorf("bob is not told how to write it: %q", told)
	}
	if got := w.status(q); got != fermata.Pending {
		t.Fatalf("the question is %s", got)
	}
	if told := w.click(wall.Click{From: "wall-bob", Delivery: m.ID, Text: "A"}); !strings.Contains(told, "counts") {
		t.Errorf("bob was told %q", told)
	}
}

func TestTheSameClickCountsOnceAndForgedOnesNever(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	q := w.ask(pickQuestion)
	m := w.awaitMessages("ann", 1)[0]
	click := wall.Click{ID: "once", From: "wall-ann", Delivery: m.ID, Text: "toml"}
	for name, spoil := range map[string]func(r *http.Request){
		"wrong signature": func(r *http.Request) { r.Header.Set("X-Wall-Signature", strings.Repeat("0", 64)) },
		"no signature":    func(r *http.Request) { r.Header.Del("X-Wall-Signature") },
		"another time":    func(r *http.Request) { r.Header.Set("X-Wall-Time", "1") },
	} {
		r, err := w.wall.Request(click, time.Now())
		w.OK(err)
		spoil(r)
		res, err := http.DefaultClient.Do(r)
		w.OK(err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || w.status(q) != fermata.Pending {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
	}
	old, err := w.wall.Request(click, time.Now().Add(-time.Hour))
	w.OK(err)
	res, err := http.DefaultClient.Do(old)
	w.OK(err)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("an old request got %d", res.StatusCode)
	}
	first := w.click(click)
	again := w.click(click)
	if first != again || !strings.Contains(first, "counts") {
		t.Errorf("told %q, then %q", first, again)
	}
	other := click
	other.ID, other.Text = "twice", "yaml"
	if told := w.click(other); !strings.Contains(told, "first") {
		t.Errorf("another answer was told %q", told)
	}
}

func TestAReplyBelongsToItsPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	q := w.ask(pickQuestion)
	w.awaitMessages("ann", 1)
	secret := w.wall.Notices("wall-ann")[0].Reply
	if told := w.click(wall.Click{From: "wall-bob", Reply: secret, Text: "toml"}); !strings.Contains(told, "somebody else's") {
		t.Errorf("bob was told %q", told)
	}
	// The beginning of the secret names the message, and its end proves that the server made it.
	for _, at := range []int{0, len(secret) - 1} {
		changed := []byte(secret)
		if changed[at] = 'a'; secret[at] == 'a' {
			changed[at] = 'b'
		}
		if told := w.click(wall.Click{From: "wall-ann", Reply: string(changed), Text: "toml"}); !strings.Contains(told, "not clear which question") {
			t.Errorf("a secret that was changed at %d was told %q", at, told)
		}
	}
	if got := w.status(q); got != fermata.Pending {
		t.Fatalf("the question is %s", got)
	}
	if told := w.click(wall.Click{From: "wall-ann", Reply: strings.ToUpper(secret), Text: "toml"}); !strings.Contains(told, "counts") {
		t.Errorf("ann was told %q", told)
	}
}

func TestWhatIsRiskyIsNotDecidedInAChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	for risk, decides := range map[fermata.Risk]bool{
		fermata.RiskLow: true, fermata.RiskMedium: true, fermata.RiskHigh: false, fermata.RiskCritical: false,
	} {
		ask := pickQuestion
		ask.Risk, ask.Title = risk, "risk "+string(risk)
		q := w.ask(ask)
		var m standin.Message
		w.await("it is seen", func() bool {
			for _, each := range w.wall.VisibleMessages("wall-ann") {
				if each.Question == q.ID {
					m = each
				}
			}
			return m.ID != ""
		})
		if (len(m.Buttons) > 0) != decides {
			t.Errorf("%s risk has buttons %q", risk, m.Buttons)
		}
		told := w.click(wall.Click{From: "wall-ann", Delivery: m.ID, Text: "toml"})
		if counted := strings.Contains(told, "counts"); counted != decides {
			t.Errorf("%s risk was told %q", risk, told)
		}
	}
}

func TestAnApprovalIsOfWhatWasShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	approve := fermata.Ask{Title: "Deploy?", Type: fermata.Approval, Action: []byte(`{"command":"deploy"}`), Assignees: []string{"ann"}}
	q := w.ask(approve)
	m := w.awaitMessages("ann", 1)[0]
	if !strings.Contains(m.Text, `{"command":"deploy"}`) || len(m.Buttons) != 2 {
		t.Errorf("ann sees %+v", m)
	}
	if told := w.click(wall.Click{From: "wall-ann", Delivery: m.ID, Text: "approve"}); !strings.Contains(told, "counts") {
		t.Errorf("ann was told %q", told)
	}
	if q, err := w.Engine.Question(t.Context(), admin, q.ID); err != nil || !q.Resolution.IsApproved() || q.Resolution.Channel != wall.Kind ||
		q.Resolution.Assurance != fermata.AssuranceChannel {
		t.Errorf("%+v, %v", q.Resolution, err)
	}
	// The action contains a secret, so it cannot be shown whole.
	secret := "ghp_" + strings.ReplaceAll(rand.Text()+rand.Text(), "=", "")[:36]
	approve.Action = []byte(`{"command":"curl -H 'Authorization: Bearer ` + secret + `'"}`)
	hidden := w.ask(approve)
	m = w.awaitMessages("ann", 2)[1]
	if strings.Contains(m.Text, secret) || len(m.Buttons) > 0 {
		t.Errorf("ann sees %+v", m)
	}
	if told := w.click(wall.Click{From: "wall-ann", Delivery: m.ID, Text: "approve"}); !strings.Contains(told, "not shown") {
		t.Errorf("ann was told %q", told)
	}
	if got := w.status(hidden); got != fermata.Pending {
		t.Errorf("the question is %s", got)
	}
}

func TestVotesOverAChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	q := w.ask(fermata.Ask{Title: "Deploy?", Type: fermata.Approval, Approvals: &fermata.Quorum{Required: 2}})
	ann, bob := w.awaitMessages("ann", 1)[0], w.awaitMessages("bob", 1)[0]
	if told := w.click(wall.Click{From: "wall-ann", Delivery: ann.ID, Text: "approve"}); !strings.Contains(told, "1 of 2") {
		t.Errorf("ann was told %q", told)
	}
	w.await("ann's message offers nothing to press", func() bool { return len(w.awaitMessages("ann", 1)[0].Buttons) == 0 })
	if told := w.click(wall.Click{From: "wall-bob", Delivery: bob.ID, Text: "approve"}); !strings.Contains(told, "counts") {
		t.Errorf("bob was told %q", told)
	}
	if got := w.status(q); got != fermata.Answered {
		t.Errorf("the question is %s", got)
	}
}

func TestALateAnswerIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sqlite(t), setup{audience: delivery.ToPlace})
	w.addChannel()
	w.ask(pickQuestion)
	m := w.awaitMessages("ann", 1)[0]
	w.passTime(time.Hour)
	if told := w.click(wall.Click{From: "wall-ann", Delivery: m.ID, Text: "toml"}); !strings.Contains(told, "too late") {
		t.Errorf("ann was told %q", told)
	}
}
