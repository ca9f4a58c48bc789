package fermata_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

var (
	later       = noon.Add(time.Minute)
	anHourLater = noon.Add(time.Hour)
)

const (
	twoOptions = `{"question":"Which?","options":["a","b"]}`
	twoItems   = `{"items":[{"key":"name","prompt":"Name?"},{"key":"tags","prompt":"Tags?","response_type":"multi_choice","options":["x","y"],"required":false}]}`
	remedy     = `{"type":"error_recovery","title":"It failed","items":[{"key":"action","prompt":"What now?","response_type":"choice","options":["retry","retry_with_input"]},{"key":"input","prompt":"The input","required":false}]}`
	deploy     = `{"type":"approval","question":"Deploy?","action":{"command":"deploy"}}`
)

var deployHash = fermata.HashAction([]byte(`{"command":"deploy"}`))

func applyAnswer(t *testing.T, q *fermata.Question, a fermata.Answer, c fermata.Caller, want fermata.AnswerOutcome) {
	t.Helper()
	got, err := q.ApplyAnswer(a, c, later)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("settled as %d, want %d", got, want)
	}
}

func wantRefused(t *testing.T, q *fermata.Question, a fermata.Answer, c fermata.Caller, code fermata.Code, atFault ...string) {
	t.Helper()
	before := throughJSON(t, q)
	_, err := q.ApplyAnswer(a, c, later)
	wantError(t, err, code, atFault...)
	if diff := cmp.Diff(before, throughJSON(t, q)); diff != "" {
		t.Errorf("a refused answer changed the question: %s", diff)
	}
}

func TestAnswerCloses(t *testing.T) {
	t.Parallel()
	ann := person("ann")
	by := ann.Actor()
	tests := []struct {
		name, ask string
		answer    fermata.Answer
		want      fermata.Resolution
	}{
		{
			"one item", twoOptions, fermata.Answer{Answer: "b", Comment: "cheaper", Channel: "web"},
			fermata.Resolution{Answer: "b", Answers: map[string]any{"answer": "b"}, Comment: "cheaper", Channel: "web"},
		},
		{"one item by its key", twoOptions, fermata.Answer{Answers: map[string]any{"answer": "b"}}, fermata.Resolution{Answer: "b", Answers: map[string]any{"answer": "b"}}},
		{"false is an answer", `{"question":"Go on?","response_type":"boolean"}`, fermata.Answer{Answer: false}, fermata.Resolution{Answer: false, Answers: map[string]any{"answer": false}}},
		{
			"two items", twoItems, fermata.Answer{Answers: map[string]any{"name": "shop", "tags": []any{"y", "x"}}},
			fermata.Resolution{Answers: map[string]any{"name": "shop", "tags": []string{"x", "y"}}},
		},
		{"an optional item is left out", twoItems, fermata.Answer{Answers: map[string]any{"name": "shop"}}, fermata.Resolution{Answers: map[string]any{"name": "shop"}}},
		{"an optional item is null", twoItems, fermata.Answer{Answers: map[string]any{"name": "shop", "tags": nil}}, fermata.Resolution{Answers: map[string]any{"name": "shop"}}},
		{
			"approve", deploy, fermata.Answer{Answer: "approve", ActionHash: deployHash},
			fermata.Resolution{Answer: "approve", Answers: map[string]any{"answer": "approve"}, ActionHash: deployHash},
		},
		{"reject needs no hash", deploy, fermata.Answer{Answer: "reject"}, fermata.Resolution{Answer: "reject", Answers: map[string]any{"answer": "reject"}}},
		{
			"approve with edits", deploy, fermata.Answer{Answer: "approve", ActionHash: deployHash, Action: json.RawMessage(`{"command":"deploy --dry"}`)},
			fermata.Resolution{
				Answer: "approve", Answers: map[string]any{"answer": "approve"},
				Action: json.RawMessage(`{"command":"deploy --dry"}`), ActionHash: fermata.HashAction([]byte(`{"command":"deploy --dry"}`)),
			},
		},
		{
			"a null action is no edit", deploy, fermata.Answer{Answer: "approve", ActionHash: deployHash, Action: json.RawMessage(`null`)},
			fermata.Resolution{Answer: "approve", Answers: map[string]any{"answer": "approve"}, ActionHash: deployHash},
		},
		{"a quorum of one", `{"type":"approval","question":"Deploy?","approvals":{"required":1}}`, fermata.Answer{Answer: "approve"}, fermata.Resolution{Answer: "approve", Answers: map[string]any{"answer": "approve"}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, decode[fermata.Ask](t, tc.ask))
			applyAnswer(t, q, tc.answer, ann, fermata.AnswerCloses)
			tc.want.Status, tc.want.DecidedBy, tc.want.AnsweredBy = fermata.Answered, fermata.ActorHuman, &by
			tc.want.At, tc.want.Assurance = later, fermata.AssuranceSession
			if diff := cmp.Diff(&tc.want, q.Resolution); diff != "" || q.Status != fermata.Answered {
				t.Errorf("status %s, %s", q.Status, diff)
			}
			if approved := tc.want.Answer == "approve"; q.Resolution.IsApproved() != approved {
				t.Errorf("approved is %v, want %v", !approved, approved)
			}
		})
	}
}

func TestAnswerProblems(t *testing.T) {
	t.Parallel()
	edit := json.RawMessage(`{"command":"rm"}`)
	tests := []struct {
		name, ask string
		answer    fermata.Answer
		fields    []string
	}{
		{"nothing", twoOptions, fermata.Answer{}, []string{"answer"}},
		{"null by key", twoOptions, fermata.Answer{Answers: map[string]any{"answer": nil}}, []string{"answer"}},
		{"both forms", twoOptions, fermata.Answer{Answer: "a", Answers: map[string]any{"answer": "a"}}, []string{"answer"}},
		{"one value for two items", twoItems, fermata.Answer{Answer: "a"}, []string{"answers"}},
		{"unknown option", twoOptions, fermata.Answer{Answer: "c"}, []string{"answer"}},
		{"unknown keys", twoOptions, fermata.Answer{Answers: map[string]any{"z": 1.0, "y": 1.0}}, []string{"answers.y", "answers.z", "answer"}},
		{"everything at once", twoItems, fermata.Answer{Answers: map[string]any{"nome": "x", "tags": []any{"z"}}, Comment: "a\x00", Channel: "\xff"}, []string{"comment", "channel", "answers.nome", "answers.name", "answers.tags"}},
		{"long comment", twoOptions, fermata.Answer{Answer: "a", Comment: strings.Repeat("x", fermata.MaxAnswerText+1)}, []string{"comment"}},
		{"long channel", twoOptions, fermata.Answer{Answer: "a", Channel: strings.Repeat("x", 41)}, []string{"channel"}},
		{"a channel that turns round", twoOptions, fermata.Answer{Answer: "a", Channel: "slack\u202e"}, []string{"channel"}},
		{"a hash without an approval", twoOptions, fermata.Answer{Answer: "a", ActionHash: deployHash}, []string{"action_hash"}},
		{"an action without an approval", twoOptions, fermata.Answer{Answer: "a", Action: edit}, []string{"action_hash"}},
		{"approve unseen", deploy, fermata.Answer{Answer: "approve"}, []string{"action_hash"}},
		{"approve another action", deploy, fermata.Answer{Answer: "approve", ActionHash: fermata.HashAction(edit)}, []string{"action_hash"}},
		{"approve an action that is not there", `{"type":"approval","question":"Deploy?"}`, fermata.Answer{Answer: "approve", ActionHash: deployHash}, []string{"action_hash"}},
		{"edit unseen", deploy, fermata.Answer{Answer: "approve", Action: edit}, []string{"action_hash"}},
		{"edit under the edit's own hash", deploy, fermata.Answer{Answer: "approve", Action: edit, ActionHash: fermata.HashAction(edit)}, []string{"action_hash"}},
		{"edit and reject", deploy, fermata.Answer{Answer: "reject", Action: edit, ActionHash: deployHash}, []string{"action"}},
		{"edit is no JSON", deploy, fermata.Answer{Answer: "approve", Action: json.RawMessage(`{`), ActionHash: deployHash}, []string{"action"}},
		{"edit where no action is", `{"type":"approval","question":"Deploy?"}`, fermata.Answer{Answer: "approve", Action: edit}, []string{"action"}},
		{"another input that is missing", remedy, fermata.Answer{Answers: map[string]any{"action": "retry_with_input"}}, []string{"answers.input"}},
		{"another input that is no JSON", remedy, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": "{run: make}"}}, []string{"answers.input"}},
		{"another input that is a list", remedy, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": "[1]"}}, []string{"answers.input"}},
		{"another input that is null", remedy, fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": "null"}}, []string{"answers.input"}},
		{"another input that would not be used", remedy, fermata.Answer{Answers: map[string]any{"action": "retry", "input": "{}"}}, []string{"answers.input"}},
		{
			"edit by one of several", `{"type":"approval","question":"Deploy?","action":{"command":"deploy"},"approvals":{"required":2}}`,
			fermata.Answer{Answer: "approve", Action: edit, ActionHash: deployHash}, []string{"action"},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wantRefused(t, openQuestion(t, decode[fermata.Ask](t, tc.ask)), tc.answer, person("ann"), fermata.CodeInvalidRequest, tc.fields...)
		})
	}
}

// Only an operator of the project gives a failed step another input.
func TestAnswerWithAnotherInput(t *testing.T) {
	t.Parallel()
	other := fermata.Answer{Answers: map[string]any{"action": "retry_with_input", "input": `{"run":"make"}`}}
	ann, olga := person("ann"), person("olga")
	ann.Role, olga.Role = fermata.RoleResponder, fermata.RoleOperator
	wantRefused(t, openQuestion(t, decode[fermata.Ask](t, remedy)), other, ann, fermata.CodeForbidden)
	applyAnswer(t, openQuestion(t, decode[fermata.Ask](t, remedy)), fermata.Answer{Answers: map[string]any{"action": "retry"}}, ann, fermata.AnswerCloses)
	applyAnswer(t, openQuestion(t, decode[fermata.Ask](t, remedy)), other, olga, fermata.AnswerCloses)
}

func TestAnswerFromWhom(t *testing.T) {
	t.Parallel()
	asker := person("ann")
	tests := []struct {
		name      string
		assignees []string
		quorum    *fermata.Quorum
		change    func(*fermata.Caller)
		code      fermata.Code
	}{
		{"anybody", nil, nil, nil, ""},
		{"by handle", []string{"eve", "bob"}, nil, nil, ""},
		{"by handle, spelled out", []string{"member:bob"}, nil, nil, ""},
		{"by id, spelled out", []string{"member:mem_bob"}, nil, nil, ""},
		{"by id", []string{"mem_bob"}, nil, nil, ""},
		{"by group", []string{"group:ops"}, nil, nil, ""},
		{"by role", []string{"role:responder"}, nil, nil, ""},
		{"another handle", []string{"ann"}, nil, nil, "not_eligible"},
		{"another group", []string{"group:dev"}, nil, nil, "not_eligible"},
		{"another role", []string{"role:admin"}, nil, nil, "not_eligible"},
		{"a group is no handle", []string{"ops"}, nil, nil, "not_eligible"},
		{"a handle is no group", []string{"group:bob"}, nil, nil, "not_eligible"},
		{"a viewer", nil, nil, func(c *fermata.Caller) { c.Role = fermata.RoleViewer }, "not_eligible"},
		{"without a role", nil, nil, func(c *fermata.Caller) { c.Role = "" }, "not_eligible"},
		{"a token that may not", nil, nil, func(c *fermata.Caller) { c.Scopes = []fermata.Scope{fermata.ScopeRead, fermata.ScopeAsk} }, "forbidden"},
		{"an admin's token", nil, nil, func(c *fermata.Caller) { c.Scopes = []fermata.Scope{fermata.ScopeAdmin} }, ""},
		{"the server", nil, nil, func(c *fermata.Caller) { c.Kind = fermata.ActorSystem }, "not_eligible"},
		{"the asker", nil, &fermata.Quorum{}, func(c *fermata.Caller) { *c = asker }, "not_eligible"},
		{"the asker, where it is allowed", nil, &fermata.Quorum{Self: true}, func(c *fermata.Caller) { *c = asker }, ""},
		{"one local user without an id", nil, nil, func(c *fermata.Caller) { c.MemberID, c.Name = "", "" }, ""},
		{"an empty name is nobody's", []string{"member:", "x"}, nil, func(c *fermata.Caller) { c.MemberID, c.Name = "", "" }, "not_eligible"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := fermata.Ask{Type: fermata.Approval, Question: "Deploy?", Assignees: tc.assignees, Approvals: tc.quorum}
			q, err := a.Open("q_1", runningTask(), asker.Actor(), fermata.DefaultPolicy(), noon)
			if err != nil {
				t.Fatal(err)
			}
			c := person("bob", "ops")
			if tc.change != nil {
				tc.change(&c)
			}
			if got := fermata.CodeOf(q.CheckMayAnswer(c)); got != tc.code {
				t.Errorf("code %q, want %q (%v)", got, tc.code, q.CheckMayAnswer(c))
			}
			if tc.code != "" {
				wantRefused(t, q, fermata.Answer{Answer: "approve"}, c, tc.code)
			} else {
				applyAnswer(t, q, fermata.Answer{Answer: "approve"}, c, fermata.AnswerCloses)
			}
		})
	}
}

// TestAnswerNeverFromAnAgent checks that no agent can answer, whatever its
// token says, and whatever the type and state of the question.
func TestAnswerNeverFromAnAgent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := fermata.Caller{
			Kind:      rapid.SampledFrom([]fermata.ActorKind{fermata.ActorAgent, fermata.ActorSystem, fermata.ActorPolicy, fermata.ActorTimeout, ""}).Draw(t, "kind"),
			TokenID:   rapid.SampledFrom([]string{"", "tok_coder", "mem_ann"}).Draw(t, "token"),
			MemberID:  rapid.SampledFrom([]string{"", "mem_ann"}).Draw(t, "member"),
			Name:      rapid.SampledFrom([]string{"", "ann", "coder"}).Draw(t, "name"),
			Role:      rapid.SampledFrom(fermata.Roles).Draw(t, "role"),
			Groups:    rapid.SliceOf(rapid.SampledFrom([]string{"ops"})).Draw(t, "groups"),
			Scopes:    rapid.SliceOf(rapid.SampledFrom(fermata.Scopes)).Draw(t, "scopes"),
			Assurance: rapid.SampledFrom([]fermata.Assurance{"", fermata.AssuranceLink, fermata.AssurancePasskey}).Draw(t, "assurance"),
		}
		q := openQuestion(t, decode[fermata.Ask](t, rapid.SampledFrom([]string{
			`{"type":"approval","question":"a?","assignees":["ann","group:ops","role:admin"]}`,
			`{"type":"approval","question":"a?","approvals":{"required":2,"self":true}}`, `{"type":"approval","question":"a?"}`,
		}).Draw(t, "question")))
		switch rapid.SampledFrom([]string{"pending", "answered", "timed out", "cancelled"}).Draw(t, "status") {
		case "answered":
			for _, who := range []string{"ann", "bob"} {
				if _, err := q.ApplyAnswer(fermata.Answer{Answer: "approve"}, person(who, "ops"), later); err != nil && q.Status == fermata.Pending {
					t.Fatalf("%s: %v", who, err)
				}
			}
		case "timed out":
			q.Expire(anHourLater)
		case "cancelled":
			if _, err := q.Cancel(agent, "", later); err != nil {
				t.Fatalf("%v", err)
			}
		}
		before := throughJSON(t, q)
		_, err := q.ApplyAnswer(fermata.Answer{Answer: "approve", Restart: rapid.Bool().Draw(t, "restart")}, c, later)
		if fermata.CodeOf(err) != fermata.CodeNotEligible {
			t.Fatalf("an answer of %+v: %v", c, err)
		}
		if diff := cmp.Diff(before, throughJSON(t, q)); diff != "" {
			t.Fatalf("%s", diff)
		}
		if c.Kind == fermata.ActorAgent && (c.HasScope(fermata.ScopeAnswer) || c.HasScope(fermata.ScopeAdmin)) {
			t.Fatalf("an agent has the scopes of a person: %+v", c)
		}
	})
}

func TestAnswerAgain(t *testing.T) {
	t.Parallel()
	ann, bob := person("ann"), person("bob")
	// Each case runs with the question in memory, and with the question read
	// back from the database.
	for name, load := range map[string]func(*testing.T, *fermata.Question) *fermata.Question{
		"in memory": func(_ *testing.T, q *fermata.Question) *fermata.Question { return q },
		"stored":    func(t *testing.T, q *fermata.Question) *fermata.Question { t.Helper(); return throughJSON(t, q) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, decode[fermata.Ask](t, twoItems))
			answer := fermata.Answer{Answers: map[string]any{"name": "shop", "tags": []any{"y", "x"}}}
			applyAnswer(t, q, answer, ann, fermata.AnswerCloses)
			q = load(t, q)
			applyAnswer(t, q, answer, ann, fermata.AnswerRepeats)
			applyAnswer(t, q, fermata.Answer{Answers: map[string]any{"name": "shop", "tags": []any{"x", "y", "x"}}, Channel: "slack"}, ann, fermata.AnswerRepeats)
			// A comment that would be lost is refused.
			wantRefused(t, q, fermata.Answer{Answers: answer.Answers, Comment: "but gently"}, ann, fermata.CodeQuestionClosed)
			for _, other := range []fermata.Answer{
				{Answers: map[string]any{"name": "shop"}}, {Answers: map[string]any{"name": "shop", "tags": []any{"x"}}},
				{Answers: map[string]any{"name": "Shop", "tags": []any{"x", "y"}}},
			} {
				wantRefused(t, q, other, ann, fermata.CodeQuestionClosed)
			}
			// The same answer from another person does not count as a repetition.
			wantRefused(t, q, answer, bob, fermata.CodeQuestionClosed)
		})
	}
}

func TestAnswerToAClosedQuestionNamesTheWinner(t *testing.T) {
	t.Parallel()
	closed := func(end func(q *fermata.Question)) error {
		q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
		end(q)
		_, err := q.ApplyAnswer(fermata.Answer{Answer: "b"}, person("bob"), anHourLater)
		if err == nil {
			_, err = q.ApplyAnswer(fermata.Answer{Answer: "a"}, person("bob"), anHourLater)
		}
		var e *fermata.Error
		if !errors.As(err, &e) || e.Question != q || e.Hint == "" {
			t.Errorf("the error has neither question nor hint: %v", err)
		}
		return err
	}
	tests := []struct {
		end  func(q *fermata.Question)
		want string
	}{
		{func(q *fermata.Question) {
			applyAnswer(t, q, fermata.Answer{Answer: "a"}, person("ann"), fermata.AnswerCloses)
		}, "the question is closed: answered by ann at 2026-11-21T12:01:00Z: a"},
		{func(q *fermata.Question) { q.Expire(anHourLater) }, "the question is closed: timed out at 2026-11-21T12:30:00Z, nobody answered"},
		{func(q *fermata.Question) {
			q.Items[0].Default, q.OnTimeout = "a", fermata.TakeDefault
			q.Expire(anHourLater)
		}, "the question is closed: timed out at 2026-11-21T12:30:00Z, nobody answered; the default was taken: a"},
		{func(q *fermata.Question) { _, _ = q.Cancel(agent, "", later) }, "the question is closed: cancelled by coder at 2026-11-21T12:01:00Z"},
		{func(q *fermata.Question) { _, _ = q.Cancel(fermata.SystemActor, "", later) }, "the question is closed: cancelled by system at 2026-11-21T12:01:00Z"},
		{func(q *fermata.Question) { q.Items[0].Default = "a"; q.AnswerByPolicy(later) }, "the question is closed: answered by policy at 2026-11-21T12:01:00Z: a"},
	}
	for _, tc := range tests {
		err := closed(tc.end)
		wantError(t, err, fermata.CodeQuestionClosed)
		if err.Error() != tc.want {
			t.Errorf("%q, want %q", err, tc.want)
		}
	}
}

// TestAnActionThatWasChangedIsNotApproved covers a person with write access to
// the database who shows another action beside the original hash.
func TestAnActionThatWasChangedIsNotApproved(t *testing.T) {
	t.Parallel()
	q := openQuestion(t, decode[fermata.Ask](t, deploy))
	q.Action = json.RawMessage(`{"command":"nice"}`)
	wantRefused(t, q, fermata.Answer{Answer: "approve", ActionHash: q.ActionHash}, person("ann"), fermata.CodePolicyViolation)
	applyAnswer(t, q, fermata.Answer{Answer: "reject"}, person("ann"), fermata.AnswerCloses)
}

// TestAnswerAgainWithAnotherAction checks that an approval of an edited action
// is refused if another action was approved before.
func TestAnswerAgainWithAnotherAction(t *testing.T) {
	t.Parallel()
	ann := person("ann")
	plain := fermata.Answer{Answer: "approve", ActionHash: deployHash}
	edited, other := plain, plain
	edited.Action, other.Action = json.RawMessage(`{"command":"deploy < a", "x":1}`), json.RawMessage(`{"command":"rm"}`)

	q := openQuestion(t, decode[fermata.Ask](t, deploy))
	applyAnswer(t, q, plain, ann, fermata.AnswerCloses)
	applyAnswer(t, q, plain, ann, fermata.AnswerRepeats)
	wantRefused(t, q, edited, ann, fermata.CodeQuestionClosed)

	q = openQuestion(t, decode[fermata.Ask](t, deploy))
	applyAnswer(t, q, edited, ann, fermata.AnswerCloses)
	applyAnswer(t, q, edited, ann, fermata.AnswerRepeats)
	q = throughJSON(t, q)
	applyAnswer(t, q, edited, ann, fermata.AnswerRepeats)
	wantRefused(t, q, plain, ann, fermata.CodeQuestionClosed)
	wantRefused(t, q, other, ann, fermata.CodeQuestionClosed)
}

func TestAnswerLate(t *testing.T) {
	t.Parallel()
	ann, bob := person("ann"), person("bob")
	expired := func() *fermata.Question {
		q := openQuestion(t, decode[fermata.Ask](t, twoOptions))
		q.Expire(anHourLater)
		return q
	}
	for _, restart := range []bool{false, true} {
		q := expired()
		was := *q.Resolution
		applyAnswer(t, q, fermata.Answer{Answer: "a", Comment: "sorry", Restart: restart}, ann, fermata.AnswerLate)
		was.LateAnswers = []fermata.LateAnswer{{By: ann.Actor(), At: later, Answers: map[string]any{"answer": "a"}, Comment: "sorry", Restarted: restart}}
		if diff := cmp.Diff(&was, q.Resolution); diff != "" || q.Status != fermata.TimedOut {
			t.Errorf("status %s, %s", q.Status, diff)
		}
		q = throughJSON(t, q)
		applyAnswer(t, q, fermata.Answer{Answer: "a", Restart: restart}, ann, fermata.AnswerRepeats)
		applyAnswer(t, q, fermata.Answer{Answer: "a"}, ann, fermata.AnswerRepeats)
		applyAnswer(t, q, fermata.Answer{Answer: "a", Comment: " sorry "}, ann, fermata.AnswerRepeats)
		wantRefused(t, q, fermata.Answer{Answer: "a", Comment: "use b instead"}, ann, fermata.CodeQuestionClosed)
		wantRefused(t, q, fermata.Answer{Answer: "b"}, ann, fermata.CodeQuestionClosed)
		wantRefused(t, q, fermata.Answer{Answer: "a"}, bob, fermata.CodeQuestionClosed)
		if e, _ := errors.AsType[*fermata.Error](q.ClosedError()); !strings.Contains(e.Hint, "ann answered after the deadline") {
			t.Errorf("who comes later still is told %q", e.Hint)
		}
	}
	wantRefused(t, expired(), fermata.Answer{Answer: "c"}, ann, fermata.CodeInvalidRequest, "answer")

	// Time has decided, so a late approval does not approve.
	q := openQuestion(t, decode[fermata.Ask](t, deploy))
	q.Expire(anHourLater)
	wantRefused(t, q, fermata.Answer{Answer: "approve"}, ann, fermata.CodeInvalidRequest, "action_hash")
	applyAnswer(t, q, fermata.Answer{Answer: "approve", ActionHash: deployHash, Restart: true}, ann, fermata.AnswerLate)
	if q.Resolution.IsApproved() || q.Resolution.DecidedBy != fermata.ActorTimeout || q.Resolution.AnsweredBy != nil {
		t.Errorf("a late approval became %+v", q.Resolution)
	}
}

func TestAnswerVotes(t *testing.T) {
	t.Parallel()
	type vote struct {
		who, value string
		want       fermata.AnswerOutcome
		code       fermata.Code
	}
	const v, now, again, taken, closed = fermata.AnswerVotes, fermata.AnswerCloses, fermata.AnswerRepeats, fermata.CodeInvalidRequest, fermata.CodeQuestionClosed
	tests := []struct {
		name   string
		quorum fermata.Quorum
		votes  []vote
		answer any // nil: still pending
	}{
		{"two approve", fermata.Quorum{Required: 2}, []vote{{"ann", "approve", v, ""}, {"bob", "approve", now, ""}}, "approve"},
		{"one person counts once", fermata.Quorum{Required: 2}, []vote{{"ann", "approve", v, ""}, {"ann", "approve", again, ""}}, nil},
		{"a vote stands", fermata.Quorum{Required: 2}, []vote{{"ann", "approve", v, ""}, {"ann", "reject", 0, taken}}, nil},
		{"the first rejection decides", fermata.Quorum{Required: 3}, []vote{{"ann", "approve", v, ""}, {"bob", "reject", now, ""}}, "reject"},
		{"first is the default and can be said", fermata.Quorum{Required: 3, Reject: "first"}, []vote{{"bob", "reject", now, ""}}, "reject"},
		{"a majority of two rejects", fermata.Quorum{Required: 2, Reject: "majority"}, []vote{{"ann", "reject", v, ""}, {"bob", "reject", now, ""}}, "reject"},
		{"a majority of three rejects", fermata.Quorum{Required: 3, Reject: "majority"}, []vote{{"ann", "reject", v, ""}, {"bob", "approve", v, ""}, {"cid", "reject", now, ""}}, "reject"},
		{"a minority does not", fermata.Quorum{Required: 3, Reject: "majority"}, []vote{{"ann", "reject", v, ""}, {"bob", "approve", v, ""}, {"cid", "approve", v, ""}, {"dan", "approve", now, ""}}, "approve"},
		{
			"after the end", fermata.Quorum{Required: 2},
			[]vote{{"ann", "approve", v, ""}, {"bob", "approve", now, ""}, {"ann", "approve", again, ""}, {"bob", "approve", again, ""}, {"ann", "reject", 0, closed}, {"cid", "approve", 0, closed}},
			"approve",
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := openQuestion(t, fermata.Ask{Question: "Deploy?", Action: json.RawMessage(`{"command":"deploy"}`), Approvals: &tc.quorum})
			counted := map[string]bool{}
			for i, cast := range tc.votes {
				a := fermata.Answer{Answer: cast.value, ActionHash: deployHash, Channel: []string{"web", "slack"}[i%2]}
				if cast.code != "" {
					wantRefused(t, q, a, person(cast.who), cast.code)
					continue
				}
				applyAnswer(t, q, a, person(cast.who), cast.want)
				counted[cast.who] = true
				q = throughJSON(t, q)
			}
			if len(q.Votes) != len(counted) {
				t.Errorf("%d votes of %d people", len(q.Votes), len(counted))
			}
			if tc.answer == nil {
				if q.Status != fermata.Pending || q.Resolution != nil {
					t.Errorf("closed: %+v", q.Resolution)
				}
				return
			}
			if q.Status != fermata.Answered || q.Resolution.Answer != tc.answer || q.Resolution.DecidedBy != fermata.ActorHuman {
				t.Errorf("status %s, %+v", q.Status, q.Resolution)
			}
		})
	}

	q := openQuestion(t, decode[fermata.Ask](t, `{"type":"approval","question":"Deploy?","action":{"command":"deploy"},"approvals":{"required":2}}`))
	wantRefused(t, q, fermata.Answer{Answer: "approve"}, person("ann"), fermata.CodeInvalidRequest, "action_hash")
	applyAnswer(t, q, fermata.Answer{Answer: "approve", ActionHash: deployHash, Comment: "at night"}, person("ann"), fermata.AnswerVotes)
	applyAnswer(t, q, fermata.Answer{Answer: "approve", ActionHash: deployHash}, person("ann"), fermata.AnswerRepeats)
	wantRefused(t, q, fermata.Answer{Answer: "approve", ActionHash: deployHash, Comment: "not at night"}, person("ann"), fermata.CodeQuestionClosed)
	q.Expire(anHourLater)
	if q.Resolution.IsApproved() || q.Resolution.DecidedBy != fermata.ActorTimeout {
		t.Errorf("half a quorum at the deadline became %+v", q.Resolution)
	}
}

func TestAnswerText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		r    fermata.Resolution
		want string
	}{
		{fermata.Resolution{}, ""},
		{fermata.Resolution{Answer: "a b"}, "a b"},
		{fermata.Resolution{Answer: true}, "true"},
		{fermata.Resolution{Answer: 1234567.0}, "1234567"},
		{fermata.Resolution{Answer: -0.000001}, "-0.000001"},
		{fermata.Resolution{Answer: 1e300}, "1e+300"},
		{fermata.Resolution{Answer: 0.1}, "0.1"},
		{fermata.Resolution{Answer: []string{"x", "y"}}, "x, y"},
		{fermata.Resolution{Answer: []any{"x", "y"}}, "x, y"},
		{fermata.Resolution{Answers: map[string]any{"n": 2.0, "a": "x", "l": []any{"p", "q"}}}, "a = x; l = p, q; n = 2"},
	}
	for _, tc := range tests {
		if got := tc.r.AnswerText(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
