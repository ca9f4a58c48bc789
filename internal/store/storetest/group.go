package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

var groupTests = map[string]func(*suite){
	"a failure before a read":                    groupFailsEarly,
	"a failure after a read":                     groupFailsLate,
	"a panic":                                    groupPanics,
	"a broken constraint":                        groupConstraint,
	"a write with a result does not run again":   groupRunsNoMore,
	"a query that fails keeps nobody's commit":   groupQueryFails,
	"a query error that nobody looks at":         groupErrorIgnored,
	"each sees what the others before it wrote":  groupSees,
	"many at once":                               groupMany,
	"a context that ended before":                groupCancelled,
	"a context that ends meanwhile":              groupCancelledLater,
	"after Close":                                groupClosed,
	"Close waits for the writes under way":       groupClosing,
	"a write without effect costs no event":      groupEmpty,
	"reads within a failed write leave no trace": groupReads,
}

var errRefused = errors.New("refused by the caller")

func goodWrite(name string) func(tx *store.Tx) error {
	return func(tx *store.Tx) error { appendMark(tx, name); return nil }
}

// failedIndexes returns the indexes of the writes that failed.
func failedIndexes(errs []error) []int {
	bad := []int{}
	for i, err := range errs {
		if err != nil {
			bad = append(bad, i)
		}
	}
	return bad
}

func groupFailsEarly(s *suite) {
	errs := s.runTogether(goodWrite("a"), func(tx *store.Tx) error {
		appendMark(tx, "bad")
		tx.InsertTask(newTask("bad"))
		return errRefused
	}, goodWrite("c"))
	s.checkEqual([]int{1}, failedIndexes(errs))
	if !errors.Is(errs[1], errRefused) {
		s.Errorf("the error is %v", errs[1])
	}
	s.checkEqual([]string{"a", "c"}, s.marks())
	s.checkNoTasks()
}

func (s *suite) checkNoTasks() {
	s.Helper()
	all, err := s.read().Tasks(store.TaskFilter{Limit: 10})
	s.checkNoError(err)
	s.checkEqual(0, len(all))
}

func groupFailsLate(s *suite) {
	bad := func(tx *store.Tx) error {
		t := newTask("bad")
		tx.InsertTask(t)
		appendMark(tx, "bad")
		if _, err := tx.Task(t.ID); err != nil {
			return err
		}
		return errRefused
	}
	errs := s.runTogether(goodWrite("a"), bad, goodWrite("c"), bad, goodWrite("e"))
	s.checkEqual([]int{1, 3}, failedIndexes(errs))
	if !errors.Is(errs[1], errRefused) || !errors.Is(errs[3], errRefused) {
		s.Errorf("the errors are %v", errs)
	}
	s.checkEqual([]string{"a", "c", "e"}, s.marks())
	s.checkNoTasks()
}

func groupPanics(s *suite) {
	errs := s.runTogether(goodWrite("a"), func(tx *store.Tx) error {
		t := newTask("bad")
		tx.InsertTask(t)
		if _, err := tx.Task(t.ID); err != nil {
			return err
		}
		panic("a bug")
	}, func(*store.Tx) error { panic("another") }, goodWrite("c"))
	s.checkEqual([]int{1, 2}, failedIndexes(errs))
	s.checkCode(errs[1], fermata.CodeInternal)
	s.checkEqual([]string{"a", "c"}, s.marks())
	s.checkNoTasks()
}

func groupConstraint(s *suite) {
	t := newTask("twice")
	insert := func(name string) func(*store.Tx) error {
		return func(tx *store.Tx) error { copied := *t; tx.InsertTask(&copied); appendMark(tx, name); return nil }
	}
	errs := s.runTogether(goodWrite("a"), insert("b"), insert("bad"), goodWrite("d"))
	s.checkEqual([]int{2}, failedIndexes(errs))
	s.checkEqual([]string{"a", "b", "d"}, s.marks())
}

func groupRunsNoMore(s *suite) {
	var runs atomic.Int32
	t := newTask("twice")
	insert := func(tx *store.Tx) error { copied := *t; tx.InsertTask(&copied); return nil }
	errs := s.runTogether(func(tx *store.Tx) error {
		if runs.Add(1) > 1 {
			appendMark(tx, "again")
			return nil
		}
		return errRefused
	}, insert, insert, goodWrite("d"))
	s.checkEqual([]int{0, 2}, failedIndexes(errs))
	s.checkEqual(int32(1), runs.Load())
	s.checkEqual([]string{"d"}, s.marks())
}

// unreadableText is a text that PostgreSQL refuses only when the query runs.
const unreadableText = "\x00"

func groupQueryFails(s *suite) {
	r := s.addRun(func(*fermata.Run) {})
	errs := s.runTogether(func(tx *store.Tx) error { tx.AppendLog(r.ID, 0, "abc"); return nil }, func(tx *store.Tx) error {
		_, err := tx.QuestionByKey(unreadableText, fermata.SystemActor)
		return err
	})
	s.checkEqual([]int{1}, failedIndexes(errs))
	size, err := s.read().LogSize(r.ID)
	s.checkNoError(err)
	s.checkEqual(int64(3), size)
}

func groupErrorIgnored(s *suite) {
	errs := s.runTogether(goodWrite("a"), func(tx *store.Tx) error {
		appendMark(tx, "b")
		_, _ = tx.QuestionByKey(unreadableText, fermata.SystemActor)
		return nil
	}, goodWrite("c"))
	if s.db.Dialect() == "sqlite" {
		s.checkEqual([]string{"a", "b", "c"}, s.marks())
		return
	}
	s.checkEqual([]int{1}, failedIndexes(errs))
	s.checkCode(errs[1], fermata.CodeInvalidRequest)
	s.checkEqual([]string{"a", "c"}, s.marks())
}

func groupSees(s *suite) {
	t := newTask("seen")
	errs := s.runTogether(func(tx *store.Tx) error { tx.InsertTask(t); return nil }, func(tx *store.Tx) error {
		found, err := tx.Task(t.ID)
		if err == nil {
			found.Summary = "changed"
			tx.SaveTask(found)
		}
		return err
	}, func(tx *store.Tx) error {
		found, err := tx.Task(t.ID)
		if err == nil && found.Summary != "changed" {
			err = fmt.Errorf("summary is %q", found.Summary)
		}
		return err
	})
	s.checkEqual([]int{}, failedIndexes(errs))
}

// groupMany checks many writers of every kind at once: only the wrong ones
// fail, and each of the others takes effect once.
func groupMany(s *suite) {
	const writers = 200
	counter := s.addTask(func(*fermata.Task) {})
	taken := newTask("taken")
	s.write(func(tx *store.Tx) { tx.InsertTask(taken) })
	count := func(tx *store.Tx, i int) error {
		t, err := tx.Task(counter.ID)
		if err == nil {
			t.Attempts++
			tx.SaveTask(t)
			appendMark(tx, fmt.Sprint(i))
		}
		return err
	}
	var wg sync.WaitGroup
	errs := make([]error, writers)
	for i := range writers {
		wg.Go(func() {
			errs[i] = s.try(func(tx *store.Tx) error {
				switch i % 8 {
				case 1:
					appendMark(tx, "bad")
					return errRefused
				case 3:
					if err := count(tx, i); err != nil {
						return err
					}
					if _, err := tx.Task(counter.ID); err != nil {
						return err
					}
					return errRefused
				case 5:
					if err := count(tx, i); err != nil {
						return err
					}
					panic("a bug")
				case 7:
					copied := *taken
					tx.InsertTask(&copied)
				}
				return count(tx, i)
			})
		})
	}
	wg.Wait()
	var want []string
	for i, err := range errs {
		if (err != nil) != (i%2 == 1) {
			s.Errorf("writer %d: %v", i, err)
		}
		if i%2 == 0 {
			want = append(want, fmt.Sprint(i))
		}
	}
	s.checkEqualIDs(want, s.marks())
	t, err := s.read().Task(counter.ID)
	s.checkNoError(err)
	s.checkEqual(writers/2, t.Attempts)
}

func groupCancelled(s *suite) {
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	err := s.db.Write(ctx, store.DefaultWorkspace, func(*store.Tx) error { s.Error("it ran"); return nil })
	if !errors.Is(err, context.Canceled) {
		s.Errorf("the error is %v", err)
	}
}

// groupCancelledLater checks that a write that is under way ignores the end of
// its context.
func groupCancelledLater(s *suite) {
	ctx, cancel := context.WithCancel(s.Context())
	s.checkNoError(s.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error { cancel(); appendMark(tx, "a"); return nil }))
	s.checkEqual([]string{"a"}, s.marks())
}

func groupClosed(s *suite) {
	db := s.config.Open(s.T, s.config.Options(s.T))
	s.checkNoError(db.Close())
	err := db.Write(s.Context(), store.DefaultWorkspace, func(*store.Tx) error { s.Error("it ran"); return nil })
	s.checkCode(err, fermata.CodeUnavailable)
	s.checkNoError(db.Close())
	if db.Ping(s.Context()) == nil {
		s.Error("a closed database answers")
	}
}

func groupClosing(s *suite) {
	opts := s.config.Options(s.T)
	db := s.config.Open(s.T, opts)
	inside, release := make(chan struct{}), make(chan struct{})
	written, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		written <- db.Write(s.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			close(inside)
			<-release
			appendMark(tx, "a")
			return nil
		})
	}()
	patience.Receive(s, "the write runs", inside)
	go func() { closed <- db.Close() }()
	close(release)
	s.checkNoError(patience.Receive(s, "the write ends", written))
	s.checkNoError(patience.Receive(s, "the database is closed", closed))
	s.checkEqual(1, len(verify(s, s.config.Open(s.T, opts))))
}

func groupEmpty(s *suite) {
	s.checkEqual([]int{}, failedIndexes(s.runTogether(func(*store.Tx) error { return nil }, goodWrite("b"), func(*store.Tx) error { return nil })))
	s.checkEqual([]string{"b"}, s.marks())
}

func groupReads(s *suite) {
	var order []string
	read := func(name string, result error) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			order = append(order, name)
			if _, err := tx.Projects(); err != nil {
				return err
			}
			return result
		}
	}
	errs := s.runTogether(goodWrite("a"), read("x", errRefused), read("y", nil), goodWrite("b"))
	s.checkEqual([]int{1}, failedIndexes(errs))
	s.checkEqual([]string{"x", "y"}, slices.Compact(order))
	s.checkEqual([]string{"a", "b"}, s.marks())
}
