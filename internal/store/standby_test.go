package store_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// standbyWorld is a database with a standby.
type standbyWorld struct {
	*testing.T
	primary, standby *process.PostgresServer
	log              *logBuffer
	db               *store.DB
}

// logBuffer keeps the lines of a log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *logBuffer) count(text string) int {
	return strings.Count(b.String(), text)
}

// newStandbyWorld starts both servers, and writes an event. Long reads may use the given database of the standby.
func newStandbyWorld(t *testing.T, standbyDatabase string) *standbyWorld {
	t.Helper()
	w := &standbyWorld{T: t, log: &logBuffer{}}
	w.primary, w.standby = process.StartStandby(t)
	w.db = w.open(strings.Replace(w.standby.URL, "/postgres", "/"+standbyDatabase, 1))
	must(t, writeEvent(t, w.db))
	return w
}

// open opens the database as one more replica, and watches it.
func (w *standbyWorld) open(readURL string) *store.DB {
	w.Helper()
	db := storetest.Open(w.T, store.Options{
		URL: w.primary.URL, ReadURL: readURL, Keys: storetest.MasterKeys, StallLimit: patience.Limit(), Log: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	ctx, cancel := context.WithCancel(w.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		db.Watch(ctx, func(*store.Trouble) {})
	}()
	w.Cleanup(func() {
		cancel()
		patience.Receive(w.T, "the watch ends", ended)
		if w.Failed() {
			w.Logf("the reads are %+v, and the log is:\n%s", db.StandbyReads(), w.log.String())
		}
	})
	return db
}

// read runs a long read, which must see the newest event.
func (w *standbyWorld) read() {
	w.Helper()
	want, err := w.db.Reader(w.Context(), store.DefaultWorkspace).Head()
	must(w.T, err)
	got, err := w.db.Reader(w.Context(), store.DefaultWorkspace).ForLongReads().Head()
	must(w.T, err)
	if got != want {
		w.Errorf("a long read found the head %+v, and not %+v", got, want)
	}
}

// awaitUse waits until the standby serves a read.
func (w *standbyWorld) awaitUse() {
	w.Helper()
	before := w.db.StandbyReads().Done
	patience.Await(w.T, "the standby serves a read", func() bool {
		w.read()
		return w.db.StandbyReads().Done > before
	})
}

// A standby that is behind serves no read: a caller sees its own writes, with and without events, and those of other
// replicas.
func TestLongReadsSeeWhatWasWritten(t *testing.T) {
	t.Parallel()
	w := newStandbyWorld(t, "postgres")
	other := w.open("")
	must(t, writeEvent(t, w.db))
	w.awaitUse()
	behind := func(write func()) {
		t.Helper()
		w.standby.Run("SELECT pg_wal_replay_pause()")
		patience.Await(t, "the replay pauses", func() bool { return w.ask("SELECT pg_get_wal_replay_pause_state() = 'paused'") })
		before := w.db.StandbyReads()
		write()
		w.read()
		if after := w.db.StandbyReads(); after.Behind != before.Behind+1 || after.Done != before.Done {
			t.Errorf("the reads were %+v, and are %+v", before, after)
		}
		w.standby.Run("SELECT pg_wal_replay_resume()")
		w.awaitUse()
	}
	behind(func() { must(t, writeEvent(t, w.db)) })
	behind(func() { must(t, writeEvent(t, other)) })
	behind(func() {
		must(t, w.db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			tx.SaveView(fermata.SavedView{OwnerID: "anna", Name: "mine", Query: "x"})
			return nil
		}))
	})
	before := w.db.StandbyReads()
	_, err := w.db.Reader(t.Context(), store.DefaultWorkspace).ForLongReadsOfPrimary().Head()
	must(t, err)
	if after := w.db.StandbyReads(); after != before {
		t.Errorf("a read of the primary counts for the standby: %+v, and %+v before", after, before)
	}
	views, err := w.db.Reader(t.Context(), store.DefaultWorkspace).ForLongReads().Views("anna")
	must(t, err)
	if len(views) != 1 || views[0].Query != "x" {
		t.Errorf("the views are %+v", views)
	}
}

// ask reports whether a query on the standby returns true.
func (w *standbyWorld) ask(query string) (yes bool) {
	w.Helper()
	conn := w.connect()
	defer func() { must(w.T, conn.Close(context.WithoutCancel(w.Context()))) }()
	must(w.T, conn.QueryRow(w.Context(), query).Scan(&yes))
	return yes
}

// connect connects to the standby without the store.
func (w *standbyWorld) connect() *pgx.Conn {
	w.Helper()
	conn, err := pgx.Connect(w.Context(), w.standby.URL)
	must(w.T, err)
	return conn
}

const (
	logBegin = "the standby cannot be used"
	logEnd   = "the standby is used again"
)

// While a standby is down, reads use the primary, and nothing else is in trouble. The log says when it begins and ends.
func TestAStandbyThatIsDownIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newStandbyWorld(t, "postgres")
	w.awaitUse()
	if n := w.log.count(logBegin) + w.log.count(logEnd); n > 0 {
		t.Errorf("the log has %d lines before the trouble", n)
	}
	w.standby.Kill()
	patience.Await(t, "the trouble is noticed", func() bool {
		w.read()
		return w.log.count(logBegin) == 1
	})
	before := w.db.StandbyReads()
	for range 20 {
		must(t, writeEvent(t, w.db))
		w.read()
	}
	if after := w.db.StandbyReads(); after.Done != before.Done || after.Unavailable != before.Unavailable+20 {
		t.Errorf("the reads were %+v, and are %+v", before, after)
	}
	if trouble := w.db.Trouble(); trouble != nil {
		t.Errorf("the database is in trouble: %v", trouble)
	}
	w.standby.Start()
	w.awaitUse()
	if begun, ended := w.log.count(logBegin), w.log.count(logEnd); begun != 1 || ended != 1 {
		t.Errorf("the log says %d times that the trouble begins, and %d times that it ends", begun, ended)
	}
	w.standby.Run("SELECT pg_promote()")
	patience.Await(t, "the promotion is noticed", func() bool {
		w.read()
		return w.log.count("it is not a standby") == 1
	})
}

// A standby that does not answer holds no read: the read begins again on the primary.
func TestAFrozenStandbyHoldsNoRead(t *testing.T) {
	t.Parallel()
	w := newStandbyWorld(t, "postgres")
	w.awaitUse()
	w.standby.Freeze()
	w.read()
	if n := w.log.count(logBegin); n != 1 {
		t.Errorf("the log says %d times that the trouble begins", n)
	}
	w.standby.Thaw()
	w.awaitUse()
}

// Poolers may be before both servers.
func TestAStandbyBehindAPooler(t *testing.T) {
	t.Parallel()
	w := &standbyWorld{T: t, log: &logBuffer{}}
	w.primary, w.standby = process.StartStandby(t)
	through := func(address string) string {
		u, err := url.Parse(address)
		must(t, err)
		return process.StartPoolerTo(t, u)
	}
	w.primary.URL = through(w.primary.URL)
	w.db = w.open(through(w.standby.URL))
	must(t, writeEvent(t, w.db))
	w.awaitUse()
}

// Another database serves no read.
func TestAnotherDatabaseIsNoStandby(t *testing.T) {
	t.Parallel()
	w := newStandbyWorld(t, "template1")
	patience.Await(t, "the other database is noticed", func() bool { return w.log.count("it is no standby of the database") == 1 })
	w.read()
	if reads := w.db.StandbyReads(); reads.Done != 0 || reads.Unavailable == 0 {
		t.Errorf("the reads are %+v", reads)
	}
}

// The standby of another deployment serves no read, also if its role may not read which cluster it is.
func TestTheStandbyOfOthersIsNoStandby(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"fermata": "it is no standby of the database", "limited": "it has other events than the primary"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			w := &standbyWorld{T: t, log: &logBuffer{}, primary: process.StartPostgres(t)}
			theirs, standby := process.StartStandby(t)
			as := func(s *process.PostgresServer) string { return strings.Replace(s.URL, "//fermata@", "//"+role+"@", 1) }
			for _, s := range []*process.PostgresServer{w.primary, theirs} {
				s.Run("CREATE ROLE limited LOGIN; GRANT ALL ON SCHEMA public TO limited; REVOKE ALL ON FUNCTION pg_control_system() FROM PUBLIC")
			}
			w.primary.URL, theirs.URL = as(w.primary), as(theirs)
			others := storetest.Open(t, store.Options{URL: theirs.URL, Keys: storetest.MasterKeys})
			w.db = w.open(as(standby))
			must(t, writeEvent(t, w.db))
			patience.Await(t, "the other standby is noticed", func() bool {
				must(t, writeEvent(t, others))
				w.read()
				return w.log.count(want) == 1
			})
			if n := w.db.StandbyReads().Done; n != 0 {
				t.Errorf("it served %d reads", n)
			}
		})
	}
}

// A read that the standby cancels is repeated on the primary: it needs rows that the primary has removed.
func TestAReadThatTheStandbyCancelsIsRepeated(t *testing.T) {
	t.Parallel()
	w := newStandbyWorld(t, "postgres")
	must(t, writeEvent(t, w.db))
	w.awaitUse()
	holder := w.connect()
	defer func() { must(t, holder.Close(context.WithoutCancel(t.Context()))) }()
	_, err := holder.Exec(t.Context(), "SELECT pg_advisory_lock(7)")
	must(t, err)
	type result struct {
		seq int64
		err error
	}
	ended := make(chan result, 1)
	go func() {
		seq, err := store.ReadBehindLock(w.db.Reader(t.Context(), store.DefaultWorkspace))
		ended <- result{seq, err}
	}()
	patience.Await(t, "the read waits on the standby", func() bool {
		return w.ask("SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
	})
	var r result
	patience.Await(t, "the standby cancels the read", func() bool {
		must(t, writeEvent(t, w.db))
		w.primary.Run("VACUUM workspaces")
		select {
		case r = <-ended:
			return true
		default:
			return false
		}
	})
	must(t, r.err)
	if reads := w.db.StandbyReads(); r.seq == 0 || reads.Repeated != 1 || w.log.count(logBegin) != 0 {
		t.Errorf("it read the number %d; the reads are %+v", r.seq, reads)
	}
}
