package stories

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/ports"
	"github.com/fermata-hq/fermata/test/process"
)

// atOnce is how many stories run at the same time. They mostly wait.
const atOnce = "8"

// folder holds the program that the stories run.
var folder string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(build(m))
}

// build builds the program once and runs the tests.
func build(m *testing.M) int {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", atOnce); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	var err error
	if folder, err = os.MkdirTemp("", "fermata-stories-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := provide(filepath.Join(folder, "fermata")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// provide puts the program at a path at which the stories find it by its name.
func provide(path string) error {
	if built := os.Getenv(process.BinaryEnv); built != "" {
		return os.Symlink(built, path)
	}
	return process.Build(path)
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, "sqlite", func(*testscript.Env) error { return nil })
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	address := os.Getenv(storetest.PostgresEnv)
	switch address {
	case "":
		t.Fatalf("%s is not set: run scripts/with-postgres go test ./test/stories, or set it to none to leave PostgreSQL out", storetest.PostgresEnv)
	case "none":
		t.Skip("PostgreSQL is left out: " + storetest.PostgresEnv + "=none")
	}
	run(t, "postgres", func(env *testscript.Env) error {
		database, err := schema(t, env, address)
		if err == nil {
			env.Setenv("FERMATA_DATABASE", database)
		}
		return err
	})
}

// onlySQLite is the first line of stories whose result does not depend on the database.
const onlySQLite = "# Runs on SQLite alone"

// scripts returns the stories that run on a database.
func scripts(t *testing.T, database string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no stories are found: %v", err)
	}
	return slices.DeleteFunc(all, func(name string) bool {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return database != "sqlite" && strings.HasPrefix(string(text), onlySQLite)
	})
}

// run runs the stories of one database.
func run(t *testing.T, database string, prepare func(*testscript.Env) error) {
	testscript.Run(t, testscript.Params{
		Files:               scripts(t, database),
		Cmds:                commands,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// Deferred functions run in reverse order, so programs end before their schema is dropped.
			if err := errors.Join(home(env), prepare(env)); err != nil {
				return err
			}
			block, err := ports.Reserve()
			if err != nil {
				return err
			}
			env.Defer(block.Release)
			s := &story{folder: env.WorkDir, address: block.Address(), background: map[string]*program{}}
			env.Values[storyKey{}] = s
			env.Defer(s.end)
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "sqlite" || name == "postgres" {
				return name == database, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// home prepares the story's home, project and environment, with the path of the examples.
func home(env *testscript.Env) error {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	dir := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	who := "[user]\n\tname = Story\n\temail = story@localhost\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte(who), 0o600); err != nil {
		return err
	}
	env.Setenv("PATH", folder+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", dir)
	env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
	env.Setenv("FERMATA_DATA", filepath.Join(env.WorkDir, "data"))
	env.Setenv("TERM", cmp.Or(os.Getenv("TERM"), "xterm"))
	return nil
}

var schemas atomic.Int64

// schema creates a schema for one story and returns the address that selects it.
func schema(t *testing.T, env *testscript.Env, address string) (string, error) {
	name := fmt.Sprintf("story_%d_%d", os.Getpid(), schemas.Add(1))
	if err := execute(t.Context(), address, "CREATE SCHEMA "+name); err != nil {
		return "", err
	}
	// The context of the test has ended when this function runs.
	env.Defer(func() {
		if err := execute(context.Background(), address, "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func execute(ctx context.Context, address, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, patience.Limit())
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	_, err = conn.Exec(ctx, statement)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("%s: %w", strings.ToLower(statement), err)
	}
	return nil
}
