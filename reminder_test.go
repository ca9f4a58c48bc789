package fermata_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// TestDeadlineByWhoWaits checks that a session that Fermata resumes waits without a limit, but a process does not.
func TestDeadlineByWhoWaits(t *testing.T) {
	t.Parallel()
	own := fermata.DefaultPolicy()
	own.ResumedTimeout = map[fermata.QuestionType]fermata.Timeout{fermata.Blocking: "3d"}
	own.DefaultTimeout = map[fermata.QuestionType]fermata.Timeout{fermata.Blocking: "2h"}
	bounded := fermata.Policy{MinTimeout: "20m", MaxTimeout: "12h"}
	levels := []fermata.EscalationLevel{{Assignees: []string{"bob"}, Timeout: "1h", OnTimeout: fermata.FailTask}}
	for name, c := range map[string]struct {
		runner string
		ask    fermata.Ask
		policy fermata.Policy
		want   fermata.Timeout
	}{
		"blocking of a worker":           {"claude", fermata.Ask{}, fermata.DefaultPolicy(), "never"},
		"blocking of any worker":         {"", fermata.Ask{}, fermata.DefaultPolicy(), "never"},
		"approval of a worker":           {"codex", fermata.Ask{Type: fermata.Approval}, fermata.DefaultPolicy(), "never"},
		"error recovery of a worker":     {"acp", fermata.Ask{Type: fermata.ErrorRecovery}, fermata.DefaultPolicy(), "never"},
		"named by the worker":            {"claude", fermata.Ask{Timeout: "1h"}, fermata.DefaultPolicy(), "1h"},
		"levels of a worker":             {"claude", fermata.Ask{Escalation: levels}, fermata.DefaultPolicy(), "30m"},
		"policy for workers":             {"claude", fermata.Ask{}, own, "3d"},
		"policy for another type":        {"claude", fermata.Ask{Type: fermata.Approval}, own, "never"},
		"worker where never is not":      {"claude", fermata.Ask{}, bounded, "12h"},
		"blocking of a script":           {fermata.RunnerExternal, fermata.Ask{}, fermata.DefaultPolicy(), "30m"},
		"approval of a script":           {fermata.RunnerExternal, fermata.Ask{Type: fermata.Approval}, fermata.DefaultPolicy(), "15m"},
		"error recovery of a workflow":   {fermata.RunnerWorkflow, fermata.Ask{Type: fermata.ErrorRecovery}, fermata.DefaultPolicy(), "10m"},
		"policy for scripts":             {fermata.RunnerExternal, fermata.Ask{}, own, "2h"},
		"script below the shortest":      {fermata.RunnerExternal, fermata.Ask{Type: fermata.Approval}, bounded, "20m"},
		"beside the work, without never": {"claude", fermata.Ask{Type: fermata.NonBlocking, Default: "x"}, bounded, "12h"},
	} {
		task := runningTask()
		task.Runner = c.runner
		c.ask.Question = "a?"
		q, err := c.ask.Open("q_1", task, agent, c.policy, noon)
		if err != nil || q.Timeout != c.want || (q.Deadline == nil) != (c.want == fermata.Never) {
			t.Errorf("%s: %+v, %v, want %s", name, q, err, c.want)
		}
	}
}

func TestRemindersOfAResumedSession(t *testing.T) {
	t.Parallel()
	with := func(change func(*fermata.Policy)) fermata.Policy {
		p := fermata.DefaultPolicy()
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		runner string
		ask    fermata.Ask
		policy fermata.Policy
		list   []string
		every  fermata.Timeout
	}{
		"usual":                {"claude", fermata.Ask{}, fermata.DefaultPolicy(), []string{"1h", "1d"}, "7d"},
		"the asker's own":      {"claude", fermata.Ask{Reminders: []string{"10m"}}, fermata.DefaultPolicy(), []string{"10m"}, ""},
		"none by the asker":    {"claude", fermata.Ask{Reminders: []string{}}, fermata.DefaultPolicy(), nil, ""},
		"the policy's own":     {"claude", fermata.Ask{}, with(func(p *fermata.Policy) { p.Reminders, p.RemindEvery = []string{"2h"}, "2d" }), []string{"2h"}, "2d"},
		"none by the policy":   {"claude", fermata.Ask{}, with(func(p *fermata.Policy) { p.Reminders, p.RemindEvery = []string{}, fermata.Never }), nil, ""},
		"of a script":          {fermata.RunnerExternal, fermata.Ask{}, fermata.DefaultPolicy(), nil, ""},
		"of a workflow":        {fermata.RunnerWorkflow, fermata.Ask{}, fermata.DefaultPolicy(), nil, ""},
		"of what stops no run": {"claude", fermata.Ask{Type: fermata.NonBlocking, Default: "x"}, fermata.DefaultPolicy(), nil, ""},
	} {
		task := runningTask()
		task.Runner = c.runner
		c.ask.Question = "a?"
		q, err := c.ask.Open("q_1", task, agent, c.policy, noon)
		if err != nil || !slices.Equal(q.Reminders, c.list) || q.RemindEvery != c.every {
			t.Errorf("%s: %v then every %q (%v), want %v then every %q", name, q.Reminders, q.RemindEvery, err, c.list, c.every)
		}
	}
}

func TestNextRepeat(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	q := fermata.Question{CreatedAt: noon, Asked: fermata.Asked{Reminders: []string{"1d", "1h"}, RemindEvery: "7d"}}
	for after, want := range map[time.Duration]time.Duration{
		0: 8 * day, day: 8 * day, 8*day - time.Second: 8 * day, 8 * day: 15 * day, 9 * day: 15 * day, 100 * day: 106 * day,
	} {
		if got, ok := q.NextRepeatedReminder(noon.Add(after)); !ok || !got.Equal(noon.Add(want)) {
			t.Errorf("after %s: %s, %t, want %s", after, got, ok, noon.Add(want))
		}
	}
	q.Reminders = nil
	if got, ok := q.NextRepeatedReminder(noon); !ok || !got.Equal(noon.Add(7*day)) {
		t.Errorf("without a list: %s, %t", got, ok)
	}
	q.RemindEvery = ""
	if got, ok := q.NextRepeatedReminder(noon); ok {
		t.Errorf("without repetition: %s", got)
	}
}

func TestPolicyForResumedSessions(t *testing.T) {
	t.Parallel()
	p := fermata.DefaultPolicy()
	p.ResumedTimeout = map[fermata.QuestionType]fermata.Timeout{"blocking": "soon", "approval": "never", "urgent": "1h", "non_blocking": "1h"}
	p.Reminders, p.RemindEvery = []string{"1h", "1h", "later"}, "5m"
	wantError(t, p.Check(), fermata.CodeInvalidRequest,
		"resumed_timeout.blocking", "resumed_timeout.urgent", "resumed_timeout.non_blocking", "reminders[1]", "reminders[2]", "remind_every")
	for _, every := range []fermata.Timeout{"", "1h", "7d", fermata.Never} {
		p = fermata.DefaultPolicy()
		p.RemindEvery = every
		if err := p.Check(); err != nil {
			t.Errorf("%q: %v", every, err)
		}
	}
}
