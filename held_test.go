package fermata_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

func hold(t *testing.T, q *fermata.Question, a fermata.Answer, c fermata.Caller, want fermata.AnswerOutcome) {
	t.Helper()
	got, err := q.Hold(a, c, fermata.DefaultPolicy(), later)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("settled as %d, want %d", got, want)
	}
}

// TestHeldAnswerBecomesTheResolution checks that a released answer gives the
// same resolution as an answer without undo.
func TestHeldAnswerBecomesTheResolution(t *testing.T) {
	t.Parallel()
	edited := json.RawMessage(`{"command": "deploy --dry-run"}`)
	for name, c := range map[string]struct {
		ask    string
		answer fermata.Answer
	}{
		"one item":      {twoOptions, fermata.Answer{Answer: "b", Comment: "cheaper", Channel: "web"}},
		"several items": {twoItems, fermata.Answer{Answers: map[string]any{"name": "n", "tags": []string{"y", "x"}}}},
		"approval":      {deploy, fermata.Answer{Answer: "approve", ActionHash: deployHash}},
		"edited":        {deploy, fermata.Answer{Answer: "approve", ActionHash: deployHash, Action: edited}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, then := openQuestion(t, decode[fermata.Ask](t, c.ask)), openQuestion(t, decode[fermata.Ask](t, c.ask))
			applyAnswer(t, now, c.answer, person("ann"), fermata.AnswerCloses)
			hold(t, then, c.answer, person("ann"), fermata.AnswerHeld)
			if then.Status != fermata.Pending || then.Resolution != nil {
				t.Fatalf("the question is %s: %+v", then.Status, then.Resolution)
			}
			release := then.HeldAnswer.ReleaseAt
			if want := later.Add(5 * time.Second); !release.Equal(want) {
				t.Errorf("released at %s, want %s", release, want)
			}
			if then.IsReleaseDue(release.Add(-1)) || !then.IsReleaseDue(release) || !then.IsDecided(release) {
				t.Error("the instant of the release is not the one that decides")
			}
			q := throughJSON(t, then)
			q.Release()
			if diff := cmp.Diff(throughJSON(t, now), throughJSON(t, q)); diff != "" {
				t.Errorf("(-at once +released):\n%s", diff)
			}
		})
	}
}

func TestWhatIsHeld(t *testing.T) {
	t.Parallel()
	soon := noon.Add(time.Minute + 2*time.Second)
	for name, c := range map[string]struct {
		change func(q *fermata.Question, p *fermata.Policy)
		want   time.Duration
	}{
		"by default":        {func(*fermata.Question, *fermata.Policy) {}, 5 * time.Second},
		"by the policy":     {func(_ *fermata.Question, p *fermata.Policy) { p.UndoSeconds = ptr(30) }, 30 * time.Second},
		"not by the policy": {func(_ *fermata.Question, p *fermata.Policy) { p.UndoSeconds = ptr(0) }, 0},
		"critical":          {func(q *fermata.Question, _ *fermata.Policy) { q.Risk = fermata.RiskCritical }, 0},
		"high":              {func(q *fermata.Question, _ *fermata.Policy) { q.Risk = fermata.RiskHigh }, 5 * time.Second},
		"to the deadline":   {func(q *fermata.Question, _ *fermata.Policy) { q.Deadline = &soon }, 2 * time.Second},
		"without deadline":  {func(q *fermata.Question, _ *fermata.Policy) { q.Deadline = nil }, 5 * time.Second},
	} {
		q, p := openQuestion(t, decode[fermata.Ask](t, twoOptions)), fermata.DefaultPolicy()
		c.change(q, &p)
		ann := person("ann")
		settled, err := q.Hold(sign(t, q, fermata.Answer{Answer: "a"}, ann, later), ann, p, later)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.want == 0 && (settled != fermata.AnswerCloses || q.HeldAnswer != nil):
			t.Errorf("%s: settled as %d with %+v", name, settled, q.HeldAnswer)
		case c.want > 0 && (settled != fermata.AnswerHeld || q.HeldAnswer.ReleaseAt.Sub(later) != c.want):
			t.Errorf("%s: settled as %d with %+v", name, settled, q.HeldAnswer)
		}
	}
}

// TestVotesAreNotHeld checks that votes of several people are final and are not held.
func TestVotesAreNotHeld(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, `{"type":"approval","question":"Deploy?","approvals":{"required":2}}`))
	hold(t, q, fermata.Answer{Answer: "approve"}, person("ann"), fermata.AnswerVotes)
	if q.HeldAnswer != nil || len(q.Votes) != 1 {
		t.Errorf("%+v", q)
	}
}

func TestAnswersBesideAHeldOne(t *testing.T) {
	t.Parallel()
	ann, bob := person("ann"), person("bob")
	q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
	hold(t, q, fermata.Answer{Answer: "a"}, ann, fermata.AnswerHeld)
	q = throughJSON(t, q)
	hold(t, q, fermata.Answer{Answer: "a"}, ann, fermata.AnswerRepeats)
	applyAnswer(t, q, fermata.Answer{Answer: "a"}, ann, fermata.AnswerRepeats)
	wantRefused(t, q, fermata.Answer{Answer: "a", Comment: "but gently"}, ann, fermata.CodeQuestionClosed)
	wantRefused(t, q, fermata.Answer{Answer: "b"}, ann, fermata.CodeQuestionClosed)
	wantRefused(t, q, fermata.Answer{Answer: "a"}, bob, fermata.CodeQuestionClosed)
	wantRefused(t, q, fermata.Answer{Answer: "c"}, bob, fermata.CodeInvalidRequest, "answer")
	robot := person("robot")
	robot.Kind = fermata.ActorAgent
	wantRefused(t, q, fermata.Answer{Answer: "a"}, robot, fermata.CodeNotEligible)
}

// TestHoldChecksAtOnce checks that Hold refuses an answer at once for the same
// reasons as ApplyAnswer.
func TestHoldChecksAtOnce(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, deploy))
	_, err := q.Hold(fermata.Answer{Answer: "approve", ActionHash: "other"}, person("ann"), fermata.DefaultPolicy(), later)
	wantError(t, err, fermata.CodeInvalidRequest, "action_hash")
	if q.HeldAnswer != nil {
		t.Errorf("a refused answer is held: %+v", q.HeldAnswer)
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	ann, bob := person("ann"), person("bob")
	q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
	wantError(t, q.Undo(ann), fermata.CodeIllegalTransition)
	hold(t, q, fermata.Answer{Answer: "a"}, ann, fermata.AnswerHeld)
	wantError(t, q.Undo(bob), fermata.CodeNotEligible)
	if err := q.Undo(ann); err != nil {
		t.Fatal(err)
	}
	if q.HeldAnswer != nil || q.Status != fermata.Pending {
		t.Fatalf("%+v", q)
	}
	applyAnswer(t, q, fermata.Answer{Answer: "b"}, bob, fermata.AnswerCloses)
	wantError(t, q.Undo(ann), fermata.CodeQuestionClosed)
}

// TestAgentsDoNotSeeHeldAnswers checks that agents cannot act on an answer that
// may be taken back.
func TestAgentsDoNotSeeHeldAnswers(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
	hold(t, q, fermata.Answer{Answer: "a"}, person("ann"), fermata.AnswerHeld)
	if q.ViewFor(fermata.Caller{Kind: fermata.ActorAgent}).HeldAnswer != nil {
		t.Error("an agent sees the held answer")
	}
	if q.HeldAnswer == nil || q.ViewFor(person("bob")).HeldAnswer == nil {
		t.Error("a person does not see the held answer")
	}
	var none *fermata.Question
	if none.ViewFor(person("bob")) != nil {
		t.Error("nothing was made into something")
	}
}

func TestCancelWinsOverAHeldAnswer(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
	hold(t, q, fermata.Answer{Answer: "a"}, person("ann"), fermata.AnswerHeld)
	if ok, err := q.Cancel(agent, "", later); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if q.HeldAnswer != nil || q.IsReleaseDue(anHourLater) || q.Resolution.Answers != nil {
		t.Errorf("%+v", q)
	}
}

func TestNamesAndMentions(t *testing.T) {
	t.Parallel()
	ann := person("ann", "ops")
	want := []string{"ann", "member:ann", "mem_ann", "member:mem_ann", "group:ops"}
	if diff := cmp.Diff(want, ann.AssigneeNames()); diff != "" {
		t.Error(diff)
	}
	// CheckMayAnswer recognizes a caller by exactly these names.
	for _, name := range append(want, "role:responder") {
		q := openQuestion(t, fermata.Ask{Question: "Go on?", Assignees: []string{name}})
		if err := q.CheckMayAnswer(ann); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := openQuestion(t, fermata.Ask{Title: "Paint", Body: "the Fence", Question: "Which Colour?"})
	q.TaskTitle = "Garden"
	for text, want := range map[string]bool{"PAINT": true, "fence": true, "colour": true, "garden": true, "prompt": false, "blue": false} {
		if q.ContainsText(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
