package storetest

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

var workspaceTests = map[string]func(*suite){
	"a new database has one": workspaceNew,
	"policy":                 workspacePolicy,
	"counts":                 workspaceCounts,
	"the clock":              workspaceClock,
	"a write to try":         workspaceProbe,
	"what was acknowledged":  workspaceHeads,
}

func workspaceNew(s *suite) {
	all, err := s.db.Reader(s.Context(), "").Workspaces()
	s.checkNoError(err)
	s.checkEqual([]string{store.DefaultWorkspace}, all)
	head, err := s.read().Head()
	s.checkNoError(err)
	s.checkEqual(fermata.Chain{}, head)
	s.checkNoError(s.db.Ping(s.Context()))
	s.checkNoError(s.db.Notify(s.Context()))
	_, err = s.db.Reader(s.Context(), "other").Policy()
	s.checkCode(err, fermata.CodeNotFound)
	s.checkEqual(store.DefaultWorkspace, s.read().Workspace())
}

func workspacePolicy(s *suite) {
	got, err := s.read().Policy()
	s.checkNoError(err)
	s.checkEqual(fermata.DefaultPolicy(), got)
	want := fermata.Policy{
		MinTimeout: "1m", MaxTimeout: "2h", AllowShorter: true, AutoConfidence: ptr(0), AskConfidence: ptr(7),
		DefaultTimeout: map[fermata.QuestionType]fermata.Timeout{fermata.Approval: fermata.Never},
	}
	s.write(func(tx *store.Tx) { tx.SetPolicy(want) })
	got, err = s.read().Policy()
	s.checkNoError(err)
	s.checkEqual(want, got)
}

func workspaceCounts(s *suite) {
	s.addTask(func(*fermata.Task) {})
	s.addTask(func(*fermata.Task) {})
	s.addTask(func(t *fermata.Task) { t.State = fermata.TaskDone })
	s.addQuestion(func(q *fermata.Question) { q.CreatedAt = noon.Add(time.Hour) })
	s.addQuestion(func(*fermata.Question) {})
	s.addQuestion(setCancelled)
	got, err := s.db.Reader(s.Context(), "").CountPending()
	s.checkNoError(err)
	s.checkEqual([]store.Count{{Kind: "blocking", N: 2, Oldest: noon.UnixMilli()}}, got)
	s.write(func(tx *store.Tx) { appendMark(tx, "counted") })
	head, err := s.read().Head()
	s.checkNoError(err)
	counts, seq, err := s.read().CountTasksByProject()
	s.checkNoError(err)
	s.checkEqual(head.Seq, seq)
	slices.SortFunc(counts, func(a, b store.ProjectCount) int { return cmp.Compare(a.State, b.State) })
	s.checkEqual([]store.ProjectCount{{Project: "default", State: fermata.TaskDone, N: 1}, {Project: "default", State: fermata.TaskOpen, N: 2}}, counts)
}

func workspaceClock(s *suite) {
	before, err := s.db.Now(s.Context())
	s.checkNoError(err)
	var now time.Time
	s.write(func(tx *store.Tx) { now = tx.Now() })
	after, err := s.db.Now(s.Context())
	s.checkNoError(err)
	if now.Before(before) || after.Before(now) || !now.Equal(fermata.TruncateTime(now)) || now.Location() != time.UTC {
		s.Errorf("the transaction is at %s, between %s and %s", now, before, after)
	}
}

func workspaceProbe(s *suite) {
	s.checkNoError(s.db.Probe(s.Context()))
	s.checkNoError(s.db.Probe(s.Context()))
	s.checkEqual(int64(0), s.head())
}

// workspaceHeads checks that a database may have more events than its head file records, but never fewer.
func workspaceHeads(s *suite) {
	s.opts.HeadFile = filepath.Join(s.TempDir(), "heads")
	db := s.config.Open(s.T, s.opts)
	s.checkNoError(db.Check(s.Context()))
	one := func(tx *store.Tx) error {
		tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor})
		return nil
	}
	s.checkNoError(db.Write(s.Context(), store.DefaultWorkspace, one))
	s.checkNoError(db.Close())
	s.checkNoError(s.db.Write(s.Context(), store.DefaultWorkspace, one))

	db = s.config.Open(s.T, s.opts)
	s.checkNoError(db.Check(s.Context()))
	losses, err := db.Losses(s.Context())
	s.checkNoError(err)
	s.checkEqual(0, len(losses))
	s.checkNoError(db.Close())

	other := s.config.Options(s.T)
	other.HeadFile = s.opts.HeadFile
	s.checkCode(s.config.Open(s.T, other).Check(s.Context()), fermata.CodeUnavailable)
}

func (s *suite) head() int64 {
	head, err := s.read().Head()
	s.checkNoError(err)
	return head.Seq
}
