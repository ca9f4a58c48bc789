package storetest

import (
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var messageTests = map[string]func(*suite){
	"round trip": messageRoundTrip,
	"pages":      messagePages,
}

func messageRoundTrip(s *suite) {
	m := &fermata.Message{
		ID: id(fermata.PrefixMessage), TaskID: "task_1", QuestionID: "q_1", Kind: fermata.MessageClarification, Author: robot, Body: hardText, Cancels: true,
		CreatedAt: noon,
	}
	s.write(func(tx *store.Tx) { tx.InsertMessage(m, true) })
	s.checkEqual(store.DefaultWorkspace, m.WorkspaceID)
	got, err := s.read().Messages("task_1", "", 10)
	s.checkNoError(err)
	s.checkEqual([]*fermata.Message{m}, got)
	got, err = s.read().MessagesByID([]string{m.ID, "msg_none"})
	s.checkNoError(err)
	s.checkEqual([]*fermata.Message{m}, got)
	got, err = s.read().MessagesByID(nil)
	s.checkNoError(err)
	s.checkEqual(0, len(got))
	s.addTask(func(*fermata.Task) {})
	s.addQuestion(func(*fermata.Question) {})
	totals, err := s.read().Totals()
	s.checkNoError(err)
	s.checkEqual(store.Totals{Tasks: 1, Questions: 1, Messages: 1}, totals)
}

func messagePages(s *suite) {
	var want, got []string
	for i := range 5 {
		m := &fermata.Message{
			ID:     fermata.NewID(fermata.PrefixMessage, noon.Add(time.Duration(i)*time.Millisecond)),
			TaskID: "task_1", Kind: fermata.MessagePlain, Author: alice, Body: "b", CreatedAt: noon,
		}
		s.write(func(tx *store.Tx) { tx.InsertMessage(m, true) })
		want = append(want, m.ID)
	}
	after := ""
	for {
		page, err := s.read().Messages("task_1", after, 2)
		s.checkNoError(err)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			got = append(got, m.ID)
		}
		after = got[len(got)-1]
	}
	s.checkEqual(want, got)
}
