package fermata_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// noShell reads no command, so no command is plain.
func noShell(string) fermata.ShellLine { return fermata.ShellLine{} }

func gateRule(id string, n fermata.NewGateRule) *fermata.GateRule {
	return &fermata.GateRule{ID: id, NewGateRule: n}
}

func TestJudgeOrder(t *testing.T) {
	t.Parallel()
	later, past := noon.Add(time.Hour), noon
	allow := gateRule("allow", fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow})
	narrow := gateRule("narrow", fermata.NewGateRule{Tool: "Read", Args: map[string]string{"file_path": "/work/*"}, Decision: fermata.GateAllow})
	ask := gateRule("ask", fermata.NewGateRule{Tool: "Re*", Decision: fermata.GateAsk})
	deny := gateRule("deny", fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny})
	inWeb := gateRule("web", fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny, Project: "web"})
	ofTask := gateRule("task", fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow, TaskID: "task_1"})
	other := gateRule("other", fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow, TaskID: "task_2"})
	expired := gateRule("expired", fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny})
	expired.ExpiresAt = &past
	good := gateRule("good", fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny})
	good.ExpiresAt = &later
	spent := gateRule("spent", fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow, Uses: 1})
	spent.Used = 1
	counted := gateRule("counted", fermata.NewGateRule{Tool: "Read", Args: map[string]string{"file_path": "/work/a"}, Decision: fermata.GateAllow, Uses: 1})
	for name, tt := range map[string]struct {
		rules []*fermata.GateRule
		want  fermata.GateDecision
		rule  string
	}{
		"no rule asks":                        {nil, fermata.GateAsk, ""},
		"allow":                               {[]*fermata.GateRule{allow}, fermata.GateAllow, "allow"},
		"the most specific is named":          {[]*fermata.GateRule{allow, narrow}, fermata.GateAllow, "narrow"},
		"ask over allow":                      {[]*fermata.GateRule{narrow, ask}, fermata.GateAsk, "ask"},
		"deny over ask":                       {[]*fermata.GateRule{narrow, ask, deny}, fermata.GateDeny, "deny"},
		"the most specific deny":              {[]*fermata.GateRule{deny, inWeb}, fermata.GateDeny, "web"},
		"a task's rule goes before":           {[]*fermata.GateRule{narrow, ofTask}, fermata.GateAllow, "task"},
		"another task's rule":                 {[]*fermata.GateRule{other}, fermata.GateAsk, ""},
		"an expired rule":                     {[]*fermata.GateRule{expired}, fermata.GateAsk, ""},
		"one that is not expired":             {[]*fermata.GateRule{good}, fermata.GateDeny, "good"},
		"a rule that is used up":              {[]*fermata.GateRule{spent}, fermata.GateAsk, ""},
		"what need not be counted goes first": {[]*fermata.GateRule{counted, allow}, fermata.GateAllow, "allow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := fermata.GateCall{Tool: "Read", Input: json.RawMessage(`{"file_path":"/work/a"}`)}
			from := fermata.GateOrigin{Project: "web", TaskID: "task_1"}
			got := fermata.JudgeCall(&call, from, tt.rules, fermata.DefaultPolicy(), noShell, noon)
			id := ""
			if got.Rule != nil {
				id = got.Rule.ID
			}
			if got.Decision != tt.want || id != tt.rule {
				t.Errorf("%s by %q, want %s by %q", got.Decision, id, tt.want, tt.rule)
			}
		})
	}
}

// TestJudgeArguments checks that the pattern of an allow rule must match all
// values of an argument. The pattern of any other rule must match only one.
func TestJudgeArguments(t *testing.T) {
	t.Parallel()
	const allow, deny = fermata.GateAllow, fermata.GateDeny
	for name, tt := range map[string]struct {
		decision      fermata.GateDecision
		path, pattern string
		input         string
		fits          bool
	}{
		"within":                         {allow, "file_path", "/work/*", `{"file_path":"/work/a/b.go"}`, true},
		"outside":                        {allow, "file_path", "/work/*", `{"file_path":"/etc/passwd"}`, false},
		"up and out":                     {allow, "file_path", "/work/*", `{"file_path":"/work/../etc/passwd"}`, false},
		"up and out, backwards":          {allow, "file_path", `C:\\work\\*`, `{"file_path":"C:\\work\\..\\x"}`, false},
		"two dots in a name":             {allow, "file_path", "/work/*", `{"file_path":"/work/a..b"}`, true},
		"a line break":                   {allow, "file_path", "/work/*", `{"file_path":"/work/a\n/etc"}`, false},
		"an invisible character":         {allow, "file_path", "/work/*", `{"file_path":"/work/\u200ba"}`, false},
		"a turned text":                  {allow, "file_path", "/work/*", `{"file_path":"/work/\u202ea"}`, false},
		"a zero byte":                    {allow, "file_path", "/work/*", `{"file_path":"/work/a\u0000"}`, false},
		"no such argument":               {allow, "file_path", "*", `{"path":"/work/a"}`, false},
		"another case":                   {allow, "file_path", "/work/*", `{"File_Path":"/work/a"}`, false},
		"an object instead":              {allow, "file_path", "/work/*", `{"file_path":{"x":"/work/a"}}`, false},
		"null":                           {allow, "file_path", "/work/*", `{"file_path":null}`, false},
		"a number":                       {allow, "port", "80*", `{"port":8080}`, true},
		"every one of a list":            {allow, "edits.path", "/work/*", `{"edits":[{"path":"/work/a"},{"path":"/work/b"}]}`, true},
		"one of a list not":              {allow, "edits.path", "/work/*", `{"edits":[{"path":"/work/a"},{"path":"/etc/b"}]}`, false},
		"one of a list without":          {allow, "edits.path", "/work/*", `{"edits":[{"path":"/work/a"},{"file":"/etc/b"}]}`, false},
		"an empty list":                  {allow, "edits.path", "/work/*", `{"edits":[]}`, false},
		"a list of texts":                {allow, "paths", "/work/*", `{"paths":["/work/a","/etc/b"]}`, false},
		"not a plain command":            {allow, "command", "git*", `{"command":"git status"}`, false},
		"a command in an inner argument": {allow, "run.cmd", "git*", `{"run":{"cmd":"git status"}}`, false},
		"the very command":               {allow, "command", "git; rm", `{"command":"git; rm"}`, true},
		"a question mark":                {allow, "name", "a?c", `{"name":"abc"}`, true},
		"a question mark of two":         {allow, "name", "a?c", `{"name":"abbc"}`, false},
		"an escaped star":                {allow, "name", `a\*`, `{"name":"a*"}`, true},
		"an escaped star is no pattern":  {allow, "name", `a\*`, `{"name":"ab"}`, false},
		"many stars":                     {allow, "name", strings.Repeat("*a", 40) + "b", `{"name":"` + strings.Repeat("a", 5000) + `"}`, false},
		"deny one of a list":             {deny, "edits.path", "/etc/*", `{"edits":[{"path":"/work/a"},{"path":"/etc/b"}]}`, true},
		"deny up and in":                 {deny, "path", "/etc/*", `{"path":"/work/../etc/passwd"}`, true},
		"deny twice slashed":             {deny, "path", "/etc/*", `{"path":"//etc//passwd"}`, true},
		"deny elsewhere":                 {deny, "path", "/etc/*", `{"path":"/work/a"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := gateRule("r", fermata.NewGateRule{Tool: "T", Args: map[string]string{tt.path: tt.pattern}, Decision: tt.decision})
			call := fermata.GateCall{Tool: "T", Input: json.RawMessage(tt.input)}
			got := fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{rule}, fermata.DefaultPolicy(), noShell, noon)
			if (got.Rule != nil) != tt.fits {
				t.Errorf("%s by %v, want a fit: %v", got.Decision, got.Rule, tt.fits)
			}
		})
	}
}

// TestNothingRidesAlongWithACommand checks that an allow rule for a command allows only the arguments that it names.
// No other argument may change the effect of the command.
func TestNothingRidesAlongWithACommand(t *testing.T) {
	t.Parallel()
	plain := func(string) fermata.ShellLine { return fermata.ShellLine{Plain: true} }
	for name, tt := range map[string]struct {
		args  map[string]string
		input string
		want  fermata.GateDecision
	}{
		"alone":                     {map[string]string{"command": "ls*"}, `{"command":"ls -l"}`, fermata.GateAllow},
		"with texts":                {map[string]string{"command": "ls*"}, `{"command":"ls","description":"x","timeout":5,"run_in_background":true}`, fermata.GateAllow},
		"with what is left out":     {map[string]string{"command": "ls*"}, `{"command":"ls","dangerouslyDisableSandbox":null}`, fermata.GateAllow},
		"with a description":        {map[string]string{"command": "ls*"}, `{"command":"ls","acp":{"title":"x","content":[{"a":1}]}}`, fermata.GateAllow},
		"without a sandbox":         {map[string]string{"command": "ls*"}, `{"command":"ls","dangerouslyDisableSandbox":true}`, fermata.GateAsk},
		"the very text":             {map[string]string{"command": "ls"}, `{"command":"ls","dangerouslyDisableSandbox":true}`, fermata.GateAsk},
		"any text":                  {map[string]string{"command": "*"}, `{"command":"ls","workdir":"/"}`, fermata.GateAsk},
		"in another folder":         {map[string]string{"cmd": "ls*"}, `{"cmd":"ls","workdir":"/"}`, fermata.GateAsk},
		"with an environment":       {map[string]string{"command": "ls*"}, `{"command":"ls","env":{"PATH":"/x"}}`, fermata.GateAsk},
		"under another spelling":    {map[string]string{"command": "ls*"}, `{"command":"ls","Description":"x"}`, fermata.GateAsk},
		"named":                     {map[string]string{"command": "ls*", "workdir": "/work"}, `{"command":"ls","workdir":"/work"}`, fermata.GateAllow},
		"named by what it is in":    {map[string]string{"command": "ls*", "env": "*"}, `{"command":"ls","env":{"PATH":"/x"}}`, fermata.GateAllow},
		"below":                     {map[string]string{"steps.command": "ls*"}, `{"steps":[{"command":"ls"},{"command":"ls","user":"root"}]}`, fermata.GateAsk},
		"below, named":              {map[string]string{"steps.command": "ls*", "steps.user": "ana"}, `{"steps":[{"command":"ls","user":"ana"}]}`, fermata.GateAllow},
		"words":                     {map[string]string{"command": "ls*"}, `{"command":["ls","-l"]}`, fermata.GateAllow},
		"no command":                {map[string]string{"file_path": "/work/*"}, `{"file_path":"/work/a","content":"x"}`, fermata.GateAllow},
		"no arguments in the rule":  {nil, `{"command":"ls","dangerouslyDisableSandbox":true}`, fermata.GateAllow},
		"an argument that is false": {map[string]string{"command": "ls*"}, `{"command":"ls","sandbox":false}`, fermata.GateAsk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := gateRule("r", fermata.NewGateRule{Tool: "*", Args: tt.args, Decision: fermata.GateAllow})
			call := fermata.GateCall{Tool: "Bash", Input: json.RawMessage(tt.input)}
			if got := fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{rule}, fermata.DefaultPolicy(), plain, noon); got.Decision != tt.want {
				t.Errorf("got %s, want %s", got.Decision, tt.want)
			}
			// For a deny or ask rule, the command alone is enough.
			deny := gateRule("d", fermata.NewGateRule{Tool: "*", Args: map[string]string{"command": "ls*"}, Decision: fermata.GateDeny})
			if got := fermata.JudgeCall(&call, fermata.GateOrigin{}, []*fermata.GateRule{deny}, fermata.DefaultPolicy(), plain, noon); strings.HasPrefix(tt.input, `{"command":"ls`) && got.Decision != fermata.GateDeny {
				t.Errorf("denied it is %s", got.Decision)
			}
		})
	}
}

func TestGateCallCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call fermata.GateCall
		bad  []string
	}{
		"whole":        {fermata.GateCall{TaskID: "task_1", Tool: "Bash", Input: json.RawMessage(`{"a":[{"b":1}]}`)}, nil},
		"no input":     {fermata.GateCall{SessionKey: "s", Tool: "Bash"}, nil},
		"nothing":      {fermata.GateCall{}, []string{"tool", "task_id"}},
		"two places":   {fermata.GateCall{TaskID: "t", SessionKey: "s", Tool: "x"}, []string{"session_key"}},
		"a list":       {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`[1]`)}, []string{"input"}},
		"a name twice": {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`{"command":"ls","command":"rm"}`)}, []string{"input"}},
		"twice, escaped": {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`{"command":"ls","\u0063ommand":"rm"}`)},
			[]string{"input"}},
		"twice, within": {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`{"a":[{"b":1,"b":2}]}`)}, []string{"input"}},
		"two documents": {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`{} {}`)}, []string{"input"}},
		"cut off":       {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`{"a":`)}, []string{"input"}},
		"too deep": {fermata.GateCall{SessionKey: "s", Tool: "x", Input: json.RawMessage(`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`)},
			[]string{"input"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tt.call.Check()
			if len(tt.bad) == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, fermata.CodeInvalidRequest, tt.bad...)
		})
	}
}

func TestNewGateRuleCheck(t *testing.T) {
	t.Parallel()
	bad := fermata.NewGateRule{
		Args: map[string]string{"a..b": "x"}, Decision: "maybe", Project: "web", TaskID: "t", ExpiresIn: "soon", Uses: -1, Risk: "huge",
	}
	wantError(t, bad.Check(), fermata.CodeInvalidRequest, "tool", "risk", "decision", "args", "project", "expires_in", "uses")
	wantError(t, fermata.NewGateRule{Tool: "*", Decision: fermata.GateDeny, Uses: 1}.Check(), fermata.CodeInvalidRequest, "uses")
	rule, err := fermata.NewGateRule{Tool: "*", Decision: fermata.GateAllow, ExpiresIn: "1h", Uses: 1}.Make("rule_1", fermata.SystemActor, noon)
	if err != nil || !rule.ExpiresAt.Equal(noon.Add(time.Hour)) || !rule.IsLimited() || !rule.IsLive(noon) || rule.IsLive(noon.Add(time.Hour)) {
		t.Errorf("%+v, %v", rule, err)
	}
}

func TestGateActionIsWhatRuns(t *testing.T) {
	t.Parallel()
	call := fermata.GateCall{SessionKey: "s", Tool: "Bash", Input: json.RawMessage(` { "command" : "a <b> & c" } `), Dir: "/w"}
	if err := call.Check(); err != nil {
		t.Fatal(err)
	}
	want := `{"tool":"Bash","input":{"command":"a <b> & c"},"dir":"/w"}`
	if got := string(call.Action()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, other := range []fermata.GateCall{
		{Tool: "Bash2", Input: call.Input, Dir: "/w"}, {Tool: "Bash", Input: json.RawMessage(`{"command":"a"}`), Dir: "/w"}, {Tool: "Bash", Input: call.Input, Dir: "/"},
	} {
		if fermata.HashAction(other.Action()) == fermata.HashAction(call.Action()) {
			t.Errorf("%+v has the same hash", other)
		}
	}
	input, err := call.EditedInput(json.RawMessage(`{"tool":"Bash","input":{"command":"b"},"dir":"/w"}`))
	if err != nil || string(input) != `{"command":"b"}` {
		t.Errorf("%s, %v", input, err)
	}
	for _, edit := range []string{
		`{"tool":"Write","input":{},"dir":"/w"}`, `{"tool":"Bash","input":{},"dir":"/"}`, `{"tool":"Bash","input":[],"dir":"/w"}`,
		`{"tool":"Bash","input":{"a":1,"a":2},"dir":"/w"}`, `{"tool":"Bash","input":{},"dir":"/w","x":1}`, `"ls"`,
	} {
		if _, err := call.EditedInput(json.RawMessage(edit)); err == nil {
			t.Errorf("%s was taken", edit)
		}
	}
}

func TestGrantSignature(t *testing.T) {
	t.Parallel()
	key, other := []byte("one key of the workspace"), []byte("another key")
	g := fermata.Grant{WorkspaceID: "w", QuestionID: "q_1", ActionHash: fermata.HashAction([]byte(`"h"`)), Decision: fermata.Approve, At: noon, ExpiresAt: noon.Add(time.Hour)}
	signed := g.Sign(key)
	if got, err := fermata.OpenGrant(signed, key); err != nil || got.QuestionID != "q_1" {
		t.Errorf("%+v, %v", got, err)
	}
	parts := strings.Split(signed, ".")
	for name, bad := range map[string]string{
		"empty": "", "no signature": parts[0] + "." + parts[1], "empty signature": parts[0] + "." + parts[1] + ".",
		"other form": "fg2." + parts[1] + "." + parts[2], "changed": parts[0] + ".A" + parts[1][1:] + "." + parts[2], "cut": signed[:len(signed)-4],
		"of another key": g.Sign(other),
	} {
		if _, err := fermata.OpenGrant(bad, key); fermata.CodeOf(err) != fermata.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	h, i := []byte(`"h"`), []byte(`"i"`)
	if g.CheckAction(h, noon) != nil || g.CheckAction(i, noon) == nil || g.CheckAction(h, g.ExpiresAt) == nil {
		t.Error("a grant covers its action until it expires, and nothing else")
	}
}
