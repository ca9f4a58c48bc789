package storetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
)

// Config says how the suite opens a database.
type Config struct {
	// Options returns the options of a new, empty database.
	Options func(tb testing.TB) store.Options
	// Open opens and migrates the database, and closes it after the test.
	Open func(tb testing.TB, opts store.Options) *store.DB
	// Queued returns the number of writes that wait for a workspace's next group.
	Queued func(db *store.DB, workspace string) int
}

// suite is one test on a database of its own.
type suite struct {
	*testing.T
	config Config
	opts   store.Options
	db     *store.DB
}

// testGroups are the parts of the suite.
var testGroups = map[string]map[string]func(*suite){
	"task": taskTests, "question": questionTests, "run": runTests, "message": messageTests, "event": eventTests, "token": tokenTests,
	"idempotency": replayTests, "workspace": workspaceTests, "ahead": readAheadTests, "group": groupTests, "replica": replicaTests, "gate": gateTests, "closing": closingTests,
	"secret": secretTests, "access": accessTests, "delivery": deliveryTests, "workflow": workflowTests,
	"inbox": inboxTests, "clock": clockTests, "visible": visibilityTests, "worker": workerTests, "page": pageTests, "retention": retentionTests,
}

// Run checks that a database provides every guarantee of the store.
func Run(t *testing.T, config Config) {
	for noun, facts := range testGroups {
		for fact, test := range facts {
			t.Run(noun+"/"+fact, func(t *testing.T) {
				t.Parallel()
				opts := config.Options(t)
				test(&suite{T: t, config: config, opts: opts, db: config.Open(t, opts)})
			})
		}
	}
}

// noon is an instant with the precision that both databases store.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 123_000_000, time.UTC)

// hardText is a text with characters that are often damaged by wrong encoding or quoting.
const hardText = "żółw 🎼 '\"\\ %_ \u2028 <b>&amp;</b>\r\n\t$1 ?"

var (
	alice = fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_1", Name: "alice"}
	robot = fermata.Actor{Kind: fermata.ActorAgent, ID: "tok_1", Name: hardText}
)

func id(prefix string) string { return fermata.NewID(prefix, noon) }

func ptr[T any](v T) *T { return &v }

func (s *suite) read() store.Reader { return s.db.Reader(s.Context(), store.DefaultWorkspace) }

func (s *suite) overdue(at time.Time, limit int) *store.OverdueRows {
	found, err := s.db.OverdueRows(s.Context(), at, limit)
	s.checkNoError(err)
	return found
}

// try runs fn in a write of its own.
func (s *suite) try(fn func(tx *store.Tx) error) error {
	return s.db.Write(s.Context(), store.DefaultWorkspace, fn)
}

func (s *suite) write(fn func(tx *store.Tx)) {
	s.Helper()
	s.checkNoError(s.try(func(tx *store.Tx) error { fn(tx); return nil }))
}

func (s *suite) checkNoError(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

func (s *suite) checkCode(err error, want fermata.Code) {
	s.Helper()
	if got := fermata.CodeOf(err); got != want {
		s.Fatalf("error is %v (%s), want %s", err, got, want)
	}
}

func (s *suite) checkEqual(want, got any) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Fatalf("(-want +got):\n%s", diff)
	}
}

func (s *suite) checkEqualIDs(want []string, got []string) {
	s.Helper()
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	s.checkEqual(want, got)
}

// verify checks that the events are numbered without gaps, that every hash is right, and that the head is the last
// event. It returns the events.
func (s *suite) verify() []*fermata.Event {
	s.Helper()
	return verify(s, s.db)
}

func verify(s *suite, db *store.DB) []*fermata.Event {
	s.Helper()
	r := db.Reader(s.Context(), store.DefaultWorkspace)
	all, err := r.Events(store.EventFilter{Limit: 100_000})
	s.checkNoError(err)
	var chain fermata.Chain
	for _, e := range all {
		s.checkNoError(chain.VerifyNext(e))
	}
	head, err := r.Head()
	s.checkNoError(err)
	s.checkEqual(head, chain)
	return all
}

// runTogether runs the functions as one group, in this order. It holds the queue until all of them wait.
func (s *suite) runTogether(fns ...func(tx *store.Tx) error) []error {
	s.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	holder := make(chan error, 1)
	go func() {
		holder <- s.db.Write(context.WithoutCancel(s.Context()), store.DefaultWorkspace, func(*store.Tx) error {
			close(held)
			<-release
			return nil
		})
	}()
	patience.Receive(s, "the first write runs", held)
	results := make([]chan error, len(fns))
	for i, fn := range fns {
		results[i] = make(chan error, 1)
		go func() { results[i] <- s.try(fn) }()
		s.awaitQueued(i + 1)
	}
	close(release)
	errs := []error{}
	for _, result := range results {
		errs = append(errs, patience.Receive(s, "a write ends", result))
	}
	s.checkNoError(patience.Receive(s, "the first write ends", holder))
	return errs
}

// awaitQueued waits until n writes are in the queue. It yields first, because this is usually enough.
func (s *suite) awaitQueued(n int) {
	s.Helper()
	queued := func() bool { return s.config.Queued(s.db, store.DefaultWorkspace) >= n }
	for range 100 {
		if queued() {
			return
		}
		runtime.Gosched()
	}
	patience.Await(s, fmt.Sprintf("%d writes are in the queue", n), queued)
}

// appendMark appends an event that identifies a write.
func appendMark(tx *store.Tx, name string) {
	tx.Append(&fermata.Event{Type: fermata.EventProgressReported, Actor: robot, Data: fmt.Appendf(nil, "{\"mark\":%q}", name)})
}

// marks lists the names of the writes that were committed.
func (s *suite) marks() []string {
	s.Helper()
	names := []string{}
	for _, e := range s.verify() {
		names = append(names, string(e.Data[len(`{"mark":"`):len(e.Data)-len(`"}`)]))
	}
	return names
}
