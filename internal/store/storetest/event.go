package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var eventTests = map[string]func(*suite){
	"round trip":                 eventRoundTrip,
	"filters":                    eventFilters,
	"search":                     eventSearch,
	"numbers follow the clock":   eventSeqAt,
	"a failed write leaves none": eventFailed,
	"after the commit":           eventCommitted,
}

func eventRoundTrip(s *suite) {
	full := &fermata.Event{
		Type: fermata.EventQuestionAsked, TaskID: "task_1", QuestionID: "q_1", RunID: "run_1", Actor: robot,
		Data: json.RawMessage("{ \"a\" : \"<\u00e9\\u00e9>\" }"),
	}
	least := &fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor}
	s.write(func(tx *store.Tx) { tx.Append(full); tx.Append(least) })
	s.checkEqual([]*fermata.Event{full, least}, s.verify())
	s.checkEqual([]int64{1, 2}, []int64{full.Seq, least.Seq})
	s.checkEqual(full.Hash, least.PrevHash)
}

func eventFilters(s *suite) {
	s.write(func(tx *store.Tx) {
		for i, task := range []string{"", "task_1", "task_2", "task_1"} {
			for _, typ := range []fermata.EventType{fermata.EventTaskCreated, fermata.EventTaskEnded} {
				tx.Append(&fermata.Event{Type: typ, TaskID: task, QuestionID: fmt.Sprintf("q_%d", i), Actor: robot})
			}
		}
		added, err := tx.EventsOfQuestion(&fermata.Question{ID: "q_3", TaskID: "task_1"})
		s.checkNoError(err)
		s.checkEqual(2, len(added))
	})
	for name, c := range map[string]struct {
		filter store.EventFilter
		want   []int64
	}{
		"limit":  {store.EventFilter{Limit: 2}, []int64{1, 2}},
		"after":  {store.EventFilter{After: 6, Limit: 9}, []int64{7, 8}},
		"task":   {store.EventFilter{TaskID: "task_1", Limit: 9}, []int64{3, 4, 7, 8}},
		"types":  {store.EventFilter{Types: []string{"task.ended", "x"}, After: 2, Limit: 9}, []int64{4, 6, 8}},
		"newest": {store.EventFilter{Newest: true, Limit: 2}, []int64{8, 7}},
		"before": {store.EventFilter{TaskID: "task_1", Before: 7, Newest: true, Limit: 2}, []int64{4, 3}},
		"both":   {store.EventFilter{TaskID: "task_1", Types: []string{"task.ended"}, After: 4, Limit: 9}, []int64{8}},
	} {
		got, err := s.read().Events(c.filter)
		s.checkNoError(err)
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		s.Log(name)
		s.checkEqual(c.want, seqs)
	}
}

func eventFailed(s *suite) {
	s.write(func(tx *store.Tx) { appendMark(tx, "a") })
	err := s.try(func(tx *store.Tx) error { appendMark(tx, "b"); return fermata.NotFound("thing", "x") })
	s.checkCode(err, fermata.CodeNotFound)
	s.write(func(tx *store.Tx) { appendMark(tx, "c") })
	s.checkEqual([]string{"a", "c"}, s.marks())
}

func eventCommitted(s *suite) {
	var seen []int64
	var visible int
	s.db.OnCommit(func(workspace string, events []*fermata.Event) {
		all, err := s.db.Reader(s.Context(), workspace).Events(store.EventFilter{Limit: 100})
		if err != nil {
			s.Errorf("read after the commit: %v", err)
		}
		visible = len(all)
		for _, e := range events {
			seen = append(seen, e.Seq)
		}
	})
	s.write(func(tx *store.Tx) { appendMark(tx, "a"); appendMark(tx, "b") })
	s.write(func(*store.Tx) {})
	s.write(func(tx *store.Tx) { appendMark(tx, "c") })
	s.checkEqual([]int64{1, 2, 3}, seen)
	s.checkEqual(3, visible)
}

func eventSearch(s *suite) {
	s.write(func(tx *store.Tx) {
		tx.Append(&fermata.Event{Type: fermata.EventTaskCreated, TaskID: "task_1", Actor: robot, Data: json.RawMessage(`{"title":"50% \u003ci\u003e"}`)})
		tx.Append(&fermata.Event{Type: fermata.EventQuestionAsked, TaskID: "task_1", QuestionID: "q_1", Actor: robot, Data: json.RawMessage(`{"title":"Deploy?"}`)})
		tx.Append(&fermata.Event{Type: fermata.EventQuestionAnswered, TaskID: "task_1", QuestionID: "q_1", RunID: "run_1", Actor: alice})
		tx.Append(&fermata.Event{Type: fermata.EventTokenCreated, Actor: fermata.SystemActor, Data: json.RawMessage(`{"name":"50 percent"}`)})
	})
	for name, c := range map[string]struct {
		filter store.EventFilter
		want   []int64
	}{
		"noun":            {store.EventFilter{Types: []string{"question"}}, []int64{2, 3}},
		"noun and type":   {store.EventFilter{Types: []string{"token", "question.asked"}}, []int64{2, 4}},
		"no such noun":    {store.EventFilter{Types: []string{"quest", "%"}}, nil},
		"kind":            {store.EventFilter{Actor: "system"}, []int64{4}},
		"id":              {store.EventFilter{Actor: "mem_1"}, []int64{3}},
		"name":            {store.EventFilter{Actor: hardText}, []int64{1, 2}},
		"text":            {store.EventFilter{Text: "DEPLOY"}, []int64{2}},
		"wildcards":       {store.EventFilter{Text: "50%"}, []int64{1}},
		"escaped in JSON": {store.EventFilter{Text: "<i>"}, []int64{1}},
		"part of a name":  {store.EventFilter{Text: "alic"}, []int64{3}},
		"task":            {store.EventFilter{Text: "task_1"}, []int64{1, 2, 3}},
		"question":        {store.EventFilter{Text: "q_1"}, []int64{2, 3}},
		"run":             {store.EventFilter{Text: "run_1"}, []int64{3}},
		"together":        {store.EventFilter{Text: "q_1", Types: []string{"question"}, Actor: "human", Newest: true}, []int64{3}},
		"later":           {store.EventFilter{From: ptr(noon.AddDate(100, 0, 0))}, nil},
		"earlier":         {store.EventFilter{To: ptr(noon.AddDate(-100, 0, 0))}, nil},
	} {
		c.filter.Limit = 9
		got, err := s.read().Events(c.filter)
		s.checkNoError(err)
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		s.Log(name)
		s.checkEqual(c.want, seqs)
	}
}

func eventSeqAt(s *suite) {
	seq := func(at time.Time) int64 {
		s.Helper()
		n, err := s.read().SeqAt(at)
		s.checkNoError(err)
		return n
	}
	s.checkEqual(int64(1), seq(noon))
	var times []time.Time
	for i := range 9 {
		s.write(func(tx *store.Tx) {
			appendMark(tx, "a")
			times = append(times, tx.Now())
			if i%2 == 0 {
				// These events have the same instant.
				appendMark(tx, "b")
				times = append(times, tx.Now())
			}
		})
	}
	for _, at := range times {
		first := int64(1 + slices.IndexFunc(times, func(t time.Time) bool { return !t.Before(at) }))
		s.checkEqual(first, seq(at))
		behind := int64(1 + slices.IndexFunc(times, func(t time.Time) bool { return t.After(at) }))
		if behind == 0 {
			behind = int64(1 + len(times))
		}
		s.checkEqual(behind, seq(at.Add(time.Millisecond)))
	}
	s.checkEqual(int64(1), seq(times[0].Add(-time.Hour)))
}
