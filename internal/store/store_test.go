package store_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestStore runs the suite on both databases, and checks that every statement of the package ran on both.
func TestStore(t *testing.T) {
	t.Parallel()
	fragments := sqlFragments(t)
	storetest.Each(t, func(t *testing.T, first store.Options) {
		var ran store.Statements
		t.Run("suite", func(t *testing.T) {
			storetest.Run(t, storetest.Config{
				Options: func(tb testing.TB) store.Options {
					if store.IsPostgres(first.URL) {
						return storetest.Postgres(tb)
					}
					return storetest.SQLite(tb)
				},
				Open: func(tb testing.TB, opts store.Options) *store.DB {
					db := storetest.Open(tb, opts)
					store.Record(db, ran.See)
					return db
				},
				Queued: store.Queued,
			})
		})
		all := ran.All()
		for _, fragment := range fragments {
			if !slices.ContainsFunc(all, fragment.MatchString) {
				t.Errorf("no test runs the statement with %s", fragment)
			}
		}
	})
}

var (
	isSQL   = regexp.MustCompile(`\b(SELECT|FROM|WHERE|INSERT|UPDATE|DELETE|ORDER BY|AND|ON CONFLICT)\b`)
	isVerb  = regexp.MustCompile(`%(\[\d\])?[sd]`)
	skipped = regexp.MustCompile(`^(BEGIN|PRAGMA|LISTEN|CREATE|SELECT (current_setting|set_config|sqlite_version|pg_|$)|SELECT event_seq, event_hash, min_compatible_version)| FROM workspaces WHERE id = \$1 FOR UPDATE| FROM sqlite_master|min_compatible_version( = 9001|\) FROM workspaces)`)
)

// sqlFragments returns the texts of the package that are parts of statements.
func sqlFragments(t *testing.T) []*regexp.Regexp {
	t.Helper()
	names, err := filepath.Glob("*.go")
	must(t, err)
	var found []*regexp.Regexp
	for _, name := range names {
		// The recorder does not see the statements of migrations, so each migration has a test of its own.
		if name == "dialect.go" || strings.HasPrefix(name, "migrate_") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		must(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err == nil && isSQL.MatchString(text) && !skipped.MatchString(text) {
				parts := isVerb.Split(text, -1)
				for i := range parts {
					parts[i] = regexp.QuoteMeta(parts[i])
				}
				found = append(found, regexp.MustCompile("(?s)"+strings.Join(parts, ".*")))
			}
			return true
		})
	}
	if len(found) < 60 {
		t.Fatalf("only %d parts of statements were found", len(found))
	}
	return found
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		if store.IsPostgres(opts.URL) {
			opts = storetest.EmptyPostgres(t)
		} else {
			opts = storetest.EmptySQLite(t)
		}
		db := storetest.Open(t, opts)
		add := func() error {
			return db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
				tx.EnsureProject("web")
				tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor})
				return nil
			})
		}
		must(t, add())
		must(t, db.Migrate(t.Context()))
		if projects, err := db.Reader(t.Context(), store.DefaultWorkspace).Projects(); err != nil || len(projects) != 2 {
			t.Fatalf("after migrating again: %v, %v", projects, err)
		}
		must(t, store.MigrateDown(t.Context(), db))
		if db.Ping(t.Context()) == nil {
			t.Fatal("the tables are still there")
		}
		if err := add(); err == nil {
			t.Fatal("a write without tables was acknowledged")
		}
		must(t, db.Migrate(t.Context()))
		must(t, add())
		if head, err := db.Reader(t.Context(), store.DefaultWorkspace).Head(); err != nil || head.Seq != 1 {
			t.Fatalf("head is %+v, %v", head, err)
		}
	})
}

// TestClosingsAreFilledIn checks that questions that closed before analytics existed are counted like questions that
// close today.
func TestClosingsAreFilledIn(t *testing.T) {
	t.Parallel()
	storetest.EachUnshared(t, func(t *testing.T, opts store.Options) {
		db := storetest.Open(t, opts)
		all := fermata.Period{From: time.UnixMilli(0), To: time.UnixMilli(1 << 50)}
		count := func() []store.ClosingCount {
			counts, err := db.Reader(t.Context(), store.DefaultWorkspace).ClosingCounts(store.ClosingFilter{Asked: all, GroupBy: store.ByAlike})
			must(t, err)
			return counts
		}
		must(t, db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			for i := range 2100 {
				q := &fermata.Question{
					ID: fermata.NewID(fermata.PrefixQuestion, tx.Now()), TaskID: fermata.NewID(fermata.PrefixTask, tx.Now()), Project: "web",
					Type: fermata.Blocking, Status: fermata.Answered, Title: fmt.Sprintf("Deploy %c build %d?", 'a'+i%3, i), CreatedAt: tx.Now(),
					Resolution: &fermata.Resolution{
						Status: fermata.Answered, DecidedBy: fermata.ActorHuman, At: tx.Now().Add(time.Duration(i%5) * time.Minute), Channel: "web",
						AnsweredBy: &fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_1"},
					},
				}
				tx.InsertQuestion(q)
			}
			return nil
		}))
		want := count()
		if len(want) != 15 {
			t.Fatalf("%d kinds of questions: %+v", len(want), want)
		}
		must(t, store.MigrateDownTo(t.Context(), db, 5))
		must(t, db.Migrate(t.Context()))
		if got := count(); !slices.Equal(got, want) {
			t.Errorf("filled in %+v, want %+v", got, want)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func code(t *testing.T, err error, want fermata.Code) {
	t.Helper()
	if got := fermata.CodeOf(err); got != want {
		t.Fatalf("error is %v (%s), want %s", err, got, want)
	}
}

// writeEvent writes one event.
func writeEvent(t *testing.T, db *store.DB) error {
	t.Helper()
	return db.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.Append(&fermata.Event{Type: fermata.EventPolicyChanged, Actor: fermata.SystemActor})
		return nil
	})
}

// verifyChain verifies the events, and returns how many there are.
func verifyChain(t *testing.T, db *store.DB) int {
	t.Helper()
	r := db.Reader(t.Context(), store.DefaultWorkspace)
	all, err := r.Events(store.EventFilter{Limit: 100_000})
	must(t, err)
	var c fermata.Chain
	for _, e := range all {
		must(t, c.VerifyNext(e))
	}
	head, err := r.Head()
	must(t, err)
	if head != c {
		t.Fatalf("the head is %+v, the chain ends at %+v", head, c)
	}
	return len(all)
}
