// Package test holds the tests of the repository as a whole.
package test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestImportsKeepToTheRings(t *testing.T) {
	t.Parallel()
	sources := parseModule(t, "..")
	if len(sources) == 0 {
		t.Fatal("no Go files found: the test looks in the wrong place")
	}
	for _, fault := range check(sources) {
		t.Error(fault)
	}
}

func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	own := func(folder string) string { return path.Join(module, folder) }
	tests := []struct {
		name string
		file string
		path string // imported
		want string // a part of the fault; empty: allowed
	}{
		{"root takes the standard library", "task.go", "time", ""},
		{"root takes nothing else", "task.go", "github.com/google/uuid", "task.go imports github.com/google/uuid: root (ring 0) may import only the standard library"},
		{"root takes no room", "task.go", own("internal/store"), "task.go imports internal/store: root (ring 0) may import no other room"},
		{"root tests may", "task_test.go", "pgregory.net/rapid", ""},

		{"store takes the words", "internal/store/task.go", own("."), ""},
		{"store takes a driver", "internal/store/dialect.go", "github.com/jackc/pgx/v5/pgxpool", ""},
		{"store takes itself", "internal/store/dialect.go", own("internal/store/migrations"), ""},
		{"store knows no verb", "internal/store/task.go", own("internal/engine"), "store (ring 1) may import root"},
		{"engine takes store", "internal/engine/ask.go", own("internal/store"), ""},
		{"engine opens no driver", "internal/engine/ask.go", "modernc.org/sqlite", "databases and their drivers stay in store"},
		{"engine knows no workflow", "internal/engine/ask.go", own("internal/workflow"), "may import rings 0 to 1"},

		{"ring 3 takes engine", "internal/delivery/route.go", own("internal/engine"), ""},
		{"ring 3 is not a ladder", "internal/delivery/route.go", own("internal/access"), "delivery (ring 3) may import rings 0 to 2"},
		{"ring 3 writes no SQL", "internal/insight/audit.go", "database/sql", "databases and their drivers stay in store"},
		{"a channel takes the words", "internal/channel/slack/send.go", own("."), ""},
		{"a channel takes libraries", "internal/channel/slack/send.go", "github.com/slack-go/slack", ""},
		{"a channel knows no other", "internal/channel/slack/send.go", own("internal/channel/email"), "channel/slack (ring 3) may import root"},
		{"a channel does not decide", "internal/channel/slack/send.go", own("internal/engine"), "channel/slack (ring 3) may import root"},
		{"a runner knows no worker", "internal/runner/claude/run.go", own("internal/worker"), "runner/claude (ring 3) may import root"},
		{"the client is public", "client/task.go", own("internal/api"), "client (ring 3) may import root"},

		{"api takes access", "internal/api/task.go", own("internal/access"), ""},
		{"api knows no terminal", "internal/api/task.go", own("internal/cli"), "api (ring 4) may import rings 0 to 3"},
		{"api sees no SQL", "internal/api/task.go", "github.com/jackc/pgx/v5", "databases and their drivers stay in store"},
		{"api knows no config", "internal/api/task.go", own("internal/config"), "api (ring 4) may import rings 0 to 3"},
		{"cli takes client", "internal/cli/list.go", own("client"), ""},
		{"cli takes config", "internal/cli/serve.go", own("internal/config"), ""},
		{"cli goes over HTTP", "internal/cli/list.go", own("internal/engine"), "cli (ring 4) may import root, client, config and cli/*"},
		{"cli takes its rooms", "internal/cli/root.go", own("internal/cli/inbox"), ""},
		{"a command takes the session", "internal/cli/inbox/act.go", own("internal/cli/session"), ""},
		{"a command takes answers", "internal/cli/inbox/act.go", own("internal/cli/answer"), ""},
		{"a command knows no other", "internal/cli/inbox/act.go", own("internal/cli/chat"), "cli/inbox (ring 4) may import root, cli/answer"},
		{"a command knows no grammar", "internal/cli/inbox/act.go", own("internal/cli"), "cli/inbox (ring 4) may import root, cli/answer"},
		{"a command goes over HTTP", "internal/cli/workflow/run.go", own("internal/workflow"), "cli/workflow (ring 4) may import root, cli/answer"},
		{"answers know no inbox", "internal/cli/answer/form.go", own("internal/cli/inbox"), "cli/answer (ring 4) may import root, client, config, cli/terminal"},
		{"the terminal knows no server", "internal/cli/terminal/print.go", own("client"), "cli/terminal (ring 4) may import root"},
		{"a test of commands runs them", "internal/cli/clitest/clitest.go", own("internal/cli"), ""},
		{"worker takes client", "internal/worker/claim.go", own("client"), ""},
		{"worker knows no runner", "internal/worker/claim.go", own("internal/runner/claude"), "worker (ring 4) may import root and client"},
		{"web is files", "web/embed.go", own("."), "web (ring 4) may import no other room"},
		{"app takes everything", "internal/app/app.go", own("internal/channel/slack"), ""},
		{"cmd takes app", "cmd/fermata/main.go", own("internal/app"), ""},
		{"an example is a stranger", "examples/hello/main.go", own("internal/app"), "examples/hello (ring 5) may import root and client"},

		{"tests take test rooms", "internal/store/task_test.go", own("internal/store/storetest"), ""},
		{"test rooms take test rooms", "internal/channel/channeltest/run.go", own("internal/store/storetest"), ""},
		{"test takes everything", "test/bench/main.go", own("internal/app"), ""},
		{"what ships takes no test room", "internal/app/app.go", own("internal/store/storetest"), "app (ring 5) may import rings 0 to 5"},
		{"what ships takes no test kit", "internal/app/app.go", own("internal/testkit"), "app (ring 5) may import rings 0 to 5"},
		{"the test kit takes everything", "internal/testkit/world.go", own("internal/engine"), ""},
		{"what ships takes no test", "internal/store/task.go", own("test"), "store (ring 1) may import root"},

		{"an unknown room", "internal/util/strings.go", "strings", "internal/util/strings.go: internal/util is no room"},
		{"an unknown room of tests", "internal/util/strings_test.go", "strings", "internal/util is no room"},
		{"a channel without a name", "internal/channel/channel.go", "strings", "internal/channel is no room"},
		{"an unknown import", "internal/api/task.go", own("internal/util"), "internal/api/task.go imports internal/util, which is no room"},
		{"an unknown folder", "pkg/x.go", "strings", "pkg is no room"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			faults := check([]source{{path: tt.file, imports: []string{tt.path}}})
			switch {
			case tt.want == "" && len(faults) > 0:
				t.Errorf("%s imports %s: got %q, want no fault", tt.file, tt.path, faults)
			case tt.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], tt.want)):
				t.Errorf("%s imports %s: got %q, want one fault with %q", tt.file, tt.path, faults, tt.want)
			}
		})
	}
}

// modernc.org/sqlite is C code, translated to Go for one exact version of modernc.org/libc. Another
// module can raise the version of libc silently, and then SQLite may fail at run time.
func TestLibcIsTheOneSQLiteAsksFor(t *testing.T) {
	t.Parallel()
	type requirement struct{ Path, Version string }
	var sqlite struct{ GoMod string }
	goJSON(t, &sqlite, "list", "-m", "-json", "modernc.org/sqlite")
	var libc requirement
	goJSON(t, &libc, "list", "-m", "-json", "modernc.org/libc")
	var asked struct{ Require []requirement }
	goJSON(t, &asked, "mod", "edit", "-json", sqlite.GoMod)

	i := slices.IndexFunc(asked.Require, func(r requirement) bool { return r.Path == libc.Path })
	if i < 0 {
		t.Fatalf("%s does not require %s", sqlite.GoMod, libc.Path)
	}
	if want := asked.Require[i].Version; libc.Version != want {
		t.Errorf("go.mod has %s %s, modernc.org/sqlite was made for %s: run go get %s@%s", libc.Path, libc.Version, want, libc.Path, want)
	}
}

// parseModule reads the imports of every Go file of the module, whatever its build tags. It works
// even if the module does not compile.
func parseModule(t *testing.T, root string) []source {
	t.Helper()
	var sources []source
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if file != root && skip(file, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		s, err := parse(root, file)
		sources = append(sources, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

// skip reports whether to leave a folder out, as the go command does: hidden folders, test data, other modules.
func skip(folder, name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	if name == "testdata" || name == "vendor" || name == "node_modules" {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func parse(root, file string) (source, error) {
	name, err := filepath.Rel(root, file)
	if err != nil {
		return source{}, err
	}
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return source{}, err
	}
	s := source{path: filepath.ToSlash(name)}
	for _, spec := range tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, imported)
	}
	return s, nil
}

// goJSON runs the go command in the root of the module and decodes what it prints.
func goJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
}
