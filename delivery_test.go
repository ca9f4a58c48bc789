package fermata_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

func asError(err error, target **fermata.Error) bool { return errors.As(err, target) }

func waitingDelivery() *fermata.Delivery {
	return &fermata.Delivery{State: fermata.DeliveryWaiting, NextAt: ptr(noon)}
}

func TestDeliveryIsTriedAgainAndThenGivenUp(t *testing.T) {
	t.Parallel()
	d, now := waitingDelivery(), noon
	for i, least := range []time.Duration{
		5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
	} {
		d.Lease(now)
		d.NoteFailure(now, "down", false, 0)
		wait := d.NextAt.Sub(now)
		if d.State != fermata.DeliveryFailed || wait < least*9/10-time.Millisecond || wait > least*11/10 {
			t.Fatalf("after failure %d: %s, wait %s, want about %s", i+1, d.State, wait, least)
		}
		now = *d.NextAt
	}
	d.Lease(now)
	d.NoteFailure(now, "down", false, 0)
	if d.State != fermata.DeliveryDead || d.NextAt != nil || d.Attempts != 9 {
		t.Fatalf("%+v", d)
	}
	if err := d.Redeliver(now); err != nil || !d.IsDue(now) {
		t.Fatalf("it is not sent again: %v", err)
	}
}

// TestWhatStandsTellsTheEnd checks messages that were to be sent again or that
// may have arrived. When their question closes, they must be updated or
// retried, and not skipped.
func TestWhatStandsTellsTheEnd(t *testing.T) {
	t.Parallel()
	again := waitingDelivery()
	again.NoteSent(noon, json.RawMessage(`"1"`), fermata.Pending, 3)
	if err := again.Redeliver(noon); err != nil {
		t.Fatal(err)
	}
	again.NoteFailure(noon, "no such conversation", true, 0)
	if again.State != fermata.DeliveryDead {
		t.Fatalf("it is %s", again.State)
	}
	again.NoteQuestionChange(4, true, noon)
	if again.State != fermata.DeliverySent || !again.IsDue(noon) || string(again.Ref) != `"1"` {
		t.Errorf("the first message is left as it is: %+v", again)
	}
	doubt := waitingDelivery()
	doubt.NoteFailure(noon, "no reply", false, 0)
	doubt.NoteMaybeSent(noon)
	doubt.NoteQuestionChange(4, true, noon)
	if doubt.State != fermata.DeliveryFailed || doubt.NextAt == nil || doubt.IsLeased(noon) {
		t.Errorf("what may have arrived is given up: %+v", doubt)
	}
	refused := waitingDelivery()
	refused.NoteSent(noon, json.RawMessage(`"1"`), fermata.Pending, 3)
	refused.NoteQuestionChange(4, true, noon)
	refused.NoteFailure(noon, "the token was revoked", true, 0)
	if refused.State != fermata.DeliverySent || refused.NextAt == nil {
		t.Errorf("an update is given up at the first refusal: %+v", refused)
	}
}

func TestRetryAfterIsHonouredAndBounded(t *testing.T) {
	t.Parallel()
	for asked, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, 1000 * time.Hour: 24 * time.Hour} {
		d := waitingDelivery()
		d.NoteFailure(noon, "slow down", false, asked)
		if got := d.NextAt.Sub(noon); got != want {
			t.Errorf("asked for %s: %s", asked, got)
		}
	}
	d := waitingDelivery()
	d.NoteFailure(noon, "no such address", true, 0)
	if d.State != fermata.DeliveryDead {
		t.Error("what is refused for good is tried again")
	}
}

func TestAnEndReachesEveryMessage(t *testing.T) {
	t.Parallel()
	sent := waitingDelivery()
	sent.NoteSent(noon, json.RawMessage(`"1"`), fermata.Pending, 3)
	sent.NoteQuestionChange(4, true, noon)
	if !sent.IsDue(noon) {
		t.Error("a message that was sent is not updated")
	}
	fixed := waitingDelivery()
	fixed.NoteSent(noon, nil, fermata.Pending, 3)
	fixed.NoteQuestionChange(4, true, noon)
	if fixed.NextAt != nil {
		t.Error("a message that cannot be changed is sent again")
	}
	unsent := waitingDelivery()
	unsent.NoteQuestionChange(4, true, noon)
	if unsent.State != fermata.DeliverySkipped || unsent.Reason != fermata.SkippedClosed {
		t.Error("a message that nobody needs is sent")
	}
	under := waitingDelivery()
	under.Lease(noon)
	under.NoteQuestionChange(4, true, noon)
	if under.State != fermata.DeliveryWaiting {
		t.Error("a message that is on its way was skipped")
	}
	under.NoteSent(noon, json.RawMessage(`"1"`), fermata.Pending, 3)
	if !under.IsDue(noon) {
		t.Error("a message that was on its way is not looked at again")
	}
	doubtful := waitingDelivery()
	doubtful.Lease(noon.Add(-time.Hour))
	doubtful.NoteQuestionChange(4, true, noon)
	if doubtful.State != fermata.DeliveryWaiting {
		t.Error("a message that may have gone out was forgotten")
	}
	extended := waitingDelivery()
	extended.NoteQuestionChange(4, false, noon)
	if extended.State != fermata.DeliveryWaiting {
		t.Error("a message of an open question was skipped")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	d := waitingDelivery()
	for range 100 {
		d.NoteFailure(noon, strings.Repeat("x", 2000), false, 0)
		d.FailedTries = 0
	}
	if len(d.History) > 30 || len(d.LastError) > 600 {
		t.Errorf("%d entries, an error of %d bytes", len(d.History), len(d.LastError))
	}
}

// TestAFailureIsText checks that a stored error has no NUL and no invalid
// UTF-8. PostgreSQL accepts neither as text, so saving would fail and the
// message would be sent again.
func TestAFailureIsText(t *testing.T) {
	t.Parallel()
	d, c := waitingDelivery(), &fermata.Channel{}
	d.NoteFailure(noon, "they said \x00\xff", false, 0)
	c.NoteFailure(noon, "they said \x00\xff")
	for _, kept := range []string{d.LastError, d.History[0].Error, c.LastError} {
		if kept != "they said \uFFFD\uFFFD" {
			t.Errorf("%q is kept", kept)
		}
	}
}

func TestWaitingForAPageGetsRarer(t *testing.T) {
	t.Parallel()
	d, last := waitingDelivery(), time.Duration(0)
	for range 10 {
		wait := d.NextPageCheck(noon).Sub(noon)
		if wait < last || wait > time.Hour {
			t.Fatalf("%s after %s", wait, last)
		}
		last = wait
		d.Defer(noon, noon.Add(wait), fermata.WaitsForPage)
	}
	if last != time.Hour {
		t.Errorf("in the end it looks every %s", last)
	}
}

func TestRoutesAreChecked(t *testing.T) {
	t.Parallel()
	if err := fermata.DefaultRoutes().Check(); err != nil {
		t.Error(err)
	}
	bad := fermata.Routes{Approval: []fermata.RouteStep{{After: "soon", Channel: "Slack!", When: "never"}}}
	for _, field := range []string{"approval[0].after", "approval[0].channel", "approval[0].when"} {
		hasProblem(t, bad.Check(), field)
	}
}

func TestAskNamesChannelsAndReminders(t *testing.T) {
	t.Parallel()
	task := runningTask()
	open := func(a fermata.Ask) (*fermata.Question, error) {
		a.Question = "Which?"
		return a.Open("q_1", task, agent, fermata.DefaultPolicy(), noon)
	}
	for field, a := range map[string]fermata.Ask{
		"channels[1]":               {Channels: []string{"slack", "slack"}},
		"channels[0]":               {Channels: []string{"not a name"}},
		"reminders[0]":              {Reminders: []string{"soon"}},
		"reminders[1]":              {Reminders: []string{"10m", "0s"}},
		"escalation[0].channels[0]": {Escalation: []fermata.EscalationLevel{{Channels: []string{""}, Timeout: "1h", OnTimeout: fermata.FailTask}}},
	} {
		_, err := open(a)
		hasProblem(t, err, field)
	}
	q, err := open(fermata.Ask{Channels: []string{"slack"}, Reminders: []string{"1h", "10m"}, ShareContext: true})
	if err != nil || len(q.Channels) != 1 || !q.ShareContext || q.ReminderDelays()[0] != 10*time.Minute {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestOutsideIsBoundedByRisk(t *testing.T) {
	t.Parallel()
	two := &fermata.Quorum{Required: 2}
	for _, tt := range []struct {
		risk   fermata.Risk
		quorum *fermata.Quorum
		known  fermata.Assurance
		may    bool
	}{
		{fermata.RiskLow, nil, fermata.AssuranceLink, true},
		{fermata.RiskMedium, nil, fermata.AssuranceLink, false},
		{fermata.RiskMedium, nil, fermata.AssuranceChannel, true},
		{fermata.RiskHigh, nil, fermata.AssuranceChannel, false},
		{fermata.RiskHigh, nil, fermata.AssuranceSession, true},
		{fermata.RiskCritical, nil, fermata.AssuranceSession, false},
		{fermata.RiskCritical, two, fermata.AssuranceSession, true},
		{fermata.RiskCritical, nil, fermata.AssurancePasskey, true},
	} {
		q := &fermata.Question{Asked: fermata.Asked{Risk: tt.risk, Approvals: tt.quorum}}
		c := person("ann")
		c.Assurance, c.WithoutSignIn = tt.known, true
		if got := q.CheckMayDecide(c) == nil; got != tt.may {
			t.Errorf("%s risk by %s: %v", tt.risk, tt.known, got)
		}
		c.WithoutSignIn = false
		// High and critical questions have a minimum assurance everywhere.
		if got := q.CheckMayDecide(c) == nil; got != (tt.may || tt.risk == fermata.RiskMedium) {
			t.Errorf("%s risk by %s inside: %v", tt.risk, tt.known, got)
		}
		q.LeastAssurance = fermata.AssuranceChannel
		c.WithoutSignIn = true
		if got := q.CheckMayDecide(c) == nil; got != tt.known.AtLeast(fermata.AssuranceChannel) {
			t.Errorf("the policy does not decide on %s risk by %s", tt.risk, tt.known)
		}
	}
}

// TestWhereTheAskerWantsIt checks that places in the metadata are found by the
// name of the channel first, then by its kind.
func TestWhereTheAskerWantsIt(t *testing.T) {
	t.Parallel()
	q := fermata.Question{
		Asked: fermata.Asked{
			Metadata: map[string]string{
				"slack": "#dev", "team": "#ops", "slack_mention": "@ann, here", "email": "ann@example.com, bob@example.com", "github_issue": "7",
			},
		},
	}
	for name, is := range map[string][2]any{
		"kind":      {"#dev", q.WantedPlace("other", "slack")},
		"name":      {"#ops", q.WantedPlace("team", "slack")},
		"issue":     {"7", q.WantedPlace("hub", "github")},
		"nowhere":   {"", q.WantedPlace("push", "push")},
		"mail":      {[]string{"ann@example.com", "bob@example.com"}, q.MailAddresses("email")},
		"mentioned": {[]string{"@ann", "here"}, q.MentionedNames("team", "slack")},
	} {
		if diff := cmp.Diff(is[0], is[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAgentsReadNoErrorOfADelivery checks that an agent sees that a message
// failed, but not the error, because the error may contain an address.
func TestAgentsReadNoErrorOfADelivery(t *testing.T) {
	t.Parallel()
	for kind, want := range map[fermata.ActorKind]string{fermata.ActorHuman: "no mailbox ann@example.com", fermata.ActorAgent: ""} {
		d := waitingDelivery()
		d.NoteFailure(noon, "no mailbox ann@example.com", false, 0)
		d.RedactFor(fermata.Caller{Kind: kind})
		if d.LastError != want || d.History[0].Error != want || d.History[0].What != "failed" {
			t.Errorf("%s reads %q and %+v", kind, d.LastError, d.History)
		}
	}
}
