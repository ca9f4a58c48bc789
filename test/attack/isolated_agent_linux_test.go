package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
	"github.com/fermata-hq/fermata/test/script"
)

// grabs are scripts with which an agent in a sandbox tries to get something. Each prints
// what it got. $FOLDER is the worker's folder, $R the repository.
var grabs = map[string]string{
	"a secret outside":          `cat "$OUT/secret"`,
	"a secret of the home":      `cat "$HOME/.ssh/id_ed25519"`,
	"the desk's configuration":  `cat "$HOME/.claude/settings.json"`,
	"the person's working copy": `cat "$R/.env"`,
	"passwords of the remote":   `cat "$G/config" | grep -i hunter2; git config --get-regexp . | grep hunter2`,
	"other tasks":               `ls -A "$FOLDER" | grep -vx "$FERMATA_TASK"; cat "$FOLDER"/*/other.txt`,
	"the worker's state":        `ls -A "$FOLDER/.git-state"`,
	"the worker's environment":  `cat /proc/[0-9]*/environ | tr '\0' '\n' | grep -e plum -e "^FERMATA_TOKEN"`,
	"other processes":           `ls -d /proc/[0-9]*/exe | while read f; do readlink $f; done | grep fermata`,
	"sockets of the machine":    `ls -A /run /var/run/ /mnt /media | grep -v :`,
	"a hook":                    `cp "$P" "$G/hooks/pre-commit" && echo planted; echo x >"$G/hooks/post-commit" && echo planted`,
	"the configuration":         `git config core.fsmonitor "$P" && echo planted; echo x >>"$G/config" && echo planted`,
	"the branch of another":     `git update-ref refs/heads/main HEAD~0 && git branch evil && echo planted`,
	"the mounts":                `umount "$R/.git" && echo gone; mount -t tmpfs none /mnt && echo mounted`,
}

// In a sandbox, an agent works in its working copy and can reach nothing else.
func TestIsolatedAgent(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t, "--isolate")
	p.write(filepath.Join(p.home, ".ssh", "id_ed25519"), "the key\n")
	p.write(filepath.Join(p.home, ".claude", "settings.json"), `{"hooks": {}}`)
	p.write(filepath.Join(p.repo, ".env"), "SECRET=1\n")
	p.write(filepath.Join(p.repo, ".git", "info", "exclude"), ".env\n")
	p.git(p.repo, "remote", "add", "origin", "https://robot:hunter2@host.example/shop.git")
	p.write(filepath.Join(p.folder, "task_another", "other.txt"), "the work of another\n")
	begin := "R=" + fermata.QuoteShellWord(p.repo) + "; FOLDER=" + fermata.QuoteShellWord(p.folder) + "\n"
	tasks := map[string]*fermata.Task{}
	for name, script := range grabs {
		tasks[name] = p.task(begin+"set +e\n("+script+`) >got.txt 2>errors.txt; test -n "$G" && git status >/dev/null && echo work >work.txt`, nil)
	}
	p.run()
	for name, task := range tasks {
		p.checkDone(task)
		if got := p.git(p.repo, "show", "fermata/"+task.ID+":got.txt"); got != "" {
			t.Errorf("the agent got %s: %s", name, got)
		}
		if text := p.git(p.repo, "show", "fermata/"+task.ID+":work.txt"); text != "work" {
			t.Errorf("the agent could not work: %q", text)
		}
	}
	p.checkUnharmed()
}

// deskFiles are files of agent programs that a person's own programs read or run at the desk. An agent in a sandbox writes
// "planted" into each, whether it is there or not.
var deskFiles = []string{
	".claude.json", ".claude/CLAUDE.md", ".claude/settings.json", ".claude/settings.local.json", ".claude/agents/a.md", ".claude/commands/a.md",
	".claude/hooks/a.sh", ".claude/local/claude", ".claude/output-styles/a.md", ".claude/plugins/a/plugin.json", ".claude/rules/a.md",
	".claude/shell-snapshots/snapshot-a.sh", ".claude/skills/a/SKILL.md",
	".codex/AGENTS.md", ".codex/config.toml", ".codex/hooks.json", ".codex/prompts/a.md", ".codex/rules/a.rules", ".codex/skills/a/SKILL.md",
	".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/extensions/a/gemini-extension.json",
	".config/opencode/opencode.json", ".config/opencode/AGENTS.md", ".config/opencode/plugin/a.js",
	".cache/opencode/node_modules/a/index.js", ".local/share/opencode/bin/rg",
	".local/share/opencode/snapshot/a/config", ".local/share/opencode/repos/a/config", ".bashrc", ".profile", ".gitconfig",
}

// lasting are files of agent programs that an agent in a sandbox can write and that are kept: login and sessions.
var lasting = []string{".claude/.credentials.json", ".claude/projects/a.jsonl", ".codex/sessions/a.jsonl", ".local/share/opencode/a.json"}

// An agent in a sandbox leaves no file that the user's own agent programs would read or run later. It can read their
// instructions. Its login and its sessions are kept.
func TestIsolatedAgentLeavesNothingAtTheDesk(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	for name, person := range map[string]string{"a desk without files": "", "a desk with all of them": "# the person's\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := y.plot(t, "--isolate", "--runner", "command")
			bin := filepath.Join(p.outside, "bin")
			testkit.OK(t, os.Mkdir(bin, 0o700))
			for _, program := range []string{"claude", "codex", "gemini", "opencode"} {
				p.flags = append(p.flags, "--runner", program)
				script.Write(t, filepath.Join(bin, program), "exit 1")
			}
			p.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "FERMATA_AGENT_TOKEN=" + y.token}
			p.write(filepath.Join(p.home, ".claude", ".credentials.json"), "login")
			begin := `put() { mkdir -p "$(dirname "$HOME/$2")"; echo "$1" >"$HOME/$2"; }` + "\nset +e; "
			tries := `cat "$HOME/.claude/CLAUDE.md" >seen.txt` + "\n"
			for _, file := range deskFiles {
				tries += "put planted " + file + "\n"
				if person != "" {
					p.write(filepath.Join(p.home, file), person)
				}
			}
			task := p.task(begin+tries+"put kept "+strings.Join(lasting, "; put kept ")+"; true", nil)
			p.run()
			p.checkDone(task)
			for _, file := range deskFiles {
				if text, err := os.ReadFile(filepath.Join(p.home, file)); string(text) != person || err != nil && !os.IsNotExist(err) {
					t.Errorf("%s is %q (%v)", file, text, err)
				}
			}
			for _, file := range lasting {
				if text, err := os.ReadFile(filepath.Join(p.home, file)); err != nil || string(text) != "kept\n" {
					t.Errorf("%s is %q (%v)", file, text, err)
				}
			}
			if got := p.git(p.repo, "show", "fermata/"+task.ID+":seen.txt"); got != strings.TrimSpace(person) {
				t.Errorf("the agent sees the instructions %q", got)
			}
			p.checkLacks(p.home, "planted")
		})
	}
}

// checkLacks checks that no file in the folder contains the word.
func (p *plot) checkLacks(folder, word string) {
	p.Helper()
	testkit.OK(p, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), word) {
			p.Errorf("%s holds %q", path, text)
		}
		return err
	}))
}

// A run in a sandbox stops like any other run: the agent gets SIGTERM and can exit by itself.
func TestIsolatedAgentStops(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t, "--isolate", "--on-failed", "keep", "--run-timeout", "10s")
	stopped := p.task(`trap 'echo bye >bye.txt; exit 1' TERM; sleep 1000 & wait`, nil)
	p.run()
	p.checkCaught(stopped, "took longer than 10s")
	if _, err := os.Stat(filepath.Join(p.copyOf(stopped), "bye.txt")); err != nil {
		t.Errorf("the agent could not end by itself: %v", err)
	}
}

// A sandbox is offline if the worker has the flag for it. Folders that a flag opens can be read or written.
func TestIsolatedAgentIsOffline(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t, "--isolate", "--isolate-offline")
	p.flags = append(p.flags, "--isolate-read", filepath.Join(p.outside, "secret"), "--isolate-write", p.home)
	offline := p.task(`tail -n +3 /proc/net/dev | cut -d: -f1 >net.txt; cat "$OUT/secret" >>net.txt; echo kept >"$HOME/kept.txt"`, nil)
	p.run()
	p.checkDone(offline)
	if seen := strings.Fields(p.git(p.repo, "show", "fermata/"+offline.ID+":net.txt")); strings.Join(seen, " ") != "lo the secret" {
		t.Errorf("the agent sees %v", seen)
	}
	if _, err := os.Stat(filepath.Join(p.home, "kept.txt")); err != nil {
		t.Error(err)
	}
}

// If a folder in PATH is otherwise hidden, an agent sees only the programs in it.
func TestIsolatedAgentSeesOnlyProgramsOfPath(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t, "--isolate")
	bin := filepath.Join(p.outside, "bin")
	p.write(filepath.Join(bin, "fermata.db"), "the database\n")
	p.write(filepath.Join(bin, "data", "fermata.db"), "the database\n")
	testkit.OK(t, os.Symlink(filepath.Join(p.outside, "secret"), filepath.Join(bin, "linked")))
	script.Write(t, filepath.Join(bin, "greet"), `echo "hello from $(basename "$0")"`)
	testkit.OK(t, os.Symlink("greet", filepath.Join(bin, "welcome")))
	testkit.OK(t, os.Symlink(bin, filepath.Join(p.outside, "programs")))
	p.env = []string{"PATH=" + strings.Join([]string{bin, filepath.Join(p.outside, "programs"), bin, ".", "", p.outside, os.Getenv("PATH")}, ":")}
	task := p.task(`greet >said.txt; welcome >>said.txt; "$OUT/programs/welcome" >>said.txt
		find "$OUT" -mindepth 1 | sed "s,^$OUT/,," | sort >seen.txt; ! echo x >>"$OUT/bin/greet"; ! cat "$OUT/secret"`, nil)
	p.run()
	p.checkDone(task)
	if got, want := p.git(p.repo, "show", "fermata/"+task.ID+":said.txt"), "hello from greet\nhello from welcome\nhello from welcome"; got != want {
		t.Errorf("the programs say %q, want %q", got, want)
	}
	if got, want := p.git(p.repo, "show", "fermata/"+task.ID+":seen.txt"), "bin\nbin/greet\nbin/welcome\npayload\nprograms\nprograms/greet\nprograms/welcome"; got != want {
		t.Errorf("the agent sees %q, want %q", got, want)
	}
}

// Files that belong to the worker stay hidden, even in a folder that a flag opens.
func TestAnOpenedFolderHidesWhatIsTheWorkers(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t, "--isolate")
	base := filepath.Dir(p.folder)
	p.flags = append(p.flags, "--isolate-read", base)
	p.write(filepath.Join(p.repo, ".env"), "SECRET=1\n")
	p.write(filepath.Join(p.folder, "task_another", "other.txt"), "the work of another\n")
	task := p.task(`cat "$OUT/secret" >got.txt; set +e
		cat `+fermata.QuoteShellWord(p.repo)+`/.env `+fermata.QuoteShellWord(p.folder)+`/*/other.txt >>got.txt 2>errors.txt; echo work >work.txt`, nil)
	p.run()
	p.checkDone(task)
	if got := p.git(p.repo, "show", "fermata/"+task.ID+":got.txt"); got != "the secret" {
		t.Errorf("the agent got %q", got)
	}
}

// An agent in a sandbox sees neither the data nor the master key of the server in which its worker runs, even if a flag
// opens the folder that contains them.
func TestIsolatedAgentInsideTheServer(t *testing.T) {
	t.Parallel()
	base := process.TempFolder(t)
	data := filepath.Join(base, "data")
	testkit.OK(t, os.WriteFile(filepath.Join(base, "notes.txt"), []byte("notes\n"), 0o600))
	agent := `cd "$0"; echo $(cat notes.txt; cat data/fermata.db data.key | wc -c; find data -type f)`
	s := process.Serve(t, process.Binary(t), []string{"--data", data}, "--workers", "1", "--isolate", "--isolate-read", base, "--", "sh", "-c", agent, base)
	for _, file := range []string{"data/fermata.db", "data.key"} {
		_, err := os.Stat(filepath.Join(base, file))
		testkit.OK(t, err)
	}
	admin := process.NewLoadBalancer(t, s).Client(t, s.FirstToken)
	task, err := admin.CreateTask(t.Context(), fermata.NewTask{Title: "Look around"})
	testkit.OK(t, err)
	patience.Await(t, "the task has ended", func() bool {
		task, err = admin.Task(t.Context(), task.ID)
		testkit.OK(t, err)
		return task.State.IsEnded()
	})
	if got, want := strings.TrimSpace(task.Summary), "notes 0"; got != want {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// The worker refuses a path that the agent could not read or write, before it claims a task.
func TestPathsOfASandboxThatCannotHold(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t)
	p.write(filepath.Join(p.home, ".gemini", "settings.json"), "{}")
	script.Write(t, filepath.Join(p.outside, "gemini"), "exit 1")
	for _, tt := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--isolate-read", filepath.Join(p.outside, "nothing")}, "--isolate-read: stat " + filepath.Join(p.outside, "nothing") + ": no such file or directory"},
		{[]string{"--isolate-write", filepath.Join(p.outside, "nothing")}, "--isolate-write: stat "},
		{[]string{"--isolate-write", filepath.Join(p.home, ".gemini")}, "--isolate-write: agents can only read " + filepath.Join(p.home, ".gemini")},
		{[]string{"--isolate-write", filepath.Join(p.home, ".gemini", "settings.json")}, "--isolate-write: agents can only read "},
		{[]string{"--isolate-write", filepath.Join(p.outside, "gemini")}, "--isolate-write: agents can only read "},
	} {
		env := []string{"FERMATA_TOKEN=" + p.token, "FERMATA_URL=" + p.url, "HOME=" + p.home, "FERMATA_AGENT_TOKEN=" + y.token, "PATH=" + p.outside + ":" + os.Getenv("PATH")}
		args := append([]string{"worker", "--isolate", "--runner", "gemini", "--folder", p.folder, "--once"}, tt.flags...)
		c := process.Start(t, p.binary, env, args...)
		if err := c.Wait(); err == nil || !strings.Contains(c.Output(), tt.want) {
			t.Errorf("with %v the worker ended with %v:\n%s\nwant %q", tt.flags, err, c.Output(), tt.want)
		}
	}
}

// A worker that must isolate its agents does not start if bubblewrap is missing.
func TestIsolationIsRefusedWithoutBubblewrap(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t)
	bin := filepath.Join(p.outside, "bin")
	for _, name := range []string{"git", "sh"} {
		path, err := exec.LookPath(name)
		testkit.OK(t, err)
		testkit.OK(t, os.MkdirAll(bin, 0o700))
		testkit.OK(t, os.Symlink(path, filepath.Join(bin, name)))
	}
	env := []string{"FERMATA_TOKEN=" + p.token, "FERMATA_URL=" + p.url, "PATH=" + bin}
	c := process.Start(t, p.binary, env, "worker", "--isolate", "--folder", p.folder, "--once", "--", "sh", "-c", "true")
	if err := c.Wait(); err == nil || !strings.Contains(c.Output(), "bubblewrap is not installed") {
		t.Errorf("the worker ended with %v:\n%s", err, c.Output())
	}
}
