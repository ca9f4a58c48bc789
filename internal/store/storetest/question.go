package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var questionTests = map[string]func(*suite){
	"round trip":                          questionRoundTrip,
	"least fields":                        questionLeastFields,
	"closes once":                         questionClosesOnce,
	"late answer needs a timeout":         questionLate,
	"one pending suspending per task":     questionOnePending,
	"one per idempotency key":             questionKey,
	"filters":                             questionFilters,
	"the inbox pages by urgency":          questionInbox,
	"deadlines":                           questionDeadlines,
	"handed over, and taken back":         questionHanded,
	"a deadline never reads as none":      questionDeadline,
	"a status outside the list is denied": questionStatus,
}

func newQuestion(taskID string) *fermata.Question {
	return &fermata.Question{
		ID: id(fermata.PrefixQuestion), WorkspaceID: store.DefaultWorkspace, TaskID: taskID, Project: "default",
		Type: fermata.Blocking, Status: fermata.Pending, Title: "Which colour?",
		Priority: 2, AskCount: 1, CreatedAt: noon,
		Asked: fermata.Asked{
			Timeout: fermata.Never, Risk: fermata.RiskLow,
			Items: []fermata.Item{{Key: "answer", Prompt: "Which colour?", ResponseType: fermata.ResponseText}}, AskedBy: robot, OnTimeout: fermata.FailTask,
		},
	}
}

func (s *suite) addQuestion(change func(q *fermata.Question)) *fermata.Question {
	s.Helper()
	q := newQuestion(id(fermata.PrefixTask))
	change(q)
	s.write(func(tx *store.Tx) { tx.InsertQuestion(q) })
	return q
}

// action has spaces, an order of keys and characters that a JSON encoder may
// write differently.
const action = "{ \"z\": 1.0,\n  \"a\" : \"<&>\u00e9\\u00e9\" }"

func questionRoundTrip(s *suite) {
	q := s.addQuestion(func(q *fermata.Question) {
		q.RunID, q.Project, q.Type, q.Title, q.Body, q.Priority = "run_1", "web", fermata.Approval, hardText, hardText, 0
		q.Items = []fermata.Item{{
			Key: "answer", Prompt: hardText, Header: hardText, ResponseType: fermata.ResponseChoice, Required: ptr(false), Other: new(true),
			Options: []fermata.Option{{Value: hardText, Label: "l", Description: "d", Recommended: true, Danger: true}, {Value: "b"}},
			Default: hardText, MinLength: ptr(0), MaxLength: ptr(9), Min: ptr(0.0), Max: ptr(1.5), Pattern: `^\d+$`,
		}, {Key: "q2", Prompt: "p", ResponseType: fermata.ResponseMultiChoice, Default: []any{"a", "b"}}}
		q.Context = &fermata.QuestionContext{Text: hardText, Step: hardText, Error: hardText, Preview: &fermata.Preview{Kind: "diff", Text: hardText}}
		q.Action, q.ActionHash = json.RawMessage(action), fermata.HashAction([]byte(action))
		q.LeastAssurance = fermata.AssurancePasskey
		q.Assignees, q.Approvals = []string{"alice", "group:R&D", hardText}, &fermata.Quorum{Required: 2, Self: true, Reject: "majority"}
		q.Timeout, q.Deadline, q.OnTimeout = "30m", ptr(noon.Add(30*time.Minute)), fermata.Escalate
		q.Escalation = []fermata.EscalationLevel{{Assignees: []string{"role:admin"}, Timeout: "5m", OnTimeout: fermata.SkipTask}}
		q.Confidence, q.Risk, q.IdempotencyKey, q.DedupeKey, q.Fingerprint = ptr(0), fermata.RiskCritical, hardText, hardText, "f"
		q.State, q.Metadata = json.RawMessage("[ 1 , \"<\"]"), map[string]string{"a": hardText, "": ""}
	})
	got, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)

	q.EscalationLevel, q.AskCount, q.Deadline, q.Assignees = 1, 4, nil, append(q.Assignees, "bob")
	q.Votes = []fermata.Vote{{By: alice, Value: fermata.Approve, Comment: hardText, At: noon.Add(time.Millisecond)}}
	s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	got, err = s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)

	q.Status, q.HandedTo = fermata.TimedOut, "run_2"
	edited := fermata.CanonicalAction([]byte(action))
	q.Resolution = &fermata.Resolution{
		Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, AnsweredBy: &alice, At: noon, Answer: []any{"a", 1.5, true},
		Answers: map[string]any{"answer": []any{"a", 1.5, true}}, Comment: hardText, Channel: "slack", Assurance: fermata.AssurancePasskey,
		Outcome: fermata.TakeDefault, Action: edited, ActionHash: fermata.HashAction(edited),
	}
	s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	q.Resolution.LateAnswers = []fermata.LateAnswer{{By: alice, At: noon, Answers: map[string]any{"answer": hardText}, Comment: hardText, Restarted: true}}
	q.HandedTo = ""
	s.write(func(tx *store.Tx) { tx.SaveLateAnswer(q) })
	got, err = s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)
	if fermata.HashAction(got.Resolution.Action) != got.Resolution.ActionHash {
		s.Error("the edited action no longer fits its hash")
	}
	byKey, err := s.read().QuestionByKey(hardText, q.AskedBy)
	s.checkNoError(err)
	s.checkEqual(q, byKey)
	byID, err := s.read().QuestionsByID([]string{q.ID, "q_none"})
	s.checkNoError(err)
	s.checkEqual([]*fermata.Question{q}, byID)
	_, err = s.read().Question("q_none")
	s.checkCode(err, fermata.CodeNotFound)
}

func questionLeastFields(s *suite) {
	q := s.addQuestion(func(q *fermata.Question) { q.Assignees, q.Metadata = []string{}, map[string]string{} })
	q.Assignees, q.Metadata = nil, nil
	got, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)
	none, err := s.read().QuestionsByID(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(none))
	_, err = s.read().QuestionByKey("", fermata.SystemActor)
	s.checkCode(err, fermata.CodeNotFound)
}

func setCancelled(q *fermata.Question) {
	q.Status, q.Resolution = fermata.Cancelled, &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: fermata.ActorAgent, At: noon}
}

func setTimedOut(q *fermata.Question) {
	q.Status, q.Resolution = fermata.TimedOut, &fermata.Resolution{Status: fermata.TimedOut, DecidedBy: fermata.ActorTimeout, At: noon}
}

func questionClosesOnce(s *suite) {
	q := s.addQuestion(func(*fermata.Question) {})
	stale, err := s.read().Question(q.ID)
	s.checkNoError(err)
	setCancelled(q)
	s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	setTimedOut(stale)
	for name, version := range map[string]int64{"stale": stale.Version, "known": q.Version} {
		stale.Version = version
		if err := s.try(func(tx *store.Tx) error { tx.UpdatePending(stale); return nil }); err == nil {
			s.Errorf("a closed question was closed again (%s version)", name)
		}
	}
	got, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)
}

func questionLate(s *suite) {
	q := s.addQuestion(func(*fermata.Question) {})
	save := func() error { return s.try(func(tx *store.Tx) error { tx.SaveLateAnswer(q); return nil }) }
	version := q.Version
	if save() == nil {
		s.Error("a pending question took a late answer")
	}
	q.Version = version
	setCancelled(q)
	s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	if save() == nil {
		s.Error("a cancelled question took a late answer")
	}
}

func questionOnePending(s *suite) {
	q := s.addQuestion(func(*fermata.Question) {})
	second := newQuestion(q.TaskID)
	if err := s.try(func(tx *store.Tx) error { tx.InsertQuestion(second); return nil }); err == nil {
		s.Error("a task has two pending questions that suspend it")
	}
	second.Type = fermata.NonBlocking
	s.write(func(tx *store.Tx) { tx.InsertQuestion(second) })
	third := newQuestion(q.TaskID)
	s.write(func(tx *store.Tx) { setCancelled(q); tx.UpdatePending(q); tx.InsertQuestion(third) })
	pending, err := s.read().PendingQuestionsOf(q.TaskID)
	s.checkNoError(err)
	s.checkEqualIDs([]string{second.ID, third.ID}, questionIDs(pending))
}

func questionIDs(questions []*fermata.Question) []string {
	var ids []string
	for _, q := range questions {
		ids = append(ids, q.ID)
	}
	return ids
}

func questionKey(s *suite) {
	first := s.addQuestion(func(q *fermata.Question) { q.IdempotencyKey = "k" })
	second := newQuestion("task_2")
	second.IdempotencyKey = "k"
	if err := s.try(func(tx *store.Tx) error { tx.InsertQuestion(second); return nil }); err == nil {
		s.Error("two questions of one asker have one idempotency key")
	}
	// Another asker has separate keys.
	other := fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_other"}
	third := newQuestion("task_3")
	third.IdempotencyKey, third.AskedBy = "k", other
	s.write(func(tx *store.Tx) { tx.InsertQuestion(third) })
	for by, want := range map[fermata.Actor]*fermata.Question{first.AskedBy: first, other: third} {
		if got, err := s.read().QuestionByKey("k", by); err != nil || got.ID != want.ID {
			s.Errorf("%v is given %v (%v), want %s", by, got, err, want.ID)
		}
	}
	if _, err := s.read().QuestionByKey("k", fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_third"}); fermata.CodeOf(err) != fermata.CodeNotFound {
		s.Errorf("a third asker is given a question: %v", err)
	}
}

func questionFilters(s *suite) {
	a := s.addQuestion(func(q *fermata.Question) {
		q.Title, q.Assignees, q.Project = "Paint 50%?", []string{"alice", "group:R&D"}, "web"
	})
	b := s.addQuestion(func(q *fermata.Question) { q.Type, q.Assignees = fermata.Approval, []string{"alice2", `a"b`} })
	c := s.addQuestion(setCancelled)
	for name, c := range map[string]struct {
		filter store.QuestionFilter
		want   []string
	}{
		"all":             {store.QuestionFilter{}, []string{a.ID, b.ID, c.ID}},
		"pending":         {store.QuestionFilter{Status: "pending"}, []string{a.ID, b.ID}},
		"cancelled":       {store.QuestionFilter{Status: "cancelled"}, []string{c.ID}},
		"type":            {store.QuestionFilter{Type: "approval"}, []string{b.ID}},
		"project":         {store.QuestionFilter{Project: "web"}, []string{a.ID}},
		"task":            {store.QuestionFilter{TaskID: c.TaskID}, []string{c.ID}},
		"assignee":        {store.QuestionFilter{Assignee: "alice"}, []string{a.ID}},
		"group":           {store.QuestionFilter{Status: "pending", Assignee: "group:R&D"}, []string{a.ID}},
		"quoted assignee": {store.QuestionFilter{Assignee: `a"b`}, []string{b.ID}},
		"wildcard":        {store.QuestionFilter{Assignee: "%"}, nil},
		"text":            {store.QuestionFilter{Text: "50%"}, []string{a.ID}},
		"text any case":   {store.QuestionFilter{Text: "COLOUR"}, []string{a.ID, b.ID, c.ID}},
	} {
		c.filter.Limit = 10
		got, err := s.read().Questions(c.filter)
		s.checkNoError(err)
		s.Log(name)
		s.checkEqualIDs(c.want, questionIDs(got))
	}
}

func questionInbox(s *suite) {
	var want []string
	for _, place := range []struct {
		priority int
		minutes  int
	}{{0, 9}, {0, -1}, {1, 5}, {1, 7}, {1, -1}, {4, 1}} {
		q := s.addQuestion(func(q *fermata.Question) {
			q.Priority = place.priority
			if place.minutes >= 0 {
				q.Deadline = ptr(noon.Add(time.Duration(place.minutes) * time.Minute))
			}
		})
		want = append(want, q.ID)
	}
	for _, status := range []string{"pending", ""} {
		var got []string
		f := store.QuestionFilter{Status: status, Limit: 2}
		for {
			page, err := s.read().Questions(f)
			s.checkNoError(err)
			if len(page) == 0 {
				break
			}
			got = append(got, questionIDs(page)...)
			f.After = store.QuestionPositionOf(page[len(page)-1])
		}
		if status == "" {
			s.checkEqualIDs(want, got)
			continue
		}
		s.checkEqual(want, got)
	}
}

func questionDeadlines(s *suite) {
	due := s.addQuestion(func(q *fermata.Question) { q.Deadline = ptr(noon) })
	s.addQuestion(func(q *fermata.Question) { q.Deadline = ptr(noon.Add(time.Millisecond)) })
	s.addQuestion(func(*fermata.Question) {})
	s.addQuestion(func(q *fermata.Question) { q.Deadline = ptr(noon); setCancelled(q) })
	s.checkEqual([]store.DueRow{{Workspace: store.DefaultWorkspace, ID: due.ID}}, s.overdue(noon, 10).Questions)
	s.checkEqual(1, len(s.overdue(noon.Add(time.Hour), 1).Questions))
}

func questionHanded(s *suite) {
	q := s.addQuestion(setTimedOut)
	m := &fermata.Message{ID: id(fermata.PrefixMessage), TaskID: q.TaskID, Kind: fermata.MessagePlain, Author: alice, Body: "b", CreatedAt: noon}
	pending := newQuestion(q.TaskID)
	s.write(func(tx *store.Tx) { tx.InsertMessage(m, true); tx.InsertQuestion(pending) })
	count := func(run string) string {
		questions, err := s.read().UnhandedQuestions(q.TaskID, run)
		s.checkNoError(err)
		messages, err := s.read().UnhandedMessages(q.TaskID, run)
		s.checkNoError(err)
		return fmt.Sprint(len(questions), len(messages))
	}
	s.checkEqual("1 1", count(""))
	s.write(func(tx *store.Tx) { tx.HandQuestions(q.TaskID, "run_1"); tx.HandMessages(q.TaskID, "run_1") })
	s.checkEqual("0 0", count(""))
	s.checkEqual("1 1", count("run_1"))
	s.checkEqual("0 0", count("run_2"))
	handed, err := s.read().MessagesByID([]string{m.ID})
	s.checkNoError(err)
	s.checkEqual(true, handed[0].HandedTo == "run_1" && handed[0].HandedAt != nil)
	s.write(func(tx *store.Tx) { tx.TakeBackHandOverByID(q.TaskID, "run_2", []string{m.ID, q.ID}) })
	s.checkEqual("0 0", count(""))
	s.write(func(tx *store.Tx) { tx.HandOverByID(q.TaskID, "run_2", []string{m.ID, q.ID}) })
	s.write(func(tx *store.Tx) { tx.TakeBackHandOverByID(q.TaskID, "run_1", []string{m.ID}) })
	s.checkEqual("0 1", count(""))
	s.write(func(tx *store.Tx) { tx.TakeBackHandOverByID(q.TaskID, "run_1", []string{q.ID}) })
	s.checkEqual("1 1", count(""))
	s.write(func(tx *store.Tx) { tx.HandQuestions(q.TaskID, "run_1"); tx.HandMessages(q.TaskID, "run_1") })
	s.write(func(tx *store.Tx) { tx.HandQuestions(q.TaskID, "run_2"); tx.TakeBackHandOver(q.TaskID, "run_2") })
	s.checkEqual("1 1", count("run_1"))
	s.write(func(tx *store.Tx) { tx.TakeBackHandOver(q.TaskID, "run_1") })
	s.checkEqual("1 1", count(""))
	s.write(func(tx *store.Tx) { tx.HandOverByID(q.TaskID, "run_3", []string{m.ID}) })
	s.checkEqual("1 0", count(""))
}

func questionDeadline(s *suite) {
	q := s.addQuestion(func(q *fermata.Question) { q.Deadline = ptr(time.UnixMilli(1).UTC()) })
	got, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)
}

func questionStatus(s *suite) {
	q := newQuestion("task_1")
	q.Status = "maybe"
	if err := s.try(func(tx *store.Tx) error { tx.InsertQuestion(q); return nil }); err == nil {
		s.Error("the database took a status that there is not")
	}
}
