package storetest

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var events = map[string]func(*suite){
	"round trip":                 eventRoundTrip,
	"filters":                    eventFilters,
	"a failed write leaves none": eventFailed,
	"after the commit":           eventCommitted,
}

func eventRoundTrip(s *suite) {
	full := &fermata.Event{
		Type: fermata.EventQuestionAsked, TaskID: "task_1", QuestionID: "q_1", RunID: "run_1", Actor: robot,
		Data: json.RawMessage("{ \"a\" : \"<\u00e9\\u00e9>\" }"),
	}
	least := &fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.System}
	s.write(func(tx *store.Tx) { tx.Append(full); tx.Append(least) })
	s.equal([]*fermata.Event{full, least}, s.verify())
	s.equal([]int64{1, 2}, []int64{full.Seq, least.Seq})
	s.equal(full.Hash, least.PrevHash)
}

func eventFilters(s *suite) {
	s.write(func(tx *store.Tx) {
		for _, task := range []string{"", "task_1", "task_2", "task_1"} {
			for _, typ := range []fermata.EventType{fermata.EventTaskCreated, fermata.EventTaskEnded} {
				tx.Append(&fermata.Event{Type: typ, TaskID: task, Actor: robot})
			}
		}
	})
	for name, c := range map[string]struct {
		filter store.EventFilter
		want   []int64
	}{
		"limit": {store.EventFilter{Limit: 2}, []int64{1, 2}},
		"after": {store.EventFilter{After: 6, Limit: 9}, []int64{7, 8}},
		"task":  {store.EventFilter{TaskID: "task_1", Limit: 9}, []int64{3, 4, 7, 8}},
		"types": {store.EventFilter{Types: []string{"task.ended", "x"}, After: 2, Limit: 9}, []int64{4, 6, 8}},
		"both":  {store.EventFilter{TaskID: "task_1", Types: []string{"task.ended"}, After: 4, Limit: 9}, []int64{8}},
	} {
		got, err := s.read().Events(c.filter)
		s.ok(err)
		var seqs []int64
		for _, e := range got {
			seqs = append(seqs, e.Seq)
		}
		s.Log(name)
		s.equal(c.want, seqs)
	}
}

func eventFailed(s *suite) {
	s.write(func(tx *store.Tx) { marked(tx, "a") })
	err := s.try(func(tx *store.Tx) error { marked(tx, "b"); return fermata.NotFound("thing", "x") })
	s.code(err, fermata.CodeNotFound)
	s.write(func(tx *store.Tx) { marked(tx, "c") })
	s.equal([]string{"a", "c"}, s.marks())
}

func eventCommitted(s *suite) {
	var seen []int64
	var visible int
	s.db.OnCommit(func(workspace string, events []*fermata.Event) {
		all, err := s.db.In(s.Context(), workspace).Events(store.EventFilter{Limit: 100})
		if err != nil {
			s.Errorf("read after the commit: %v", err)
		}
		visible = len(all)
		for _, e := range events {
			seen = append(seen, e.Seq)
		}
	})
	s.write(func(tx *store.Tx) { marked(tx, "a"); marked(tx, "b") })
	s.write(func(*store.Tx) {})
	s.write(func(tx *store.Tx) { marked(tx, "c") })
	s.equal([]int64{1, 2, 3}, seen)
	s.equal(3, visible)
}
