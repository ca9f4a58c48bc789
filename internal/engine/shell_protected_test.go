package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestGitIsGuardedUnderItsOwnRules: a rule that allows a reading subcommand of git does not allow options that write
// a protected file or start a program.
func TestGitIsGuardedUnderItsOwnRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, command string
		want             fermata.GateDecision
	}{
		{"git log*", `git log -1 '--format=[core]%nfsmonitor=touch /tmp/x' --output=.git/config`, fermata.GateAsk},
		{"git log*", `git log --outpu .git/config`, fermata.GateAsk},
		{"git log*", `git log --output .claude/settings.json`, fermata.GateAsk},
		{"git diff*", `git diff --output=.claude/settings.json HEAD`, fermata.GateAsk},
		{"git show*", `git show --output=.mcp.json HEAD:x`, fermata.GateAsk},
		{"git *", `git -C .git log --output=config`, fermata.GateAsk},
		{"git *", `git -C .claude restore settings.json`, fermata.GateAsk},
		{"git fetch*", `git fetch --upload-pack="touch x" .`, fermata.GateAsk},
		{"git fetch*", `git fetch --upl "touch x" .`, fermata.GateAsk},
		{"git push*", `git push --receive-pack=x .`, fermata.GateAsk},
		{"git push*", `git push --exec=x .`, fermata.GateAsk},
		{"git clone*", `git clone -u x . y`, fermata.GateAsk},
		{"git clone*", `git clone -qu x . y`, fermata.GateAsk},
		{"git clone*", `git clone -c core.fsmonitor=x . y`, fermata.GateAsk},
		{"git clone*", `git clone --template=x . y`, fermata.GateAsk},
		{"git ls-remote*", `git ls-remote --upload-pack=x .`, fermata.GateAsk},
		{"git grep*", `git grep -O x`, fermata.GateAsk},
		{"git grep*", `git grep -nOvi x`, fermata.GateAsk},
		{"git grep*", `git grep --open-files-in-pager=x y`, fermata.GateAsk},
		{"git difftool*", `git difftool -x ./x`, fermata.GateAsk},
		{"git difftool*", `git difftool --extcmd=./x`, fermata.GateAsk},
		{"git rebase*", `git rebase --exec 'touch .git/x' HEAD~1`, fermata.GateAsk},
		{"git rebase*", `git rebase -x 'git config a b' HEAD~1`, fermata.GateAsk},
		{"git bisect*", `git bisect run touch .git/x`, fermata.GateAsk},
		{"git submodule*", `git submodule foreach 'git config a b'`, fermata.GateAsk},
		{"git submodule*", `git submodule --quiet foreach --recursive cp x .git/config`, fermata.GateAsk},
		{"git -c*", `git -c 'alias.z=!touch x' z`, fermata.GateAsk},
		{"git -c*", `git -c core.editor=x commit`, fermata.GateAsk},
		{"git -c*", `git -c core.sshCommand=x fetch`, fermata.GateAsk},
		{"git -c*", `git -c core.hooksPath=vi commit`, fermata.GateAsk},
		{"git --config-env*", `git --config-env=core.editor=X commit`, fermata.GateAsk},
		{"git --exec-path*", `git --exec-path=x status`, fermata.GateAsk},
		{"git remote*", `git remote add origin x`, fermata.GateAsk},
		{"git remote*", `git remote -v set-url --push origin x`, fermata.GateAsk},
		{"git submodule*", `git submodule add x y`, fermata.GateAsk},
		{"git submodule*", `git submodule set-url x y`, fermata.GateAsk},
		{"git init*", `git init --template=src .`, fermata.GateAsk},
		{"git config*", `git config --unse core.hooksPath`, fermata.GateAllow}, // the rule names git config
		{"git remote add*", `git remote add origin x`, fermata.GateAllow},
		{"git log*", `git log --oneline -5 -- .gitattributes`, fermata.GateAllow},
		{"git log*", `git log --output=log.txt`, fermata.GateAllow},
		{"git diff*", `git diff HEAD -- .claude/settings.json`, fermata.GateAllow},
		{"git diff*", `git diff --output-indicator-new=x .gitmodules`, fermata.GateAllow},
		{"git show*", `git show HEAD:.mcp.json`, fermata.GateAllow},
		{"git status*", `git status --short`, fermata.GateAllow},
		{"git fetch*", `git fetch --prune origin`, fermata.GateAllow},
		{"git push*", `git push -u origin main`, fermata.GateAllow},
		{"git clone*", `git clone --depth 1 -b main https://host/shop.git`, fermata.GateAllow},
		{"git grep*", `git grep -n -e FOO`, fermata.GateAllow},
		{"git commit*", `git commit -m 'read --output .git/config, --exec and git remote add'`, fermata.GateAllow},
		{"git -c*", `git -c color.ui=never -c user.name=x -c core.pager=cat log`, fermata.GateAllow},
		{"git remote*", `git remote -v`, fermata.GateAllow},
		{"git remote*", `git remote get-url origin`, fermata.GateAllow},
		{"git submodule*", `git submodule update --init`, fermata.GateAllow},
		{"git rebase*", `git rebase --exec 'make test' HEAD~1`, fermata.GateAllow},
		{"git bisect*", `git bisect run make test`, fermata.GateAllow},
		{"git branch*", `git branch --set-upstream-to origin/main`, fermata.GateAllow},
		{"git init*", `git init`, fermata.GateAllow},
	} {
		input, err := json.Marshal(map[string]string{"command": tt.command})
		if err != nil {
			t.Fatal(err)
		}
		rule := &fermata.GateRule{NewGateRule: fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": tt.pattern}, Decision: fermata.GateAllow}}
		call := fermata.GateCall{Tool: "Bash", Input: input}
		got := fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{rule}, fermata.DefaultPolicy(), engine.ReadShell, time.Now())
		if got.Rule == nil || got.Decision != tt.want || got.Decision == fermata.GateAsk && got.Rule.Risk != fermata.RiskHigh {
			t.Errorf("%s, allowed %q: %s by %s, want %s", tt.command, tt.pattern, got.Decision, got.Explain(), tt.want)
		}
	}
}

// TestProtectedFilesInLinesThatHideThem: even if everything is allowed, people are asked about a line that builds the
// name of a protected file with shell features, or passes it to a command indirectly.
func TestProtectedFilesInLinesThatHideThem(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		// Programs and files of git.
		"git archive -o .git/config HEAD", "git archive -o.git/config HEAD", "git bundle create .git/config HEAD", "git format-patch -o .git -1",
		"git fast-export --export-marks=.git/config HEAD", "git checkout-index --prefix=.git/ -a", "git config --unse core.hooksPath", "git config --ed",
		"git config core.hooksPath ''", "sudo /usr/bin/git config a b", "git fetch 'ext::touch x'",
		"GIT_SSH_COMMAND='touch x' git fetch", "GIT_EDITOR=./x git commit", "GIT_EXTERNAL_DIFF=x git diff", "GIT_PAGER=x git log", "PAGER=x git log",
		"export GIT_PAGER=x; git log", "env GIT_SSH_COMMAND=x git fetch", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=x git log",
		"GIT_TRACE=/w/.git/config git status", "HOME=/tmp/x git status",
		// Patterns.
		"echo x > .gi[!x]/config", "cp cfg .gi[!a-h]/config", "cd .gi[!x]; touch x", "echo x > .gi[[:lower:]]/config", "cp cfg .[!.]*/config",
		"cp cfg .gi[]t]/config", "cp cfg .gi[^]x]/config", "cp cfg .@(git)/config", "cp cfg @(.git)/config", "cp cfg .mc[[:alpha:]].json",
		// xargs.
		"xargs rm <<< .git/config", "ls .git/* | xargs rm", "find .git -type f | xargs rm", "xargs -I% cp cfg %/config <<< .git",
		"xargs git <<< 'config core.hooksPath x'", "echo .git/config | xargs rm", "printf '.g\\151t/config' | xargs rm", "xargs -n 1 sh -c <<< 'git config a b'",
		"echo .git | parallel rm -r", "find . -type f | xargs rm", "find . -name config | xargs rm", "xargs rm -- <<< '--exclude .git/config'",
		// Quotes.
		`cp cfg $'.g\x69t/config'`, `eval $'touch .g\x69t/x'`, `echo x > $'\056git/config'`, "cp cfg .gi\\\nt/config", `cp cfg $".git"/config`,
		// Variables.
		"D=.git; echo x > $D/config", "for d in .git; do cp cfg $d/config; done", "cp cfg ${x:-.git}/config", "CDPATH=.git; cd hooks; touch x",
		"A=.gi; B=t; echo x > $A$B/config", "A=.gi; A+=t; touch $A/config", "A=.gi; cp cfg ${A}t/config", "G=git; $G config a b", "A=(.git); touch ${A[0]}/x",
		"read d <<< .git; touch $d/x", "f() { touch $1/x; }; f .git", "while read d; do touch $d/x; done <<< .git", "cp cfg $(echo .git)/config",
		"while read l; do git $l; done <<< 'config a b'", "while read l; do $l; done <<< 'git config a b'", "export D=.mcp.json; cp cfg $D", "bash -c 'touch $1/x' _ .git",
		"x=.git; y=$x; touch $y/config", "set -- .git; touch $1/x", "cp cfg ${x=.git}/config", "cp cfg ${x/y/.git}",
		// Commands on the standard input.
		"bash <<'E'\ntouch .git/x\nE", "bash <<< 'touch .git/x'", "echo 'touch .git/x' | sh", ". <(echo 'touch .git/x')", "bash <(echo 'touch .git/x')",
		"bash <<< 'git config a b'", "echo 'git config a b' | sh -s", "printf '%s\\n' 'git config a b' | bash", "source /dev/stdin <<< 'touch .git/x'",
		"python3 - <<'E'\nopen('.git/config', 'w')\nE", "python3 -c 'open(\".git/config\", \"w\")'", "sudo bash <<< 'git config a b'", "cat <<E | bash -x\ntouch .claude/x\nE",
		"bash -o pipefail <<< 'touch .git/x'", "echo \"git\" config a b | sh",
		// find.
		"find -delete", "find . -delete", "find . -name config -delete", `find . -name config -exec cp cfg {} \;`, `find / -iname 'CONF*' -exec cp cfg {} +`,
		`find . -name 'pre-*' -execdir sh -c 'echo x > "$1"' _ {} \;`, "find . ! -name '*.go' -delete", "find . -name '.git*' -delete", `find src -exec git config a b \;`,
		"find . -name settings.json -delete",
		// A line that cannot be parsed.
		"cp cfg 'a .git/config",
	} {
		if got := judgeAllowed(t, command); got != fermata.GateAsk {
			t.Errorf("%q: %s, want ask", command, got)
		}
	}
	for _, command := range []string{
		"git log", "git diff HEAD~1", "git show HEAD:.gitattributes", "git status", "git fetch", "git add .gitattributes .mcp.json", "git log | head -3", "git branch -u origin/main",
		"git commit -m \"$(cat <<'E'\nread .git/config and .mcp.json\nE\n)\"", "gh pr create --title \"$T\" --body \"$(cat .git/HEAD)\"", "git push origin \"$BRANCH\"",
		"GIT_PAGER=cat git log", "PAGER=cat git diff", "GIT_EDITOR=true git rebase --continue", "GIT_DIR=.git git log", "EDITOR=x make",
		"ls .git", "cat .git/config", "grep -rn x .git", "ls .git/* | xargs cat", "cat .git/HEAD | xargs -n 1 echo", "D=.git; ls $D", "[ -d .git ] && echo $HOME", "cat .git/HEAD; exit $?",
		"find . -name x -print", "find . -type f | xargs wc -l", "find . -name '*.pyc' -delete", "find build -delete", "find . -name '*.go' -exec gofmt -l {} +", "find . -name '*.go' | xargs gofmt -w",
		"find .git -name config -exec cat {} +", "grep -rl --exclude-dir=.git foo . | xargs sed -i s/a/b/", "rsync -a --exclude=.git src/ dst/",
		"for f in *.go; do gofmt -w $f; done", "echo x > $OUT", "bash script.sh", "bash -c 'make test'", "echo 'make test' | sh", "python3 - <<'E'\nprint(1)\nE", "sh -c \"$CMD\"",
		"rm x[!a]", "rm .e[!x]*", "cp a $'b\\n'", "cat > $F <<'E'\nhello\nE", "cp a .github/x[0-9].yml", "D=src; rm -r $D/x", "cat .gitignore | xargs rm",
	} {
		if got := judgeAllowed(t, command); got != fermata.GateAllow {
			t.Errorf("%q: %s, want allow", command, got)
		}
	}
}

// TestADenyRuleSeesWhatIsHandedOn: a rule that denies also finds its command in a variable, in standard input or in
// an option of git.
func TestADenyRuleSeesWhatIsHandedOn(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"echo 'rm -rf /' | sh", "bash <<< 'rm -rf /'", "sh <<E\nrm -rf /\nE", "C=rm; $C -rf /", "$'\\x72m' -rf /", "git rebase -x 'rm -rf /'", "git bisect run rm -rf /",
		`find . -exec rm -rf / \;`, "git -c 'alias.z=!rm -rf /' z", "xargs rm <<< '-rf /'",
	} {
		if got := judge(t, fermata.GateDeny, "rm *", command); got != fermata.GateDeny {
			t.Errorf("%q: %s, want deny", command, got)
		}
	}
	if got := judge(t, fermata.GateDeny, "rm -rf /*", `rm -rf "$TMP/x"`); got != fermata.GateAsk {
		t.Errorf("an unknown variable was read as empty: %s", got)
	}
}

// TestLongLinesAreReadInTime: a line with many commands that start others is read without following each of them in
// each other.
func TestLongLinesAreReadInTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"env git bisect run ", "find . -exec ", "env find . -exec env ", "git submodule foreach ", "xargs ", "A=$A$A; ", "echo ${x:-", "echo a | xargs sh; "} {
		engine.ReadShell(strings.Repeat(part, 400) + "touch .git/x")
	}
	if got := judgeAllowed(t, strings.Repeat("env git bisect run ", 400)+"make test"); got != fermata.GateAsk {
		t.Errorf("a line with too many commands: %s, want ask", got)
	}
}

// TestProtectedFilesBehindOtherPrograms: people are asked about a line that writes a protected file, changes settings
// of git or an agent program, or starts one of these through another program, a computed value or a function.
func TestProtectedFilesBehindOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		// Files of a person and of a machine.
		"echo x > ~/.config/git/config", "cp x $HOME/.config/git/attributes", "tee ~/.confi?/git/config", "tee ~/.config/*/config", "mv x ~/.config", "cd ~/.config && cp x git/config",
		"cp x ~/.config/opencode/plugins/x.js", "echo x > /etc/gitconfig", "cp x \"$XDG_CONFIG_HOME/git/config\"",
		// Programs that start others.
		"env -S 'git config a.b c'", "env -S'git config' a.b c", "env --split-string='git config a.b c'", `env -S 'git\_config\_a.b\_c'`, "flock x git config a.b c", "flock x -c 'git config a.b c'",
		"su -c 'git config a.b c'", "su ada -c 'cd x; git config a.b c'", "su --command='git config a.b c'", "script -c 'git config a.b c' /dev/null", "script -qc 'git config a.b c' /dev/null",
		"runuser -c 'git config a.b c'", "runuser -u ada -- git config a.b c", "chroot / git config a.b c", "unshare -r git config a.b c", "watch git config a.b c", "watch -n1 'git config a.b c'",
		"npx git config a.b c", "npm exec -- git config a.b c", "npm exec -c 'git config a.b c'", "nsenter -t 1 git config a.b c", "setpriv --reuid 0 git config a.b c", "doas git config a.b c",
		"pkexec git config a.b c", "systemd-run --user git config a.b c", "parallel git config ::: a.b ::: c", "parallel 'git config {} c' ::: a.b", "ls | entr git config a.b c",
		"bunx git config a.b c", "pnpm exec git config a.b c", "pnpm dlx git config a.b c", "yarn exec git config a.b c", "uvx git config a.b c", "poetry run git config a.b c", "uv run git config a.b c",
		"bundle exec git config a.b c", "time git config a.b c", "strace -f git config a.b c", "ltrace git config a.b c", "gdb --args git config a.b c", "gdb -batch -ex 'shell git config a.b c'",
		"valgrind git config a.b c", "chrt 1 git config a.b c", "taskset 1 git config a.b c", "ionice -c 3 git config a.b c", "setarch -R git config a.b c", "docker run -v .:/w img git config a.b c",
		"tmux new -d 'git config a.b c'", "ssh localhost git config a.b c", "ssh localhost 'git config a.b c'", "some-launcher git config a.b c", "some-launcher -c 'git config a.b c'",
		"some-launcher /usr/bin/git config a.b c", "python3 -c 'import os; os.system(\"git config a.b c\")'", "node -e 'spawn(\"git\",[\"config\",\"a.b\",\"c\"])'", "awk 'BEGIN{system(\"git config a.b c\")}'",
		"some-launcher 'HOME=/tmp/e git status'", "sh -c 'git${IFS}config${IFS}a.b${IFS}c'", "git${IFS}config${IFS}a.b${IFS}c", "csh -c 'git config a.b c'", "env A=config -S 'git ${A} a.b c'",
		"bash -c \"$(echo git config a.b c)\"", "eval \"$(printf 'git config %s c' a.b)\"", "A=(git config a.b c); \"${A[@]}\"", "set -- git config a.b c; \"$@\"", "f() { \"$@\"; }; f git config a.b c",
		"nice -n 5 xargs git config a < x", "make -f - <<< $'x:\n\tgit config a b'", "at now <<< 'git config a b'", "crontab - <<< '* * * * * git config a b'", "vim -c '!git config a b' -c q",
		"tar cf x --checkpoint-action=exec='git config a b' y", "ssh -o ProxyCommand='git config a b' h", "${0%sh}git config a b", "mapfile -t A < <(printf 'git\nconfig\na\nb'); \"${A[@]}\"", "sh -c '$0 config a b' git",
		"PROMPT_COMMAND='git config a b' bash -i", "IFS=,; x=git,config,a,b; $x", "GIT config a b", "git.exe config a b", "python3 - <<'E'\nos.system(\"git config a b\")\nE",
		// Subcommands of git by their own programs.
		"git-config a.b c", "/usr/lib/git-core/git-config a.b c", "git-remote add x y", "git-submodule add x y", "git-lfs install", "sudo git-config a.b c", "exec -a git-config git a.b c",
		"git init --separate-git-dir=/work/p/meta", "git init --separate-git-dir /work/p/meta", "git init --sep /work/p/meta", "git clone --separate-git-dir=m x y", "scalar register", "scalar -C x register", "scalar clone x",
		"scalar reconfigure -a", "git lfs migrate import --include=x", "git lfs install", "git lfs uninstall", "git daemon --access-hook=./x",
		// Words that come from elsewhere in the line.
		"echo .gi | xargs -I{} cp x {}t/config", "echo .gi | xargs -I {} cp x {}t/config", "echo .gi | xargs -i cp x {}t/config", "echo .gi | xargs --replace=R cp x Rt/config",
		"echo -n .gi | xargs -I{} sh -c 'cp x {}t/config'", "printf '.%s/config' git | xargs cp x", "printf '.%s/%s\n' git config | xargs cp x", "parallel cp x {}t/config ::: .gi", "echo .gi | parallel cp x {}t/config",
		"x=_git; cp y ${x/_/.}/config", "x=x.git; cp y ${x#x}/config", "x=.gitx; cp y ${x%x}/config", "x=a.gitb; cp y ${x:1:4}/config", "x=a.gitb; y=${x:1:4}; cp z $y/config", "x=xgit; ${x#x} config a.b c",
		"x=.git_config; cp y ${x/_/\\/}", "x=.git; y=x; cp z ${!y}/config", "x='.g\\x69t'; cp y ${x@E}/config", "x=${RANDOM}git; cp y .${x#*[0-9]}/config",
		"f(){ cp x $1it/config; }; f .g", "f(){ cp x $2it/config; }; f a .g", "f(){ shift; cp x $1it/config; }; f a .g", "f(){ cp x ${1}t/config; }; f .gi", "f(){ cp x \"$@\"t/config; }; f .gi",
		"f(){ local d=$1; cp x ${d}t/config; }; f .gi", "set -- .g; cp x $1it/config", "bash -c 'cp x $1it/config' _ .g", "function f { echo y > ${1}it/config; }; f .g", "cp x ${UNKNOWN}it/config",
		"cp x $(printf .)git/config", "cp x $(cat name)it/config", "echo y > $(cat name)/config", "cp x .git${PATH:0:1}config", "cp x $EMPTY.gitattributes", "D=$(git rev-parse --git-dir); cp x $D/y",
		"cp x $(git rev-parse --git-path hooks)/y", "read d <<< .g; cp x ${d}it/config", "mapfile d <<< .g; cp x ${d}it/config", "cp x $D/settings.json", "x=.gi; x+=t; cp y ${x}/config",
		// Variables that git sees.
		"printf -v HOME /tmp/e; git status", "read HOME <<< /tmp/e; git status", "read -r -d '' HOME < x; git status", "mapfile HOME < x; git status", "readarray -t HOME < x; git status",
		"declare -x HOME=/tmp/e; git status", "export HOME=/tmp/e; git status", "export 'HOME=/tmp/e'; git status", "typeset -x XDG_CONFIG_HOME=/tmp/e; git status", "getopts a HOME; git status",
		"for HOME in /tmp/e; do git status; done", ": ${XDG_CONFIG_HOME:=/tmp/e}; export XDG_CONFIG_HOME; git status", "((HOME=1)); git status", "let HOME=1; git status", "declare -n r=HOME; r=/tmp/e; git status",
		"export \"$(cat x)\"; git status", "declare \"$n=$v\"; git status", "command export HOME=/tmp/e; git status", "exec {HOME}>x; git status", "read GIT_SSH_COMMAND < x; git fetch",
		"fish -c 'set -x HOME /tmp/e; git status'", "HOME=/tmp/e some-launcher git status", "HOME=/tmp/e npx git status", "HOME=/tmp/e git-status",
		// Settings of agent programs, and the gate itself.
		"claude mcp add evil -- id", "claude mcp add-json evil '{}'", "claude mcp remove x", "claude plugin install x", "claude plugin marketplace add x", "claude config set a b", "codex mcp add x -- id",
		"codex features disable hooks", "codex exec -c features.hooks=false x", "gemini extensions install x", "gemini extensions link .", "gemini mcp add x y", "gemini hooks migrate", "opencode mcp add", "opencode plugin x", "opencode agent create",
		"npx @anthropic-ai/claude-code mcp add x -- id", "npx -y @anthropic-ai/claude-code@latest mcp add x -- id", "sudo -u ada claude mcp add x -- id", "some-agent mcp add x -- id",
		"claude --settings x -p y", "claude --setting-sources '' -p y", "claude --mcp-config x -p y", "claude --bare -p y", "CLAUDE_CONFIG_DIR=/tmp/e claude -p y", "CODEX_HOME=/tmp/e codex exec y", "export OPENCODE_CONFIG_DIR=x",
		"opencode --pure run x", "fermata install claude --remove", "fermata install claude", "/usr/local/bin/fermata install codex --remove", "fermata gate add allow '*'", "fermata gate remove x", "fermata --url x install claude",
	} {
		if got := judgeAllowed(t, command); got != fermata.GateAsk {
			t.Errorf("%q: %s, want ask", command, got)
		}
	}
	for _, command := range []string{
		"for f in *.go; do gofmt -w \"$f\"; done", "cp \"$src\" \"$dst\"", "rm -rf \"$TMP/x\"", "mkdir -p \"$HOME/.local/bin\"", "echo x > \"$OUT/x.json\"", "cp x \"$name.json\"", "mv \"$f\" \"${f%.txt}.md\"",
		"for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done", "cp a \"$PWD/config\"", "D=build; cp x $D/config", "git clone \"$URL.git\"", "git clone https://host/$ORG/$REPO.git", "cat \"$D/config\"; rm \"$x\"",
		"cp x \"$(pwd)/config\"", "cp x \"$(git rev-parse --show-toplevel)/config\"", "docker run -v \"$PWD/config:/c\" img", "docker run --rm img make test", "npm run build", "npx tsc -p .", "uv run pytest", "make -j\"$(nproc)\" test",
		"f(){ echo $1; }; f a", "f(){ cp x $1/y; }; f a", "set -- a b; cp $1 $2", "read x; echo $x", "printf -v x %s y; git status", "read -r line < x; git status", "export PATH=/x:$PATH; git status",
		"export A=1 B=2; git commit -m x", "xargs -I{} cp {} out/{}", "ls | xargs -I{} cp {} out/{}", "echo a | xargs -I{} cp x {}/config", "printf '%s\n' a b | xargs rm", "git commit -m 'git config a.b c'", "echo git config a.b c", "rg 'git config a.b c'",
		"gh pr create --title x --body 'run git config a.b c'", "apt-get install -y git curl", "which git", "command -v git", "npx git status", "docker run img git status", "watch git status", "git-status",
		"git init", "git init --bare x", "git lfs pull", "git lfs ls-files", "scalar list", "claude --version", "claude mcp list", "claude -p 'say hi'", "codex mcp list", "gemini extensions list", "opencode run x", "gemini -p x",
		"fermata ask x", "fermata gate list", "fermata gate test Bash command=x", "fermata install claude --dry-run", "fermata inbox", "mcp-server add x", "sed -n \"$n p\" a; cat .gitignore", "awk '{ print $1 }' f; cat .git/HEAD", "awk '{ print $1 }' f > g",
		"time make test", "timeout 5 go test ./...", "strace -f make", "ssh host uptime", "cp defconfig .config", "cp defconfig \"$O/.config\"", "mkdir -p ~/.config/app && cp x ~/.config/app/config.yml", "x=abc; echo ${x:1:1}; rm ${x}.o",
		"for d in a b; do touch $d/config; done", "i=$((i+1)); touch x$i", "tar czf \"x-$(date +%F).tgz\" src", "rm -f \"${f}s\"", "GIT_DIR=x git status", "while read -r f; do rm \"$f\"; done < list",
		"cat > a.md <<'E'\ngit config a b\nE", "python3 - <<'E'\nprint('git')\nE", "MSG='git config a b'; make", "sudo make install", "nice xargs rm < x", "IFS=,; x=a,b; rm $x",
	} {
		if got := judgeAllowed(t, command); got != fermata.GateAllow {
			t.Errorf("%q: %s, want allow", command, got)
		}
	}
}
