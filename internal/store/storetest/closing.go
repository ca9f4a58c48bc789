package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var closingTests = map[string]func(*suite){
	"counts":                    closingCounts,
	"lengths have three digits": closingDigits,
	"most common":               closingCommon,
	"a close that fails":        closingFailed,
}

// addClosedQuestion adds a question that was asked some minutes after noon, and closes it.
func (s *suite) addClosedQuestion(minute int, change func(q *fermata.Question)) *fermata.Question {
	s.Helper()
	at := noon.Add(time.Duration(minute) * time.Minute)
	q := newQuestion(id(fermata.PrefixTask))
	q.ID, q.CreatedAt, q.Title = fermata.NewID(fermata.PrefixQuestion, at), at, "Go?"
	s.write(func(tx *store.Tx) { tx.InsertQuestion(q) })
	q.Status = fermata.Answered
	q.Resolution = &fermata.Resolution{
		Status: fermata.Answered, DecidedBy: fermata.ActorHuman, AnsweredBy: &alice, At: at.Add(90 * time.Second), Channel: "web",
	}
	change(q)
	s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
	return q
}

// hourFilter returns a filter of the questions that were asked in the hour after
// noon.
func hourFilter(by store.Dimension) store.ClosingFilter {
	return store.ClosingFilter{Asked: fermata.Period{From: noon, To: noon.Add(time.Hour)}, GroupBy: by}
}

func formatCounts(counts []store.ClosingCount) []string {
	out := []string{}
	for _, c := range counts {
		out = append(out, fmt.Sprintf("%s/%d %s %s %s ×%d", c.Key, c.Step, c.Status, c.DecidedBy, c.AnswerTime, c.N))
	}
	slices.Sort(out)
	return out
}

func closingCounts(s *suite) {
	human := func(*fermata.Question) {}
	s.addClosedQuestion(0, human)
	s.addClosedQuestion(1, human)
	s.addClosedQuestion(2, func(q *fermata.Question) { q.Resolution.Channel, q.Resolution.AnsweredBy = "", &robot })
	s.addClosedQuestion(31, setTimedOut)
	s.addClosedQuestion(32, setCancelled)
	s.addClosedQuestion(33, func(q *fermata.Question) { q.Resolution.DecidedBy, q.Resolution.AnsweredBy = fermata.ActorPolicy, nil })
	s.addClosedQuestion(-1, human)
	s.addClosedQuestion(60, human)
	s.addQuestion(func(q *fermata.Question) {
		q.Project, q.Type, q.CreatedAt = "web", fermata.Approval, noon.Add(45*time.Minute)
	})
	s.addQuestion(func(q *fermata.Question) { q.CreatedAt = noon.Add(time.Hour) })
	half := hourFilter(store.ByNothing)
	half.Step = 30 * time.Minute
	people, web, approvals := hourFilter(store.ByChannel), hourFilter(store.ByProject), hourFilter(store.ByType)
	people.OnlyPeople, web.Project, approvals.Type = true, "web", "approval"
	for name, c := range map[string]struct {
		filter  store.ClosingFilter
		closed  []string
		pending []string
	}{
		"all": {hourFilter(store.ByNothing), []string{
			"/0 answered human 1m30s ×3", "/0 answered policy 0s ×1", "/0 cancelled agent 0s ×1", "/0 timed_out timeout 0s ×1",
		}, []string{"/0 pending  0s ×1"}},
		"steps": {half, []string{
			"/0 answered human 1m30s ×3", "/1 answered policy 0s ×1", "/1 cancelled agent 0s ×1", "/1 timed_out timeout 0s ×1",
		}, []string{"/1 pending  0s ×1"}},
		"channels of people": {people, []string{"/0 answered human 1m30s ×1", "web/0 answered human 1m30s ×2"}, nil},
		"project":            {web, []string{}, []string{"web/0 pending  0s ×1"}},
		"type":               {approvals, []string{}, []string{"approval/0 pending  0s ×1"}},
	} {
		s.Log(name)
		got, err := s.read().ClosingCounts(c.filter)
		s.checkNoError(err)
		s.checkEqual(c.closed, formatCounts(got))
		if c.pending == nil {
			continue
		}
		got, err = s.read().PendingCounts(c.filter)
		s.checkNoError(err)
		s.checkEqual(c.pending, formatCounts(got))
	}
	got, err := s.read().ClosingCounts(hourFilter(store.ByResponder))
	s.checkNoError(err)
	s.checkEqual(true, slices.Contains(formatCounts(got), "mem_1/0 answered human 1m30s ×2"))
	n, err := s.read().CountClosings(hourFilter(store.ByNothing))
	s.checkNoError(err)
	s.checkEqual(int64(6), n)
}

func closingDigits(s *suite) {
	for millis, want := range map[int64]int64{
		-5: 0, 0: 0, 7: 7, 999: 999, 1000: 1000, 1234: 1230, 1999: 1990, 12_345: 12_300, 99_999: 99_900, 123_456: 123_000,
		86_399_999: 86_300_000, 31_557_600_000: 31_500_000_000, 999_999_999_999: 999_000_000_000, 5_000_000_000_000: 1_000_000_000_000,
	} {
		s.addClosedQuestion(0, func(q *fermata.Question) {
			q.Resolution.At, q.Resolution.Channel = q.CreatedAt.Add(time.Duration(millis)*time.Millisecond), fmt.Sprint(millis)
		})
		got, err := s.read().ClosingCounts(hourFilter(store.ByChannel))
		s.checkNoError(err)
		if !slices.ContainsFunc(got, func(c store.ClosingCount) bool {
			return c.Key == fmt.Sprint(millis) && c.AnswerTime.Milliseconds() == want
		}) {
			s.Errorf("%d ms are not counted as %d: %v", millis, want, formatCounts(got))
		}
	}
}

func closingCommon(s *suite) {
	var newest *fermata.Question
	for i, title := range []string{"Deploy build 7?", "Which colour?", "deploy  build 8?", "Deploy build 9?"} {
		q := newQuestion(id(fermata.PrefixTask))
		q.ID, q.CreatedAt, q.Title = fermata.NewID(fermata.PrefixQuestion, noon.Add(time.Duration(i)*time.Second)), noon, title
		s.write(func(tx *store.Tx) { tx.InsertQuestion(q) })
		setCancelled(q)
		s.write(func(tx *store.Tx) { tx.UpdatePending(q) })
		newest = q
	}
	got, err := s.read().MostCommonQuestions(hourFilter(store.ByNothing), 9)
	s.checkNoError(err)
	s.checkEqual(2, len(got))
	s.checkEqual(store.CommonQuestion{Alike: "deploy build #?", N: 3, Newest: newest.ID}, got[0])
	got, err = s.read().MostCommonQuestions(hourFilter(store.ByNothing), 1)
	s.checkNoError(err)
	s.checkEqual(1, len(got))
	f := hourFilter(store.ByAlike)
	f.Alike = []string{"which colour?"}
	counts, err := s.read().ClosingCounts(f)
	s.checkNoError(err)
	s.checkEqual([]string{"which colour?/0 cancelled agent 0s ×1"}, formatCounts(counts))
}

// closingFailed checks that a question that is not closed is not counted, and
// that a closed one is counted once.
func closingFailed(s *suite) {
	q := s.addClosedQuestion(0, setTimedOut)
	again := *q
	if err := s.try(func(tx *store.Tx) error { tx.UpdatePending(&again); return nil }); err == nil {
		s.Error("a closed question was closed again")
	}
	pending := s.addQuestion(func(*fermata.Question) {})
	if err := s.try(func(tx *store.Tx) error {
		setCancelled(pending)
		tx.UpdatePending(pending)
		return fermata.NotFound("thing", "x")
	}); err == nil {
		s.Error("the write did not fail")
	}
	n, err := s.read().CountClosings(store.ClosingFilter{Asked: fermata.Period{From: noon.Add(-time.Hour), To: noon.Add(time.Hour)}})
	s.checkNoError(err)
	s.checkEqual(int64(1), n)
}
