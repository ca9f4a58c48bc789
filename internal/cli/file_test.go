package cli_test

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// fileFlags are command lines that read a file. The test replaces FILE with the name of the file.
var fileFlags = map[string][]string{
	"ask --items":           {"ask", "--items", "FILE"},
	"ask --body":            {"ask", "Go?", "--body", "@FILE"},
	"ask --context":         {"ask", "Go?", "--context", "@FILE"},
	"ask --error":           {"ask", "Go?", "--error", "@FILE"},
	"ask --action":          {"ask", "Go?", "--action", "@FILE"},
	"ask --escalation":      {"ask", "Go?", "--escalation", "@FILE"},
	"ask --state":           {"ask", "Go?", "--state", "@FILE"},
	"create --body":         {"create", "T", "--body", "@FILE"},
	"create --spec":         {"create", "T", "--spec", "@FILE"},
	"approve --action":      {"approve", "q_1", "--action", "@FILE"},
	"approve --comment":     {"approve", "q_1", "--comment", "@FILE"},
	"reject --comment":      {"reject", "q_1", "--comment", "@FILE"},
	"respond --comment":     {"respond", "q_1", "yes", "--comment", "@FILE"},
	"comment":               {"comment", "q_1", "@FILE"},
	"clarify":               {"clarify", "q_1", "@FILE"},
	"message":               {"message", "q_1", "@FILE"},
	"gate test --input":     {"gate", "test", "Bash", "--input", "@FILE"},
	"grant verify":          {"grant", "verify", "@FILE", "--action", "{}"},
	"grant verify --action": {"grant", "verify", "fg1.x", "--action", "@FILE"},
	"channel add --file":    {"channel", "add", "notify", "phone", "--file", "FILE"},
	"channel set --file":    {"channel", "set", "phone", "--file", "FILE"},
	"channel routes --file": {"channel", "routes", "--file", "FILE"},
	"notifications --file":  {"notifications", "--file", "FILE"},
	"policy set --file":     {"policy", "set", "--file", "FILE"},
	"workflow run --inputs": {"workflow", "run", "w", "--inputs", "FILE"},
	"workflow retry":        {"workflow", "retry", "q_1", "--input", "@FILE"},
	"workflow rewind":       {"workflow", "rewind", "q_1", "draft", "--feedback", "@FILE"},
	"workflow put":          {"workflow", "put", "FILE"},
	"workflow validate":     {"workflow", "validate", "FILE"},
	"workflow tools put":    {"workflow", "tools", "put", "FILE"},
	"resume --message":      {"resume", "q_1", "--message", "@FILE"},
	"workflow test":         {"workflow", "test", "FILE", "--answers", "file_test.go"},
	"workflow test answers": {"workflow", "test", "file_test.go", "--answers", "FILE"},
	"audit verify witness":  {"audit", "verify", "--witness", "FILE", "--public-key", somePublicKey},
	"audit verify --file":   {"audit", "verify", "--file", "FILE"},
	"--token":               {"list", "--token", "@FILE"},
	"worker --agent-token":  {"worker", "--agent-token", "@FILE"},
	"serve --agent-token":   {"serve", "--agent-token", "@FILE"},
}

func TestFilesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s was sent", r.Method, r.URL)
		}
		_, _ = w.Write([]byte(`{"id":"q_1","min_timeout":"5m","max_timeout":"24h"}`))
	}))
	t.Cleanup(server.Close)
	faults := map[string]struct{ file, says string }{
		"there is none": {t.TempDir() + "/nothing.json", "there is no file "},
		"a folder":      {t.TempDir(), "is a folder, not a file"},
		"empty":         {clitest.WriteFile(t, "empty.json", ""), "is empty"},
		"10 MB":         {clitest.WriteFile(t, "large.json", strings.Repeat(" ", 10<<20)), "KiB"},
		"no UTF-8":      {clitest.WriteFile(t, "latin.json", "{\"caf\xe9\":1}"), "not valid UTF-8"},
	}
	for name, args := range fileFlags {
		for fault, f := range faults {
			if strings.HasPrefix(name, "audit") && (fault == "10 MB" || fault == "no UTF-8") {
				continue // an export and a witness may be of any length; TestFilesThatAreNoExport tests these faults
			}
			t.Run(name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				line := []string{"--url", server.URL}
				for _, arg := range args {
					line = append(line, strings.Replace(arg, "FILE", f.file, 1))
				}
				code, out, talk := clitest.Run(t, "", line...)
				if code != session.ExitUsage || out != "" || !strings.Contains(talk, f.says) || !strings.Contains(talk, f.file) {
					t.Errorf("exit code %d: %s%s", code, out, talk)
				}
			})
		}
	}
}

func TestStandardInputThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for stdin, says := range map[string]string{"": "standard input is empty", "caf\xe9": "standard input is not valid UTF-8", strings.Repeat(" ", 2<<20): "standard input has more than 1024 KiB"} {
		if code, _, talk := clitest.Run(t, stdin, "--url", "http://127.0.0.1:1", "ask", "--items", "-"); code != session.ExitUsage || !strings.Contains(talk, says) {
			t.Errorf("exit code %d: %s", code, talk)
		}
	}
}

// An export may be of any length. Its lines are checked one by one, and the error names the first line that is not an
// event.
func TestFilesThatAreNoExport(t *testing.T) {
	t.Parallel()
	event := fermata.Event{Type: fermata.EventTaskCreated, Actor: fermata.SystemActor, At: time.UnixMilli(1).UTC()}
	event.Link(1, "before")
	line, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(line) + "\n"
	for name, c := range map[string]struct {
		text, says string
		code       int
	}{
		"spaces":        {" \n\n", "holds no event", session.ExitUsage},
		"10 MB zeros":   {strings.Repeat("\x00", 10<<20), "line 1 has more than 8 MiB", session.ExitFailed},
		"zeros":         {strings.Repeat("\x00", 1<<20), "line 1 is no event", session.ExitFailed},
		"a list":        {"[" + string(line) + "]", "line 1 is no event", session.ExitFailed},
		"other JSON":    {whole + `{"name":"fermata"}`, "line 2 is no event", session.ExitFailed},
		"an empty one":  {"{}", "line 1 is no event", session.ExitFailed},
		"invalid UTF-8": {whole + "{\"type\":\"caf\xe9\"}\n", "line 2 is not valid UTF-8", session.ExitFailed},
		"cut off":       {whole + whole[:40], "line 2 is cut off", session.ExitFailed},
		"twice":         {whole + whole, "(line 2)", session.ExitFailed},
	} {
		file := clitest.WriteFile(t, "audit.jsonl", c.text)
		code, out, talk := clitest.Run(t, "", "audit", "verify", "--file", file)
		if code != c.code || out != "" || !strings.Contains(talk, c.says) || !strings.Contains(talk, file) {
			t.Errorf("%s: exit code %d: %s%.300s", name, code, out, talk)
		}
		_, out, talk = clitest.Run(t, "", "--json", "audit", "verify", "--file", file)
		if strings.Contains(out, `"ok": true`) || strings.Contains(out, `"ok":true`) || !strings.Contains(out+talk, c.says) {
			t.Errorf("%s as JSON: %.300s%.300s", name, out, talk)
		}
	}
	for _, text := range []string{"caf\xe9\n", strings.Repeat(" ", 10<<20)} {
		file := clitest.WriteFile(t, "audit.witness", text)
		if code, out, talk := clitest.Run(t, "", "audit", "verify", "--witness", file, "--public-key", somePublicKey); code != session.ExitUsage || out != "" || !strings.Contains(talk, file) {
			t.Errorf("a witness: exit code %d: %s%.300s", code, out, talk)
		}
	}
	if code, out, talk := clitest.Run(t, "", "audit", "verify", "--file", clitest.WriteFile(t, "audit.jsonl", whole)); code != 0 || !strings.Contains(out, "1 event, ") {
		t.Errorf("a whole export: exit code %d: %s%s", code, out, talk)
	}
}

// somePublicKey is the public key of a server that nobody runs.
const somePublicKey = "fermata-audit+439a5f4b+ARBG+NseZolVugdAxGVFwrs+txxmXBPhUcg7pdOfmG3q"

// A person who can write an export can make up a range whose events were removed. Without the public key nobody sees that, and the
// command says so.
func TestARangeThatNobodySignedIsNotCalledSigned(t *testing.T) {
	t.Parallel()
	made := fermata.SignedTrimmedRange{TrimmedRange: fermata.TrimmedRange{
		Workspace: "default", First: 1, Last: 3, Hash: "made up", KeptHash: fermata.HashEvents(nil), At: time.UnixMilli(1).UTC(),
	}, Note: "junk"}
	e := fermata.Event{Type: fermata.EventTaskCreated, Actor: fermata.SystemActor, At: time.UnixMilli(1).UTC()}
	e.Link(4, made.Hash)
	var export strings.Builder
	for _, document := range []any{map[string]any{"trimmed_range": made}, e} {
		line, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		export.Write(append(line, '\n'))
	}
	file := clitest.WriteFile(t, "audit.jsonl", export.String())
	code, out, talk := clitest.Run(t, "", "audit", "verify", "--file", file)
	if code != 0 || !strings.Contains(out, "3 events removed by the policy, as unchecked ranges say") || !strings.Contains(talk, "no signature was checked") {
		t.Errorf("without a key: exit code %d: %s%s", code, out, talk)
	}
	code, out, talk = clitest.Run(t, "", "audit", "verify", "--file", file, "--public-key", somePublicKey)
	if code != session.ExitFailed || out != "" || !strings.Contains(talk, "the trimmed range from event 1 to 3 is not signed with the key") {
		t.Errorf("with a key: exit code %d: %s%s", code, out, talk)
	}
	if code, _, talk := clitest.Run(t, "", "audit", "verify", "--file", file, "--public-key", "hello"); code != session.ExitUsage || !strings.Contains(talk, "no public key") {
		t.Errorf("with no key at all: exit code %d: %s", code, talk)
	}
}

// TestNobodyElseReadsFiles checks that a single function reads every file that a person names, because its errors say
// what is wrong with the file.
func TestNobodyElseReadsFiles(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"answer/editor.go": "the file that the program made for the editor", "inbox/act.go": "the file that the program made for the editor",
		"hook/server.go": "the program's own token, which may be absent", "hook/worker.go": "the program's own note", "hook/claude.go": "the program's own note",
		"install/install.go": "the settings of other programs, which may be absent", "session/file.go": "the one function",
		"audit/audit.go": "an export, of any length",
	}
	err := filepath.WalkDir(".", func(path string, f fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		switch {
		case err != nil || f.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || own[name] != "":
			return err
		case strings.Contains(name, "test/"):
			return nil // rooms of tests
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, call := range []string{"os.ReadFile(", "os.Open(", "existingfile"} {
			if strings.Contains(string(text), call) {
				t.Errorf("%s uses %s: read files with Session.ReadFile", name, call)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreReadStrictly(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	t.Cleanup(server.Close)
	url := server.URL
	for name, c := range map[string]struct {
		args []string
		doc  string
		says string
	}{
		"routes":         {[]string{"channel", "routes", "--file"}, `{"bloking":[]}`, "bloking: is no known field"},
		"a step":         {[]string{"channel", "routes", "--file"}, `{"blocking":[{"channel":"slack","afetr":"5m"}]}`, "blocking[0].afetr: is no known field"},
		"notifications":  {[]string{"notifications", "--file"}, `{"digets":"1h"}`, "digets: is no known field"},
		"settings twice": {[]string{"channel", "add", "notify", "phone", "--file"}, `{"url":"a","url":"b"}`, "url: stands twice"},
	} {
		code, _, talk := clitest.Run(t, "", append([]string{"--url", url}, append(c.args, clitest.WriteFile(t, "doc.json", c.doc))...)...)
		if code != session.ExitUsage || !strings.Contains(talk, c.says) {
			t.Errorf("%s: exit code %d: %s", name, code, talk)
		}
	}
	doc := clitest.WriteFile(t, "settings.json", `{"url":"a"}`)
	if code, _, talk := clitest.Run(t, "", "--url", url, "channel", "add", "notify", "phone", "url=b", "--file", doc); code != session.ExitUsage || !strings.Contains(talk, "says url,") {
		t.Errorf("exit code %d: %s", code, talk)
	}
}

// Standard input is read for only one flag, and errors name it.
func TestStandardInputIsReadOnce(t *testing.T) {
	t.Parallel()
	code, _, talk := clitest.Run(t, `{"question":"Which?"}`, "ask", "--items", "-", "--body", "@-")
	if code != session.ExitUsage || !strings.Contains(talk, "--body: standard input is read for --items already") {
		t.Errorf("got %d\n%s", code, talk)
	}
	code, _, talk = clitest.Run(t, `{"question":1}`, "ask", "--items", "-")
	if code != session.ExitUsage || !strings.Contains(talk, "in standard input") {
		t.Errorf("got %d\n%s", code, talk)
	}
}
