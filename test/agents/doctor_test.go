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

// Doctor makes real programs stop, go on, put a call off and be denied, and leaves nothing
// behind.
func TestDoctorTriesAgents(t *testing.T) {
	t.Parallel()
	testDoctor(t, map[string]string{"claude": "ok", "codex": "skip"})
}

// testDoctor runs doctor where these programs are installed. They map to what the step
// defer comes to.
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
		// What would lead elsewhere is not handed on.
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
