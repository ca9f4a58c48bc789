package engine_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestGitIsGuardedUnderItsOwnRules: an allow rule for a reading subcommand of git allows no option by which it writes a
// protected file or starts a program.
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
		got := fermata.Judge(&call, fermata.GateScope{}, []*fermata.GateRule{rule}, fermata.DefaultPolicy(), engine.ReadShell, time.Now())
		if got.Rule == nil || got.Decision != tt.want || got.Decision == fermata.GateAsk && got.Rule.Risk != fermata.RiskHigh {
			t.Errorf("%s, allowed %q: %s by %s, want %s", tt.command, tt.pattern, got.Decision, got.Why(), tt.want)
		}
	}
}

// TestProtectedFilesInLinesThatHideThem: where everything is allowed, a line is still asked about that makes the name of a protected file
// by the means of a shell, or hands it to a command that takes its words from elsewhere.
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
		// A line that nobody can read.
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

// TestADenyRuleSeesWhatIsHandedOn: a rule that denies finds its command also where a variable, a text on the standard input or
// an option of git names it.
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

// TestLongLinesAreReadInTime: commands that start others, in great numbers, are read without following each in each.
func TestLongLinesAreReadInTime(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"env git bisect run ", "find . -exec ", "env find . -exec env ", "git submodule foreach ", "xargs ", "A=$A$A; ", "echo ${x:-", "echo a | xargs sh; "} {
		engine.ReadShell(strings.Repeat(part, 400) + "touch .git/x")
	}
	if got := judgeAllowed(t, strings.Repeat("env git bisect run ", 400)+"make test"); got != fermata.GateAsk {
		t.Errorf("a line with too many commands: %s, want ask", got)
	}
}
