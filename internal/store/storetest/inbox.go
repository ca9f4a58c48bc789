package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var inboxTests = map[string]func(*suite){
	"a held answer":           inboxHeld,
	"for a person":            inboxFor,
	"for who voted":           inboxVoted,
	"who asked does not":      inboxSelf,
	"roles in projects":       inboxRoles,
	"risk, urgency and label": inboxFilters,
	"text":                    inboxText,
	"orders":                  inboxOrders,
	"counts":                  inboxCounts,
	"sections":                inboxSections,
	"snoozed":                 inboxSnoozed,
	"surroundings":            inboxQuestionDetails,
	"views":                   inboxViews,
	"read marks":              inboxReadMarks,
	"who took part":           inboxTookPart,
	"past answers":            inboxPastAnswers,
	"comments":                inboxComments,
}

func inboxHeld(s *suite) {
	q := s.addQuestion(func(*fermata.Question) {})
	held := &fermata.HeldAnswer{
		By: alice, At: noon, ReleaseAt: noon.Add(5 * time.Second), Answer: hardText, Answers: map[string]any{"answer": hardText}, Comment: hardText,
		Channel: "web", Assurance: fermata.AssuranceSession, Action: []byte(`{"a":1}`), ActionHash: "h",
	}
	q.HeldAnswer = held
	s.write(func(tx *store.Tx) { tx.HoldAnswer(q) })
	got, err := s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(held, got.HeldAnswer)
	s.checkEqual(q, got)
	due := func(at time.Time) int {
		return len(s.overdue(at, 10).HeldAnswers)
	}
	s.checkEqual([]int{0, 1}, []int{due(held.ReleaseAt.Add(-time.Millisecond)), due(held.ReleaseAt)})
	// The answer was taken back and given again, so the later instant counts.
	again := *held
	again.ReleaseAt = noon.Add(time.Minute)
	q.HeldAnswer = nil
	s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	q.HeldAnswer = &again
	s.write(func(tx *store.Tx) { tx.HoldAnswer(q) })
	s.checkEqual([]int{0, 1}, []int{due(held.ReleaseAt), due(again.ReleaseAt)})
	q.HeldAnswer = nil
	setAnswered(q)
	s.write(func(tx *store.Tx) { tx.UpdatePending(q); tx.DeleteDueRelease(q.ID) })
	s.checkEqual(0, due(again.ReleaseAt))
	got, err = s.read().Question(q.ID)
	s.checkNoError(err)
	s.checkEqual(q, got)
}

func setAnswered(q *fermata.Question) {
	q.Status = fermata.Answered
	q.Resolution = &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &alice, At: noon}
}

// questionsFor returns the questions that the store finds for a caller.
func (s *suite) questionsFor(c fermata.Caller) []string {
	s.Helper()
	got, err := s.read().Questions(store.QuestionFilter{Status: "pending", AwaitsAnswerOf: &c, Limit: 50})
	s.checkNoError(err)
	return questionIDs(got)
}

func inboxFor(s *suite) {
	meant := func(names ...string) string {
		return s.addQuestion(func(q *fermata.Question) { q.Assignees = names }).ID
	}
	anybody, handle, member := meant(), meant("bob", "alice"), meant("member:mem_1")
	group, role, other := meant("group:R&D"), meant("role:admin"), meant("alice2", "group:R", `"alice"`)
	c := fermata.Caller{Kind: fermata.ActorHuman, Name: "alice", MemberID: "mem_1", Role: fermata.RoleResponder, Groups: []string{"R&D"}}
	s.checkEqualIDs([]string{anybody, handle, member, group}, s.questionsFor(c))
	c.Role = fermata.RoleAdmin
	s.checkEqualIDs([]string{anybody, handle, member, group, role}, s.questionsFor(c))
	c.Name, c.MemberID, c.Groups = "alice2", "mem_2", nil
	s.checkEqualIDs([]string{anybody, role, other}, s.questionsFor(c))
	c.Role = fermata.RoleResponder
	s.checkEqualIDs([]string{anybody, other}, s.questionsFor(c))
	s.checkEqualIDs(nil, s.questionsFor(fermata.Caller{Role: fermata.RoleViewer}))
}

// inboxVoted checks that a question does not wait for who voted on it, unless enough people have approved.
func inboxVoted(s *suite) {
	ann := fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_1", Name: "ann"}
	bob := fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_12", Name: "bob"}
	voted := func(required int, votes ...fermata.Vote) *fermata.Question {
		q := s.addQuestion(func(q *fermata.Question) { q.Type, q.Approvals = fermata.Approval, &fermata.Quorum{Required: required} })
		q.Votes = votes
		s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
		return q
	}
	all := []*fermata.Question{
		voted(2),
		voted(2, fermata.Vote{By: ann, Value: fermata.Approve, At: noon}),
		voted(2, fermata.Vote{By: bob, Value: fermata.Approve, Comment: `"mem_1" "value":"approve" "value":"approve"`, At: noon}),
		voted(3, fermata.Vote{By: ann, Value: fermata.Reject, Comment: hardText, At: noon}, fermata.Vote{By: bob, Value: fermata.Approve, At: noon}),
		voted(2, fermata.Vote{By: ann, Value: fermata.Approve, At: noon}, fermata.Vote{By: bob, Value: fermata.Approve, At: noon}),
	}
	var want []string
	c := fermata.Caller{Kind: fermata.ActorHuman, Name: "ann", MemberID: "mem_1", Role: fermata.RoleResponder, Scopes: []fermata.Scope{fermata.ScopeAnswer}}
	for _, q := range all {
		if q.AwaitsAnswerOf(c) {
			want = append(want, q.ID)
		}
	}
	s.checkEqual(3, len(want))
	s.checkEqualIDs(want, s.questionsFor(c))
	found, err := s.read().CountQuestions(store.QuestionFilter{Status: "pending", AwaitsAnswerOf: &c, Limit: 50})
	s.checkNoError(err)
	s.checkEqual(len(want), found[0].N)
}

// inboxRoles checks callers with every combination of roles in three projects.
// The store must find exactly the questions that
// [fermata.Question.CheckMayAnswer] lets them answer.
func inboxRoles(s *suite) {
	var all []*fermata.Question
	for _, project := range []string{"default", "web", "shop"} {
		for _, role := range []string{"", "role:viewer", "role:responder", "role:operator", "role:admin"} {
			all = append(all, s.addQuestion(func(q *fermata.Question) {
				q.Project = project
				if role != "" {
					q.Assignees = []string{role}
				}
			}))
		}
	}
	for _, own := range fermata.Roles {
		for _, web := range fermata.Roles {
			for _, shop := range fermata.Roles {
				c := fermata.Caller{
					Kind: fermata.ActorHuman, Name: "ann", MemberID: "mem_1", Role: own, Scopes: []fermata.Scope{fermata.ScopeAnswer},
					Projects: map[string]fermata.Role{"web": web, "shop": shop, "gone": fermata.RoleOperator},
				}
				var want []string
				for _, q := range all {
					if q.CheckMayAnswer(c) == nil {
						want = append(want, q.ID)
					}
				}
				s.Log(own, web, shop)
				s.checkEqualIDs(want, s.questionsFor(c))
			}
		}
	}
}

func inboxSelf(s *suite) {
	c := fermata.Caller{Kind: fermata.ActorHuman, Name: "alice", MemberID: alice.ID, Role: fermata.RoleResponder}
	approval := func(by fermata.Actor, quorum *fermata.Quorum) string {
		return s.addQuestion(func(q *fermata.Question) {
			q.Type, q.AskedBy, q.Approvals, q.Body = fermata.Approval, by, quorum, `{"asked_by":{"id":"mem_1"}}`
		}).ID
	}
	approval(alice, &fermata.Quorum{Required: 2})
	want := []string{approval(alice, &fermata.Quorum{Required: 2, Self: true}), approval(alice, nil), approval(robot, &fermata.Quorum{Required: 2})}
	s.checkEqualIDs(want, s.questionsFor(c))
}

func inboxFilters(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.Labels = []string{"web", "a b"} })
	high := s.addQuestion(func(q *fermata.Question) { q.TaskID, q.Risk = t.ID, fermata.RiskHigh })
	low := s.addQuestion(func(q *fermata.Question) {
		q.Type, q.Metadata = fermata.NonBlocking, map[string]string{"risk": "high"}
	})
	for name, c := range map[string]struct {
		filter store.QuestionFilter
		want   string
	}{
		"high risk": {store.QuestionFilter{Risk: "high"}, high.ID},
		"low risk":  {store.QuestionFilter{Risk: "low"}, low.ID},
		"urgent":    {store.QuestionFilter{Urgency: fermata.UrgencyHigh}, high.ID},
		"not":       {store.QuestionFilter{Urgency: fermata.UrgencyLow}, low.ID},
		"label":     {store.QuestionFilter{Label: "a b"}, high.ID},
	} {
		c.filter.Limit = 10
		got, err := s.read().Questions(c.filter)
		s.checkNoError(err)
		s.Log(name)
		s.checkEqualIDs([]string{c.want}, questionIDs(got))
	}
	got, err := s.read().Questions(store.QuestionFilter{Label: "a", Limit: 10})
	s.checkNoError(err)
	s.checkEqual(0, len(got))
}

func inboxText(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.Title = "Move the \"blue\" button" })
	var want []string
	for _, change := range []func(q *fermata.Question){
		func(q *fermata.Question) { q.Title = `a "BLUE" one` },
		func(q *fermata.Question) { q.Body = "say\n\"Blue\" <b>" },
		func(q *fermata.Question) { q.Items[0].Prompt = `is "blue" fine?` },
		func(q *fermata.Question) { q.TaskID = t.ID },
	} {
		want = append(want, s.addQuestion(change).ID)
	}
	s.addQuestion(func(q *fermata.Question) { q.Title = "blue" })
	got, err := s.read().Questions(store.QuestionFilter{Text: `"blue"`, Limit: 10})
	s.checkNoError(err)
	s.checkEqualIDs(want, questionIDs(got))
}

func inboxOrders(s *suite) {
	at := func(minutes int) *time.Time { return ptr(noon.Add(time.Duration(minutes) * time.Minute)) }
	a := s.addQuestion(func(q *fermata.Question) { q.ID, q.Priority, q.Deadline, q.Project = "q_1", 3, at(1), "a" }).ID
	b := s.addQuestion(func(q *fermata.Question) { q.ID, q.Priority, q.Deadline, q.Project = "q_2", 1, at(3), "a" }).ID
	c := s.addQuestion(func(q *fermata.Question) { q.ID, q.Priority, q.Deadline, q.Project = "q_3", 2, at(2), "b" }).ID
	for order, want := range map[store.QuestionSort][]string{
		store.SortProject: {b, a, c},
		"":                {b, c, a}, store.SortUrgency: {b, c, a}, store.SortDeadline: {a, c, b}, store.SortNewest: {c, b, a}, store.SortOldest: {a, b, c},
	} {
		var got []string
		f := store.QuestionFilter{Status: "pending", Sort: order, Limit: 1}
		for range want {
			page, err := s.read().Questions(f)
			s.checkNoError(err)
			got = append(got, questionIDs(page)...)
			f.After = store.QuestionPositionOf(page[0])
		}
		s.Log(order)
		s.checkEqual(want, got)
		behind := func(n int, after string) string {
			f := store.QuestionFilter{Status: "pending", Sort: order, Limit: 10, Risk: "low"}
			if after != "" {
				q, err := s.read().Question(after)
				s.checkNoError(err)
				f.After = store.QuestionPositionOf(q)
			}
			place, err := s.read().PositionOfNth(f, n)
			s.checkNoError(err)
			if place == nil {
				return ""
			}
			f.Until = place
			part, err := s.read().Questions(f)
			s.checkNoError(err)
			s.checkEqual(n, len(part))
			return place.ID
		}
		s.checkEqual([]string{want[1], want[2], ""}, []string{behind(2, ""), behind(2, want[0]), behind(3, want[0])})
	}
}

// inboxSections checks the conditions on deadline, age and risk.
func inboxSections(s *suite) {
	add := func(age time.Duration, deadline *time.Time, risk fermata.Risk) string {
		return s.addQuestion(func(q *fermata.Question) {
			q.ID, q.Deadline, q.Risk = fermata.NewID(fermata.PrefixQuestion, noon.Add(-age)), deadline, risk
		}).ID
	}
	old, due := add(time.Hour, nil, fermata.RiskLow), add(time.Minute, ptr(noon.Add(time.Minute)), fermata.RiskMedium)
	high, critical := add(time.Minute, ptr(noon.Add(time.Hour)), fermata.RiskHigh), add(0, nil, fermata.RiskCritical)
	for name, c := range map[string]struct {
		f    store.QuestionFilter
		want []string
	}{
		"due until":      {store.QuestionFilter{DueUntil: noon.Add(time.Minute)}, []string{due}},
		"due after":      {store.QuestionFilter{DueAfter: noon.Add(time.Minute)}, []string{old, high, critical}},
		"asked before":   {store.QuestionFilter{AskedBefore: noon.Add(-time.Minute)}, []string{old}},
		"asked from":     {store.QuestionFilter{AskedFrom: noon.Add(-time.Minute)}, []string{due, high, critical}},
		"high risk":      {store.QuestionFilter{GraveRisk: fermata.RiskHigh}, []string{high}},
		"critical risk":  {store.QuestionFilter{GraveRisk: fermata.RiskCritical}, []string{critical}},
		"no high risk":   {store.QuestionFilter{NotGrave: true}, []string{old, due}},
		"two conditions": {store.QuestionFilter{GraveRisk: fermata.RiskHigh, DueUntil: noon.Add(time.Hour)}, []string{high}},
	} {
		c.f.Status, c.f.Sort, c.f.Limit = "pending", store.SortOldest, 10
		got, err := s.read().Questions(c.f)
		s.checkNoError(err)
		s.Log(name)
		s.checkEqual(c.want, questionIDs(got))
	}
}

func inboxCounts(s *suite) {
	for range 3 {
		s.addQuestion(func(q *fermata.Question) { q.Project = "web" })
	}
	s.addQuestion(func(q *fermata.Question) { q.Project, q.Type, q.Priority = "web", fermata.Approval, 4 })
	s.addQuestion(setAnswered)
	count := func(limit int) map[string]int {
		got, err := s.read().CountQuestions(store.QuestionFilter{Status: "pending", Limit: limit})
		s.checkNoError(err)
		all := map[string]int{}
		for _, n := range got {
			all[string(n.Type)+" "+n.Project] = n.N
		}
		return all
	}
	s.checkEqual(map[string]int{"blocking web": 3, "approval web": 1}, count(10))
	s.checkEqual(map[string]int{"blocking web": 3}, count(3))
}

func inboxSnoozed(s *suite) {
	a := s.addQuestion(func(*fermata.Question) {}).ID
	b := s.addQuestion(func(*fermata.Question) {}).ID
	snooze := func(at time.Time, only bool) []string {
		got, err := s.read().Questions(store.QuestionFilter{
			Status: "pending", Limit: 10, Snooze: store.Snooze{Member: "mem_1", OnlySnoozed: only, Now: at},
		})
		s.checkNoError(err)
		return questionIDs(got)
	}
	until := noon.Add(time.Hour)
	s.write(func(tx *store.Tx) {
		tx.Snooze("mem_1", a, noon)
		tx.Snooze("mem_1", a, until)
		tx.Snooze("mem_2", b, until)
	})
	s.checkEqualIDs([]string{b}, snooze(noon, false))
	s.checkEqualIDs([]string{a}, snooze(noon, true))
	s.checkEqualIDs([]string{a, b}, snooze(until, false))
	s.checkEqualIDs(nil, snooze(until, true))
	s.write(func(tx *store.Tx) { tx.EndSnooze("mem_1", a); tx.EndSnooze("mem_1", a) })
	s.checkEqualIDs([]string{a, b}, snooze(noon, false))
	s.write(func(tx *store.Tx) { tx.Snooze("mem_1", a, until); tx.DeleteSnoozes(until) })
	s.checkEqualIDs([]string{a, b}, snooze(noon, false))
}

func inboxQuestionDetails(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.Title, t.State, t.Agent = hardText, fermata.TaskAwaitingInput, "review" })
	for _, state := range []fermata.TaskState{fermata.TaskBlocked, fermata.TaskBlocked, fermata.TaskDeferred} {
		s.addTask(func(d *fermata.Task) { d.State, d.BlockedBy = state, []string{t.ID} })
	}
	q := s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID })
	until := noon.Add(time.Hour)
	s.write(func(tx *store.Tx) { tx.Snooze("mem_1", q.ID, until) })
	got, err := s.read().QuestionDetails([]*fermata.Question{q}, "mem_1")
	s.checkNoError(err)
	s.checkEqual(store.QuestionDetails{
		Titles: map[string]string{t.ID: hardText}, Agents: map[string]string{t.ID: "review"}, States: map[string]fermata.TaskState{t.ID: fermata.TaskAwaitingInput},
		Blocked: map[string]int{t.ID: 2}, Snoozed: map[string]time.Time{q.ID: until},
	}, got)
	got, err = s.read().QuestionDetails(nil, "mem_1")
	s.checkNoError(err)
	s.checkEqual(0, len(got.Titles))
}

func inboxViews(s *suite) {
	mine := fermata.SavedView{OwnerID: "mem_1", Name: hardText, Query: hardText, UpdatedAt: noon}
	theirs := fermata.SavedView{OwnerID: "mem_2", Name: "shared", Query: "for=me", Shared: true, UpdatedAt: noon}
	s.write(func(tx *store.Tx) {
		tx.SaveView(mine)
		tx.SaveView(theirs)
		tx.SaveView(fermata.SavedView{OwnerID: "mem_2", Name: hardText, UpdatedAt: noon})
	})
	names := func() []string {
		got, err := s.read().Views("mem_1")
		s.checkNoError(err)
		var names []string
		for _, v := range got {
			names = append(names, v.OwnerID+" "+v.Query)
		}
		return names
	}
	s.checkEqualIDs([]string{"mem_1 " + hardText, "mem_2 for=me"}, names())
	mine.Query, mine.Shared = "q=x", true
	s.write(func(tx *store.Tx) { tx.SaveView(mine) })
	got, err := s.read().Views("mem_3")
	s.checkNoError(err)
	s.checkEqual(2, len(got))
	s.write(func(tx *store.Tx) { tx.DeleteView("mem_1", hardText); tx.DeleteView("mem_1", "shared") })
	s.checkEqualIDs([]string{"mem_2 for=me"}, names())
}

func inboxReadMarks(s *suite) {
	mark := func() int64 {
		seq, err := s.read().ReadMark("mem_1")
		s.checkNoError(err)
		return seq
	}
	s.checkEqual(int64(0), mark())
	for _, seq := range []int64{7, 9, 8} {
		s.write(func(tx *store.Tx) { tx.SetReadMark("mem_1", seq); tx.SetReadMark("mem_2", 100) })
	}
	s.checkEqual(int64(9), mark())
}

func inboxTookPart(s *suite) {
	answered := s.addQuestion(setAnswered).TaskID
	voted := s.addQuestion(func(*fermata.Question) {})
	voted.Votes = []fermata.Vote{{By: alice, Value: fermata.Approve, At: noon}}
	setCancelled(voted)
	s.write(func(tx *store.Tx) { tx.UpdatePending(voted) })
	s.write(func(tx *store.Tx) { tx.InsertQuestion(newQuestion("task_9")) })
	got, err := s.read().ParticipatedTasks([]string{answered, voted.TaskID, "task_9"}, alice)
	s.checkNoError(err)
	s.checkEqual(map[string]bool{answered: true, voted.TaskID: true}, got)
	got, err = s.read().ParticipatedTasks([]string{answered}, fermata.Actor{ID: "mem_9"})
	s.checkNoError(err)
	s.checkEqual(0, len(got))
	got, err = s.read().ParticipatedTasks(nil, alice)
	s.checkNoError(err)
	s.checkEqual(0, len(got))
}

func inboxPastAnswers(s *suite) {
	a := s.addQuestion(func(q *fermata.Question) { q.ID = "q_1"; setAnswered(q) }).ID
	b := s.addQuestion(func(q *fermata.Question) { q.ID = "q_2"; setAnswered(q) }).ID
	s.addQuestion(func(q *fermata.Question) { q.Type = fermata.Approval; setAnswered(q) })
	s.addQuestion(setCancelled)
	s.addQuestion(func(*fermata.Question) {})
	got, err := s.read().PastAnswers(fermata.Blocking, 10)
	s.checkNoError(err)
	s.checkEqual([]string{b, a}, questionIDs(got))
}

func inboxComments(s *suite) {
	m := &fermata.Message{
		ID: id(fermata.PrefixMessage), WorkspaceID: store.DefaultWorkspace, TaskID: "task_1", QuestionID: "q_1",
		Kind: fermata.MessageComment, Author: alice, Body: hardText, CreatedAt: noon,
	}
	s.write(func(tx *store.Tx) { tx.InsertMessage(m, false) })
	got, err := s.read().Messages("task_1", "", 10)
	s.checkNoError(err)
	s.checkEqual([]*fermata.Message{m}, got)
	got, err = s.read().UnhandedMessages("task_1", "run_1")
	s.checkNoError(err)
	s.checkEqual(0, len(got))
}
