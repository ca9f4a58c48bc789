package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

func judge(t *testing.T, decision fermata.GateDecision, pattern, command string) fermata.GateDecision {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	call := fermata.GateCall{Tool: "Bash", Input: input}
	rule := &fermata.GateRule{NewGateRule: fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": pattern}, Decision: decision}}
	p := fermata.DefaultPolicy()
	return fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{rule}, p, engine.ReadShell, time.Now()).Decision
}

// TestGitFilesAreGuardedInShellLines: people are asked about every command line that writes a file by which git
// starts programs.
func TestGitFilesAreGuardedInShellLines(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]fermata.GateDecision{
		`printf x > .git/hooks/pre-commit`:           fermata.GateAsk,
		`echo '* filter=x' >>.gitattributes`:         fermata.GateAsk,
		"cat >.gitattributes <<E\n* filter=x\nE":     fermata.GateAsk,
		`make 2>.git/config`:                         fermata.GateAsk,
		`true &>.git/config`:                         fermata.GateAsk,
		`{ echo a; echo b; } >| sub/.git/config`:     fermata.GateAsk,
		`sh -c 'echo x > .gitmodules'`:               fermata.GateAsk,
		`x=$(echo y > .git/config)`:                  fermata.GateAsk,
		`cd .git && echo x > config`:                 fermata.GateAsk,
		`echo 'unfinished > .git/config`:             fermata.GateAsk,
		`find .git -name '*.lock' -delete`:           fermata.GateAsk,
		`find .git -exec cp x {} ;`:                  fermata.GateAsk,
		`tree -o .git/config`:                        fermata.GateAsk,
		`git config core.hooksPath list`:             fermata.GateAsk,
		`git config core.hooksPath -l`:               fermata.GateAsk,
		`git config --file a core.hooksPath get`:     fermata.GateAsk,
		`git config set core.hooksPath x`:            fermata.GateAsk,
		`git config --unset core.hooksPath`:          fermata.GateAsk,
		`git config --edit`:                          fermata.GateAsk,
		`cat .gitattributes > notes.txt`:             fermata.GateAllow,
		`cat < .gitattributes`:                       fermata.GateAllow,
		`find .git -name '*.lock'`:                   fermata.GateAllow,
		`git config --get core.hooksPath`:            fermata.GateAllow,
		`git config --global --list`:                 fermata.GateAllow,
		`git config get core.hooksPath`:              fermata.GateAllow,
		`git config list --global`:                   fermata.GateAllow,
		`git config user.name`:                       fermata.GateAllow,
		`git -C sub config --file x --get user.name`: fermata.GateAllow,
		`make 2>&1 | tee build.log`:                  fermata.GateAllow,
	} {
		if got := judgeAllowed(t, command); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

// judgeAllowed returns the decision about a command line if every tool is allowed.
func judgeAllowed(t *testing.T, command string) fermata.GateDecision {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	call, policy := fermata.GateCall{Tool: "Bash", Input: input}, fermata.DefaultPolicy()
	policy.GateDefault = fermata.GateAllow
	return fermata.JudgeCall(&call, fermata.GateOrigin{}, nil, policy, engine.ReadShell, time.Now()).Decision
}

// TestAnAllowRuleIsNotFooled: a rule that allows a command allows nothing else in the same line.
func TestAnAllowRuleIsNotFooled(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"git status; rm -rf /", "git status;rm -rf /", "git status && rm -rf /", "git status || rm -rf /", "git status | sh",
		"git status |& sh", "git status & rm -rf /", "git status &", "git status\nrm -rf /", "git status\r\nrm -rf /", "git status\rrm",
		"git status \\\n; rm -rf /", "git status $(rm -rf /)", "git status `rm -rf /`", "git status \"$(rm -rf /)\"", "git status \"`rm -rf /`\"",
		"git status <(rm -rf /)", "git status >(sh)", "git status > /etc/passwd", "git status >> ~/.bashrc", "git status 2>&1", "git status < /etc/shadow",
		"git status <<< x", "git status <<EOF\nx\nEOF", "git status $HOME", "git status ${IFS}x", "git status \"$HOME\"", "git status $((1+1))",
		"git status $'\\n'rm", "git status $\"x\"", "git status *", "git status ?", "git status [a-z]", "git status {a,b}", "git status ~",
		"git status # rm", "git status; # x", "git status;", "git status ../../etc", "git status --output=../x",
		"git status 'a", "git status \"a", "git status )", "git status }; rm",
		"PATH=/tmp git status", "! git status", "(git status)", "{ git status; }", "time git status",
		"git status \u202e/ fr- mr", "git status \u200b", "git status \u00a0;", "git status\u2028rm", "git status \x1b[2K", "git status \t", "git status \x00",
		"git status \ufeff", "git status \U000e0041", "git status \u3164", "if git status; then rm -rf /; fi", "git status coproc; coproc rm",
		"function git { rm; }; git status", "git status \\", "g\\it status", "'git' status", " git status",
	} {
		if got := judge(t, fermata.GateAllow, "git status*", command); got != fermata.GateAsk {
			t.Errorf("%q: %s, want ask", command, got)
		}
	}
	for _, command := range []string{"git status", "git status --short", `git status "a; b"`, "git status 'a && b'", "git status -- café"} {
		if got := judge(t, fermata.GateAllow, "git status*", command); got != fermata.GateAllow {
			t.Errorf("%q: %s, want allow", command, got)
		}
	}
}

func TestAllowExactlyOrEverything(t *testing.T) {
	t.Parallel()
	const line = "make && make test > log"
	for pattern, want := range map[string]fermata.GateDecision{
		line: fermata.GateAllow, "*": fermata.GateAllow, "make*": fermata.GateAsk, "make && make test > *": fermata.GateAsk, "**": fermata.GateAsk,
	} {
		if got := judge(t, fermata.GateAllow, pattern, line); got != want {
			t.Errorf("%q: %s, want %s", pattern, got, want)
		}
	}
}

// TestProtectedFilesAreSeenThroughTheShell: the result of shell expansion counts, even if the line does not contain
// the name of the file.
func TestProtectedFilesAreSeenThroughTheShell(t *testing.T) {
	t.Parallel()
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprint("x", i)
	}
	for _, command := range []string{
		"echo x >> .git/config", "tee -a .g?t/config", "echo x >> .g?t/config", "echo x >> .gi[t]/config", "echo x > .g*/config", "echo x > .claud?/settings.json",
		"echo x > .mcp.jso?", `trap "git config a b" EXIT`, "echo a b | xargs git config", "tee .{git,x}/config", "cp a .gi{t,}/config", "cp a .{" + strings.Join(many, ",") + ",git}/config",
		"echo x > '.git'/config", "xargs -n 1 tee .git/config", "cp a .{a..z}{a..z}{a..z}/config",
	} {
		if got := judgeAllowed(t, command); got != fermata.GateAsk {
			t.Errorf("%q: %s, want ask", command, got)
		}
	}
	for _, command := range []string{"echo x > {a,b}/config", "mkdir -p src/{a,b}", "ls *.go | xargs wc", "find . -name x -exec cat {} ;", `trap "rm -f x" EXIT`} {
		if got := judgeAllowed(t, command); got != fermata.GateAllow {
			t.Errorf("%q: %s, want allow", command, got)
		}
	}
}

// TestADenyRuleSeesThroughQuotes: a rule that denies finds its command at every
// place where the line runs it.
func TestADenyRuleSeesThroughQuotes(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"rm -rf /", "git status; rm -rf /", "true && rm -rf /", "x | rm -rf /", "x &\nrm -rf /", "echo $(rm -rf /)", "echo `rm -rf /`",
		"echo \"$(rm -rf /)\"", "r\"m\" -rf /", "'rm' -rf /", "\\rm -rf /", "r\\m -rf /", "/bin/rm -rf /", "sudo rm -rf /", "sudo -u root rm -rf /",
		"env X=1 rm -rf /", "command rm -rf /", "exec rm -rf /", "nohup rm -rf / &", "xargs rm -rf / < list", "bash -c 'rm -rf /'",
		"sh -lc \"rm -rf /\"", "eval 'rm -rf /'", "eval rm -rf /", "sudo bash -c 'true; rm -rf /'", "bash -c \"bash -c 'rm -rf /'\"",
		"(rm -rf /)", "{ rm -rf /; }", "if true; then rm -rf /; fi", "for i in 1; do rm -rf /; done", "X=1 rm -rf /", "! rm -rf /",
		"f() { rm -rf /; }; f", "cat <(rm -rf /)", "rm  -rf   /", "echo 'unfinished; rm -rf /", "time rm -rf /", "timeout 5 rm -rf /",
	} {
		if got := judge(t, fermata.GateDeny, "rm *", command); got != fermata.GateDeny {
			t.Errorf("%q: %s, want deny", command, got)
		}
	}
	for _, command := range []string{"echo rm -rf", "git rm file", "farm -x"} {
		if got := judge(t, fermata.GateDeny, "rm *", command); got != fermata.GateAsk {
			t.Errorf("%q: %s, want ask", command, got)
		}
	}
}
