package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// TestRemoveLeavesNothing checks that removing deletes everything that install wrote, including copies, and restores
// the files. A copy with other content stays.
func TestRemoveLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	self, err := os.Executable()
	bin := t.TempDir()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "fermata"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	settings := filepath.Join(dir, ".claude", "settings.json")
	const before = "{\n  \"model\": \"opus\",\n  \"hooks\": {\n  }\n}\n"
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	other := settings + ".backup-20200101-000000"
	for name, text := range map[string]string{settings: before, other: "{\n  \"model\": \"mine\"\n}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"install", "claude"}, {"--url", "https://fermata.example", "install", "claude"}, {"install", "claude", "--remove"}} {
		if code, out, talk := clitest.Run(t, "", args...); code != session.ExitOK {
			t.Fatalf("got %d, %q and %q", code, out, talk)
		}
	}
	if data, err := os.ReadFile(settings); err != nil || string(data) != before {
		t.Errorf("the settings are %s, %v", data, err)
	}
	entries, err := os.ReadDir(filepath.Dir(settings))
	if err != nil || len(entries) != 2 || entries[1].Name() != filepath.Base(other) {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if entries, err = os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestInstallNamesTheServer checks that the hook names its server, its token file and the whole path of the program, and that the MCP server has the same address.
func TestInstallNamesTheServer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	if code, out, talk := clitest.Run(t, "", "--url", "https://fermata.example/", "install", "claude"); code != session.ExitOK {
		t.Fatalf("got %d, %q and %q", code, out, talk)
	}
	data, err := os.ReadFile(filepath.Join(dir, ".claude", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	servers, err := os.ReadFile(filepath.Join(dir, ".claude.json"))
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(servers)), " "), `"--url", "https://fermata.example"`) {
		t.Errorf("the MCP server is %s, %v", servers, err)
	}
	want := " hook claude --server 'https://fermata.example' --token-file " + filepath.Join(dir, "config", "fermata", "login.json") + " || "
	if text := string(data); !strings.Contains(text, want) || !strings.Contains(text, `"command": "/`) && !strings.Contains(text, `"command": "'/`) {
		t.Errorf("it is\n%s", text)
	}
}

// A dry run of install sends nothing to a server, so its help does not speak of that.
func TestInstallTellsWhatADryRunDoes(t *testing.T) {
	t.Parallel()
	code, out, talk := clitest.Run(t, "", "install", "--help")
	out = strings.Join(strings.Fields(out), " ")
	if code != session.ExitOK || !strings.Contains(out, "Name the files that would be changed, and change nothing.") || strings.Contains(out, "would be sent") {
		t.Errorf("exit code %d, %q: %s", code, talk, out)
	}
}
