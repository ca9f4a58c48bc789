//go:build unix

package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// plants are changes that an agent makes to git's files, configuration and hooks. The
// worker's git must run none of it, the run must fail, and the next one must not begin.
var plants = []struct {
	name, script string
	// words are a part of the reason. mend holds arguments of git that undo the change.
	// push asks for a push. remade is true if the next run creates the changed folder
	// again.
	words, mend  string
	push, remade bool
}{
	{
		name: "a folder in the place of .git", words: ".git is not the file that git made",
		script: `rm .git; git init -q .; git config filter.x.clean "$P"; git config core.fsmonitor "$P"; git config core.hooksPath "$OUT"; echo '* filter=x' >.gitattributes`,
	},
	{
		name: "another repository behind .git", words: ".git is not the file that git made",
		script: `git init -q "$OUT/other"; git --git-dir="$OUT/other/.git" config core.fsmonitor "$P"; echo "gitdir: $OUT/other/.git" >.git`,
	},
	{
		name: "a link in the place of .git", words: ".git is not the file that git made",
		script: `git init -q "$OUT/other"; git --git-dir="$OUT/other/.git" config core.fsmonitor "$P"; rm .git; ln -s "$OUT/other/.git" .git`,
	},
	{name: "no .git at all", words: ".git is not the file that git made", script: `rm .git`},
	{
		name: "filters", words: "filter.x.clean (added)", mend: "config --remove-section filter.x",
		script: `git config filter.x.clean "$P"; git config filter.x.smudge "$P"; git config filter.x.required true; echo '* filter=x' >.gitattributes`,
	},
	{
		name: "a filter that is a process", words: "filter.x.process (added)", mend: "config --remove-section filter.x",
		script: `git config filter.x.process "$P"; mkdir -p "$G/info"; echo '* filter=x' >"$G/info/attributes"`,
	},
	{name: "core.fsmonitor", words: "core.fsmonitor (added)", script: `git config core.fsmonitor "$P"`, mend: "config --unset core.fsmonitor"},
	{
		name: "hooks", words: "hooks/post-commit (added)",
		script: `for h in pre-commit post-commit post-checkout reference-transaction pre-push post-index-change; do cp "$P" "$G/hooks/$h"; done`, push: true,
	},
	{name: "core.hooksPath", words: "core.hookspath (added)", script: `cp "$P" "$OUT/reference-transaction"; git config core.hooksPath "$OUT"`, mend: "config --unset core.hooksPath"},
	{
		name: "the settings of the worktree", words: "extensions.worktreeconfig (added)",
		script: `git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$P"; git config --worktree core.hooksPath "$OUT"`,
	},
	{name: "an included file", words: "core.fsmonitor (added)", script: `printf '[core]\n\tfsmonitor = %s\n' "$P" >"$OUT/more"; git config include.path "$OUT/more"`},
	{
		name: "the programs of a push", words: "remote.origin.receivepack (added)", push: true,
		script: `git config core.sshCommand "$P"; git config remote.origin.receivepack "$P"; git config credential.helper "$P"; git config core.askPass "$P"; git config core.gitProxy "$P"`,
	},
	{
		name: "another origin", words: "remote.origin.url (changed)", push: true,
		script: `git init -q --bare "$OUT/mine.git"; cp "$P" "$OUT/mine.git/hooks/pre-receive"; git config remote.origin.url "$OUT/mine.git"`,
	},
	{name: "an origin that is a program", words: "protocol.ext.allow (added)", push: true, script: `git config protocol.ext.allow always; git config remote.origin.url "ext::$P"`},
	{
		name: "everything else that starts programs", words: "gpg.program (added)",
		script: `git config commit.gpgSign true; git config gpg.program "$P"; git config core.pager "$P"; git config core.editor "$P"; git config diff.external "$P"
			git config diff.x.textconv "$P"; git config merge.x.driver "$P"; git config alias.add "!$P"; git config alias.read-tree "!$P"; git config core.alternateRefsCommand "$P"
			git config submodule.sub.update "!$P"; git config gc.recentObjectsHook "$P"; echo '* diff=x merge=x' >.gitattributes`,
	},
	{
		name: "a clone that lacks objects", words: "extensions.partialclone (added)",
		script: `git config extensions.partialclone evil; git config remote.evil.url "$OUT"; git config remote.evil.uploadpack "$P"; git config remote.evil.promisor true`,
	},
	{
		name: "the worker's own git folder", words: "config, the worker's own, was changed", remade: true,
		script: `own=$(ls -d ../.git-state/copies/*); printf '[core]\n\tfsmonitor = %s\n[filter "x"]\n\tclean = %s\n' "$P" "$P" >>"$own/config"; echo '* filter=x' >.gitattributes`,
	},
	{
		name: "hooks of the worker's own git folder", words: "hooks was put into the worker's own git folder", remade: true, push: true,
		script: `own=$(ls -d ../.git-state/copies/*); mkdir "$own/hooks"; for h in reference-transaction pre-push post-index-change; do cp "$P" "$own/hooks/$h"; done`,
	},
	{
		name: "another repository behind the worker's own git folder", words: "commondir was put into the worker's own git folder", remade: true,
		script: `own=$(ls -d ../.git-state/copies/*); git init -q "$OUT/other"; git --git-dir="$OUT/other/.git" config core.fsmonitor "$P"; echo "$OUT/other/.git" >"$own/commondir"`,
	},
	{name: "a pipe for a hook", words: "hooks/pre-commit (added)", script: `mkfifo "$G/hooks/pre-commit"`},
	{name: "a pipe for the settings", words: "is no file", script: `mv "$G/config" "$OUT/config"; mkfifo "$G/config"`},
	{name: "the settings of a submodule", words: "modules/sub/config (added)", script: `git init -q "$OUT/sub"; git -C "$OUT/sub" config core.fsmonitor "$P"; mkdir -p "$G/modules"; cp -r "$OUT/sub/.git" "$G/modules/sub"`},
}

// If an agent changes git's files, configuration or hooks, the worker runs, commits
// and pushes nothing. People find the working copy unchanged, and no run begins until
// they have repaired it.
func TestAgentPlantsPrograms(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	for _, tt := range plants {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := y.plot(t)
			origin := filepath.Join(p.outside, "origin.git")
			p.git(p.repo, "init", "--quiet", "--bare", origin)
			p.git(p.repo, "remote", "add", "origin", origin)
			begin := p.git(p.repo, "rev-parse", "HEAD")
			task := p.task("echo work >work.txt\n"+tt.script+"\necho done", map[string]any{"push": tt.push})
			p.run()
			p.checkUnharmed()
			p.checkCaught(task, tt.words)
			if _, err := os.Stat(filepath.Join(p.copyOf(task), "work.txt")); err != nil {
				t.Error("the work is not there for people to look at")
			}
			if now, err := os.ReadFile(filepath.Join(p.repo, ".git", "refs", "heads", "fermata", task.ID)); err != nil || strings.TrimSpace(string(now)) != begin {
				t.Errorf("the branch moved to %s (%v)", now, err)
			}
			if out, _ := exec.CommandContext(t.Context(), "git", "--git-dir="+origin, "for-each-ref").CombinedOutput(); len(out) > 0 {
				t.Errorf("something was pushed: %s", out)
			}
			if tt.remade {
				// The agent repeats the change, in a folder that was created again.
				p.reopen(task)
				p.run()
				p.checkUnharmed()
				p.checkCaught(task, tt.words)
				return
			}
			p.checkRefused(task, tt.words)
			if tt.mend != "" {
				p.git(p.outside, append([]string{"--git-dir=" + filepath.Join(p.repo, ".git")}, strings.Fields(tt.mend)...)...)
				if err := os.Remove(filepath.Join(p.repo, ".git", "info", "attributes")); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				p.reopen(task)
				p.run()
				p.checkUnharmed()
			}
		})
	}
}

// reopen lets the task run once more.
func (p *plot) reopen(t *fermata.Task) {
	p.Helper()
	_, err := p.admin.ReopenTask(p.Context(), t.ID)
	testkit.OK(p, err)
}

// checkRefused reopens the task and checks that its next run cannot begin.
func (p *plot) checkRefused(t *fermata.Task, words string) {
	p.Helper()
	p.reopen(t)
	p.run()
	p.checkCaught(t, words)
	p.checkCaught(t, "prepare the working copy")
	p.checkUnharmed()
}

// Files that only lie in the working copy are committed unchanged. They start no program,
// and git follows nothing in them.
func TestAgentPlantsInItsCopyOnly(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	for name, script := range map[string]string{
		"attributes": `echo '* filter=x diff=x merge=x text' >.gitattributes; printf '[filter "x"]\n\tclean = %s\n' "$P" >.gitconfig; cp .gitconfig .lfsconfig`,
		"a repository inside": `git init -q sub; cd sub; echo x >x; git add x; git -c user.name=e -c user.email=e@e commit -qm x
			git config filter.x.clean "$P"; git config core.fsmonitor "$P"; echo '* filter=x' >.gitattributes; cp "$P" .git/hooks/post-index-change; touch -d '1 hour ago' x; git update-index -q --refresh || :; echo y >x
			cd ..; git add sub 2>/dev/null; git -c user.name=e -c user.email=e@e commit -qm link`,
		"submodules": `printf '[submodule "sub"]\n\tpath = sub\n\turl = ext::%s\n\tupdate = !%s\n\tignore = none\n' "$P" "$P" >.gitmodules; git init -q sub; git -C sub -c user.name=e -c user.email=e@e commit -q --allow-empty -m x; git -C sub config core.fsmonitor "$P"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := y.plot(t)
			task := p.task("echo work >work.txt\n"+script+"\necho done", nil)
			again := p.task(`echo more >more.txt`, map[string]any{"working_copy": task.ID})
			p.run()
			p.checkDone(task)
			p.checkDone(again)
			p.checkUnharmed()
			if text := p.git(p.repo, "show", "fermata/"+task.ID+":work.txt"); text != "work" {
				t.Errorf("the branch has %q", text)
			}
			apart := p.task(`cat more.txt >apart.txt`, map[string]any{"from": task.ID})
			p.run()
			p.checkDone(apart)
			p.checkUnharmed()
			if text := p.git(p.repo, "show", "fermata/"+apart.ID+":apart.txt"); text != "more" {
				t.Errorf("the branch that begins there has %q", text)
			}
		})
	}
}

// Links out of the working copy are committed as links, whether the agent completes or
// fails. The files behind them are not touched, even when the worker rolls the copy back.
func TestAgentLinksOutOfItsCopy(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t)
	task := p.task(`ln -s "$OUT/secret" secret; ln -s "$OUT" all; ln -s ../../outside up; echo done`, nil)
	failing := p.task(`ln -s "$OUT" all; mkdir -p deep; ln -s "$OUT" deep/all; git add -A; echo x >all/added; exit 3`, nil)
	p.run()
	p.checkDone(task)
	for _, line := range strings.Split(p.git(p.repo, "ls-tree", "-r", "fermata/"+task.ID), "\n") {
		if _, name, _ := strings.Cut(line, "\t"); name != "README.md" && !strings.HasPrefix(line, "120000 ") {
			t.Errorf("%s was followed: %s", name, line)
		}
	}
	if p.currentTask(failing).State != fermata.TaskFailed {
		t.Error("the failing task did not fail")
	}
	for _, name := range []string{"secret", "payload", "added"} {
		if _, err := os.Stat(filepath.Join(p.outside, name)); err != nil {
			t.Errorf("rolling back went through a link: %v", err)
		}
	}
}

// An agent cannot choose the folder in which the next agent works.
func TestAgentMovesTheFolder(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t)
	p.write(filepath.Join(p.repo, "pkg", "app", "main.txt"), "main\n")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "More")
	top := p.repo
	p.repo = filepath.Join(top, "pkg", "app")
	task := p.task(`cd ../..; rm -r pkg; ln -s "$OUT" pkg; echo '{"result":"needs_input","question":{"question":"Which?"}}'`, nil)
	p.run()
	waiting := p.currentTask(task)
	_, err := p.admin.Answer(t.Context(), waiting.PendingQuestionID, fermata.Answer{Answer: "that"})
	testkit.OK(t, err)
	p.run()
	p.checkCaught(task, "leads out of the working copy")
	if _, err := os.Stat(filepath.Join(p.outside, "app")); err == nil {
		t.Error("a folder was made behind the link")
	}
}

// documented are the names that docs/reference/worker.md promises an agent.
var documented = []string{
	"FERMATA_TASK", "FERMATA_RUN", "FERMATA_ATTEMPT", "FERMATA_RESUMED", "FERMATA_CONTEXT", "FERMATA_CONTEXT_TEXT", "FERMATA_RESULT", "FERMATA_INBOX",
	"FERMATA_URL", "FERMATA_PROCESS", "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "PWD", "OLDPWD", "SHLVL", "_",
}

// An agent's environment has the documented variables, and no secret of the worker.
func TestAgentReadsItsEnvironment(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	p := y.plot(t)
	task := p.task(`env -0 >seen; for f in $(ls "$(dirname "$FERMATA_RESULT")"); do cat "$(dirname "$FERMATA_RESULT")/$f" >>papers; done; cat`, nil)
	p.run()
	p.checkDone(task)
	seen := p.git(p.repo, "show", "fermata/"+task.ID+":seen")
	for entry := range strings.SplitSeq(seen, "\x00") {
		if name, _, ok := strings.Cut(entry, "="); ok && !slices.Contains(documented, name) {
			t.Errorf("the agent has the variable %s", name)
		}
	}
	runs, err := p.admin.Runs(t.Context(), task.ID)
	testkit.OK(t, err)
	chunks, _, _, err := p.admin.RunLog(t.Context(), runs[0].ID, 0, 0)
	testkit.OK(t, err)
	all := seen + p.git(p.repo, "show", "fermata/"+task.ID+":papers")
	for _, c := range chunks {
		all += c.Text
	}
	if strings.Contains(all, p.token) || strings.Contains(all, "plum") {
		t.Error("the agent saw a secret of the worker")
	}
}
