package agents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata/test/agent"
	"github.com/fermata-hq/fermata/test/process"
)

// The command doctor checks with real programs that they stop, resume, defer a call and
// obey a denial. It leaves no files behind.
func TestDoctorTriesAgents(t *testing.T) {
	t.Parallel()
	testDoctor(t, map[string]string{"claude": "ok", "codex": "skip"})
}

// testDoctor runs doctor on a machine that has only these programs. Each name maps to the
// status that the step defer must have.
func testDoctor(t *testing.T, programs map[string]string) {
	bin, home, temp := t.TempDir(), t.TempDir(), t.TempDir()
	for name := range programs {
		if err := os.Symlink(agent.Program(t, name), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	server := process.Serve(t, agent.Fermata(t), []string{"--data", t.TempDir()})
	cmd := exec.CommandContext(t.Context(), agent.Fermata(t), "doctor", "--agents", "--json")
	cmd.Env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temp,
		"FERMATA_URL=" + server.URL, "FERMATA_TOKEN=" + server.FirstToken,
		// Doctor must not pass these variables on, because they name another server or folder.
		"ANTHROPIC_BASE_URL=http://192.0.2.1", "CODEX_HOME=" + home, "CLAUDE_CONFIG_DIR=" + home, "OPENAI_BASE_URL=http://192.0.2.1",
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var findings []struct{ Check, Step, Status, Detail string }
	if err := json.Unmarshal(out, &findings); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]string{}
	for _, f := range findings {
		got[f.Check+" "+f.Step] = f.Status
	}
	for name, deferral := range programs {
		for step, want := range map[string]string{"": "ok", "stop": "ok", "resume": "ok", "defer": deferral, "deny": "ok"} {
			if step == "" && os.Getenv("FERMATA_TEST_"+name) != "" {
				continue
			}
			if got[name+" "+step] != want {
				t.Errorf("%s %s is %q, want %s\n%s", name, step, got[name+" "+step], want, out)
			}
		}
	}
	for _, dir := range []string{home, temp} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}
