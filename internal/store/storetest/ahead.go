package storetest

import (
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

var readAheadTests = map[string]func(*suite){
	"what is read ahead is what is there": aheadSame,
	"a write of the group makes it stale": aheadStale,
	"a write into many makes all stale":   aheadManyStale,
	"a lease that ended is stale":         aheadLeases,
	"claims that come together":           aheadClaims,
	"each claim sees its own projects":    aheadVisible,
	"what a claim needs, in one look-up":  claimRows,
	"what the next run is handed":         aheadHandOver,
	"a bad one fails alone":               aheadBad,
}

// aheadSame checks that reads return the same with and without reading ahead.
func aheadSame(s *suite) {
	t := s.addTask(func(t *fermata.Task) { t.State = fermata.TaskInProgress })
	waiting := s.addTask(func(other *fermata.Task) { other.BlockedBy = []string{t.ID} })
	run := s.addRun(func(r *fermata.Run) { r.TaskID = t.ID })
	q := s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID })
	d := newDelivery(s.addChannel("wall"), "a", noon)
	s.planDeliveries(d)
	about := &fermata.Event{Type: fermata.EventQuestionAsked, TaskID: t.ID, QuestionID: q.ID, Actor: robot}
	s.write(func(tx *store.Tx) {
		tx.Append(about)
		tx.Append(&fermata.Event{Type: fermata.EventTaskClaimed, TaskID: t.ID, Actor: robot})
	})
	check := func(tx *store.Tx) error {
		gotEvents, err := tx.EventsOfQuestion(q)
		s.checkNoError(err)
		s.checkEqual([]*fermata.Event{about}, gotEvents)
		gotRun, err := tx.Run(run.ID)
		s.checkNoError(err)
		gotTask, err := tx.Task(t.ID)
		s.checkNoError(err)
		gotQuestion, err := tx.Question(q.ID)
		s.checkNoError(err)
		questions, dependents, err := tx.AffectedByTaskEnd(t.ID, run.ID)
		s.checkNoError(err)
		s.checkEqual(run, gotRun)
		s.checkEqual(t, gotTask)
		s.checkEqual(q, gotQuestion)
		s.checkEqual([]string{q.ID}, questions)
		s.checkEqual([]string{waiting.ID}, dependents)
		gotDeliveries, err := tx.DeliveriesByID([]string{d.ID})
		s.checkNoError(err)
		s.checkEqual([]*fermata.Delivery{d}, gotDeliveries)
		return nil
	}
	for _, ahead := range [][]store.ReadAhead{
		nil, {{Task: t.ID}}, {{Task: t.ID, HandOver: true}}, {{Question: q.ID}}, {{Question: q.ID, Events: true}}, {{Run: run.ID, TaskEnd: true}}, {{Task: "task_none"}, {Run: "run_none", TaskEnd: true}},
		{{Deliveries: []string{d.ID, "dlv_none"}}, {Deliveries: []string{d.ID}}},
	} {
		s.checkNoError(s.db.Write(s.Context(), store.DefaultWorkspace, check, ahead...))
	}
}

// runWithReadAhead runs the functions as one group. Each of them reads ahead the same
// rows.
func (s *suite) runWithReadAhead(want store.ReadAhead, fns ...func(tx *store.Tx) error) {
	s.Helper()
	writes := make([]aheadWrite, 0, len(fns))
	for _, fn := range fns {
		writes = append(writes, aheadWrite{want: want, fn: fn})
	}
	s.runAheadTogether(writes...)
}

// aheadWrite is a write, and the rows that it reads ahead.
type aheadWrite struct {
	want store.ReadAhead
	fn   func(tx *store.Tx) error
	// call, if it is set, writes instead of fn.
	call func() error
}

// runAheadTogether runs the writes as one group.
func (s *suite) runAheadTogether(writes ...aheadWrite) {
	s.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	results := make(chan error, len(writes)+1)
	write := func(w aheadWrite) {
		if w.call == nil {
			w.call = func() error { return s.db.Write(s.Context(), store.DefaultWorkspace, w.fn, w.want) }
		}
		results <- w.call()
	}
	go write(aheadWrite{fn: func(*store.Tx) error {
		close(held)
		<-release
		return nil
	}})
	patience.Receive(s, "the first write runs", held)
	for i, w := range writes {
		go write(w)
		s.awaitQueued(i + 1)
	}
	close(release)
	for range len(writes) + 1 {
		s.checkNoError(patience.Receive(s, "a write ends", results))
	}
}

func aheadStale(s *suite) {
	t := s.addTask(func(*fermata.Task) {})
	q := s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID })
	change := func(n int) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			task, err := tx.Task(t.ID)
			s.checkNoError(err)
			question, err := tx.Question(q.ID)
			s.checkNoError(err)
			s.checkEqual(n, task.Attempts)
			s.checkEqual(n+1, question.AskCount)
			task.Attempts++
			question.AskCount++
			tx.SaveTask(task)
			tx.UpdatePending(question)
			return nil
		}
	}
	s.runWithReadAhead(store.ReadAhead{Question: q.ID}, change(0), change(1), change(2))
}

// aheadManyStale checks that a caller sees what an earlier caller of its group wrote into rows without reading them.
func aheadManyStale(s *suite) {
	wall, board := s.addChannel("wall"), s.addChannel("board")
	skipped, kept := newDelivery(wall, "a", noon), newDelivery(board, "b", noon)
	s.planDeliveries(skipped, kept)
	want := store.ReadAhead{Deliveries: []string{skipped.ID, kept.ID}}
	skip := func(tx *store.Tx) error { tx.SkipDeliveriesOf(wall.ID, fermata.SkippedDisabled); return nil }
	s.runWithReadAhead(want, skip, func(tx *store.Tx) error {
		found, err := tx.DeliveriesByID(want.Deliveries)
		s.checkNoError(err)
		states := map[string]fermata.DeliveryState{}
		for _, d := range found {
			states[d.ID] = d.State
			d.Title += "!"
			tx.SaveDelivery(d)
		}
		s.checkEqual(map[string]fermata.DeliveryState{skipped.ID: fermata.DeliverySkipped, kept.ID: fermata.DeliveryWaiting}, states)
		return nil
	}, func(tx *store.Tx) error {
		found, err := tx.DeliveriesByID(want.Deliveries)
		s.checkNoError(err)
		for _, d := range found {
			tx.SaveDelivery(d)
		}
		return nil
	})
}

// aheadLeases checks that a heartbeat does not bring back the lease of a worker that is gone.
func aheadLeases(s *suite) {
	t := s.addTask(func(*fermata.Task) {})
	run := s.addRun(func(r *fermata.Run) { r.TaskID, r.LeaseUntil = t.ID, noon.AddDate(10, 0, 0) })
	s.runAheadTogether(
		aheadWrite{call: func() error { return s.db.EndLeasesOf(s.Context(), run.Runner, run.Worker) }},
		aheadWrite{want: store.ReadAhead{Run: run.ID}, fn: func(tx *store.Tx) error {
			got, err := tx.Run(run.ID)
			if err == nil && !got.LeaseUntil.Before(run.LeaseUntil) {
				err = fmt.Errorf("the lease still ends at %s", got.LeaseUntil)
			}
			return err
		}})
}

// aheadHandOver checks that a hand-over which was read ahead is what the database has after the write, and that a write which
// closes a question needs no other look-up for a claim.
func aheadHandOver(s *suite) {
	message := func(taskID string) *fermata.Message {
		return &fermata.Message{ID: id(fermata.PrefixMessage), TaskID: taskID, Kind: fermata.MessagePlain, Author: alice, Body: hardText, CreatedAt: noon}
	}
	for name, c := range map[string]struct {
		change func(tx *store.Tx, q *fermata.Question)
		// isRead reports whether the hand-over is still known after the change.
		isRead bool
	}{
		"nothing": {func(*store.Tx, *fermata.Question) {}, true},
		"the question closes": {func(tx *store.Tx, q *fermata.Question) {
			setCancelled(q)
			tx.UpdatePending(q)
		}, true},
		"an older question closes": {func(tx *store.Tx, q *fermata.Question) {
			older := newQuestion(q.TaskID)
			older.ID = fermata.NewID(fermata.PrefixQuestion, noon.Add(-time.Hour))
			setTimedOut(older)
			tx.InsertQuestion(older)
		}, true},
		"a question closes that nobody is handed": {func(tx *store.Tx, q *fermata.Question) {
			setCancelled(q)
			q.HandedTo = "run_1"
			tx.UpdatePending(q)
		}, true},
		"a message comes": {func(tx *store.Tx, q *fermata.Question) { tx.InsertMessage(message(q.TaskID), true) }, false},
		"all is handed": {func(tx *store.Tx, q *fermata.Question) {
			tx.HandQuestions(q.TaskID, "run_1")
			tx.HandMessages(q.TaskID, "run_1")
		}, false},
		"all is taken back": {func(tx *store.Tx, q *fermata.Question) { tx.TakeBackHandOver(q.TaskID, "run_0") }, false},
	} {
		s.Log(name)
		before := s.addRun(func(r *fermata.Run) { r.TaskID = id(fermata.PrefixTask) })
		t := s.addTask(func(t *fermata.Task) { t.ID, t.RunID, t.Unread = before.TaskID, before.ID, 2 })
		q := s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID })
		s.addQuestion(func(q *fermata.Question) { q.TaskID = t.ID; setTimedOut(q) })
		s.addQuestion(func(q *fermata.Question) { q.TaskID, q.HandedTo = t.ID, "run_0"; setTimedOut(q) })
		s.write(func(tx *store.Tx) { tx.InsertMessage(message(t.ID), true) })
		var rows *store.ClaimRows
		s.runWithReadAhead(store.ReadAhead{Question: q.ID, HandOver: true}, func(tx *store.Tx) error {
			q, err := tx.Question(q.ID)
			s.checkNoError(err)
			c.change(tx, q)
			s.checkEqual(c.isRead, tx.IsReadForClaim(t))
			rows, err = tx.ReadForClaim(t)
			return err
		})
		questions, err := s.read().UnhandedQuestions(t.ID, "")
		s.checkNoError(err)
		messages, err := s.read().UnhandedMessages(t.ID, "")
		s.checkNoError(err)
		s.checkEqual(&store.ClaimRows{LastRun: before, Questions: questions, Messages: messages}, rows)
	}
	q := s.addQuestion(func(*fermata.Question) {})
	t := s.addTask(func(t *fermata.Task) { t.ID, t.Unread = q.TaskID, 1 })
	read := func(n int, change func(tx *store.Tx, q *fermata.Question)) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			rows, err := tx.ReadForClaim(t)
			s.checkNoError(err)
			s.checkEqual(n, len(rows.Questions))
			q, err := tx.Question(q.ID)
			s.checkNoError(err)
			change(tx, q)
			return nil
		}
	}
	s.runWithReadAhead(store.ReadAhead{Question: q.ID, HandOver: true},
		read(0, func(tx *store.Tx, q *fermata.Question) { setCancelled(q); tx.UpdatePending(q) }),
		read(1, func(*store.Tx, *fermata.Question) {}))
}

// aheadBad checks that a bad read-ahead fails alone. PostgreSQL refuses an id
// with a NUL, and so it refuses the round trip that this read-ahead shares with
// those of other callers.
func aheadBad(s *suite) {
	t := s.addTask(func(*fermata.Task) {})
	held, release := make(chan struct{}), make(chan struct{})
	holder, bad, good := make(chan error, 1), make(chan error, 1), make(chan error, 1)
	go func() {
		holder <- s.try(func(*store.Tx) error { close(held); <-release; return nil })
	}()
	patience.Receive(s, "the first write runs", held)
	write := func(done chan<- error, ahead store.ReadAhead, fn func(tx *store.Tx) error, before int) {
		go func() { done <- s.db.Write(s.Context(), store.DefaultWorkspace, fn, ahead) }()
		s.awaitQueued(before + 1)
	}
	write(bad, store.ReadAhead{Run: "run_\x00"}, func(tx *store.Tx) error { _, err := tx.Run("run_\x00"); return err }, 0)
	write(good, store.ReadAhead{Task: t.ID}, func(tx *store.Tx) error { appendMark(tx, "good"); return nil }, 1)
	close(release)
	s.checkNoError(patience.Receive(s, "the first write ends", holder))
	s.checkNoError(patience.Receive(s, "the good write ends", good))
	if err := patience.Receive(s, "the bad write ends", bad); err == nil {
		s.Error("a run with an impossible id was found")
	}
	s.checkEqual([]string{"good"}, s.marks())
}

// aheadClaims checks eight claims that come together: each gets a task of its
// own, in order, with the hand-over to its run.
func aheadClaims(s *suite) {
	const claims = 8
	var want []string
	for i := range claims {
		t := s.addTask(func(t *fermata.Task) {
			t.Title, t.State, t.RunID = fmt.Sprint(i), fermata.TaskInputReceived, "run_before"
		})
		s.addQuestion(func(q *fermata.Question) {
			q.TaskID, q.Status, q.Title = t.ID, fermata.Answered, t.Title
			q.Resolution = &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, At: noon}
		})
		s.write(func(tx *store.Tx) {
			tx.SaveTask(t)
			tx.InsertMessage(&fermata.Message{
				ID: id(fermata.PrefixMessage), TaskID: t.ID, Kind: fermata.MessagePlain, Author: alice, Body: t.Title, CreatedAt: noon,
			}, true)
		})
		want = append(want, t.ID)
	}
	var got []string
	selection := store.Claimable{Runners: []string{""}}
	claim := func(tx *store.Tx) error {
		t, err := tx.NextClaimable(selection)
		s.checkNoError(err)
		questions, messages, err := tx.PendingHandOver(t.ID)
		s.checkNoError(err)
		if len(questions) != 1 || questions[0].Title != t.Title || len(messages) != 1 || messages[0].Body != t.Title {
			s.Errorf("task %s is handed %d questions and %d messages", t.Title, len(questions), len(messages))
		}
		got = append(got, t.ID)
		s.checkNoError(t.Move(fermata.TaskInProgress))
		tx.SaveTask(t)
		return nil
	}
	fns := make([]func(tx *store.Tx) error, claims)
	for i := range fns {
		fns[i] = claim
	}
	s.runWithReadAhead(store.ReadAhead{Claim: &selection}, fns...)
	s.checkEqualIDs(want, got)
}

// aheadVisible checks claims that come together and differ only in the projects that they may see.
func aheadVisible(s *suite) {
	projects := []string{"shop", "web"}
	for i, project := range projects {
		s.addTask(func(t *fermata.Task) { t.Project, t.Priority = project, i })
	}
	var writes []aheadWrite
	for _, project := range projects {
		request := fermata.ClaimRequest{Worker: "w", Visible: fermata.ProjectSet{Only: true, Names: []string{project}}}
		selection, err := store.ClaimableFor(request, s.read().ClaimableKinds)
		s.checkNoError(err)
		writes = append(writes, aheadWrite{want: store.ReadAhead{Claim: &selection}, fn: func(tx *store.Tx) error {
			t, err := tx.NextClaimable(selection)
			if err == nil && t.Project != project {
				err = fmt.Errorf("the claim for %s gets a task of %s", project, t.Project)
			}
			return err
		}})
	}
	s.runAheadTogether(writes...)
}

func claimRows(s *suite) {
	before := s.addRun(func(r *fermata.Run) { r.TaskID = id(fermata.PrefixTask) })
	t := s.addTask(func(t *fermata.Task) { t.ID, t.RunID, t.Unread = before.TaskID, before.ID, 2 })
	q := s.addQuestion(func(q *fermata.Question) {
		q.TaskID, q.Status = t.ID, fermata.Answered
		q.Resolution = &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, At: noon}
	})
	s.write(func(tx *store.Tx) {
		tx.InsertMessage(&fermata.Message{ID: id(fermata.PrefixMessage), TaskID: t.ID, Kind: fermata.MessagePlain, Author: alice, Body: hardText, CreatedAt: noon}, true)
	})
	read := func(t *fermata.Task) (found *store.ClaimRows) {
		s.write(func(tx *store.Tx) {
			var err error
			found, err = tx.ReadForClaim(t)
			if err != nil {
				s.Errorf("read for a claim: %v", err)
			}
		})
		return found
	}
	found := read(t)
	s.checkEqual(before, found.LastRun)
	s.checkEqual(1, len(found.Questions))
	s.checkEqual(q.ID, found.Questions[0].ID)
	s.checkEqual(hardText, found.Messages[0].Body)
	s.checkEqual(&store.ClaimRows{}, read(s.addTask(func(*fermata.Task) {})))
}
