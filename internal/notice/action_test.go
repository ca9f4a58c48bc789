package notice

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestActionParts(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		`{"command":"cat <in >out && rm x"}`:                     "What will run: cat <in >out && rm x",
		`{"command":"cat \u003cin \u003eout \u0026\u0026 rm x"}`: "What will run: cat <in >out && rm x",
		`{"tool":"Bash","input":{"command":"a \\\n  b && c","description":"do it","timeout":1.0},"dir":"/w"}`: "What will run: a \\\n  b && c\n" +
			`with: "tool": "Bash"` + "\n" + `"input": {"description": "do it"}` + "\n" + `"input": {"timeout": 1.0}` + "\n" + `"dir": "/w"`,
		`{"cmd":["bash","-lc","echo 'a b' && ls"]}`:             `What will run: bash -lc 'echo '\''a b'\'' && ls'`,
		`{"tool":"Write","input":{"path":"a","content":"<b>"}}`: "What will run: " + `{` + "\n  \"tool\": \"Write\",\n  \"input\": {\n    \"path\": \"a\",\n    \"content\": \"<b>\"\n  }\n}",
		`{"command":"a","input":{"command":"b"}}`:               "What will run: {\n  \"command\": \"a\",\n  \"input\": {\n    \"command\": \"b\"\n  }\n}",
		`{"command":{"deep":1}}`:                                "What will run: {\n  \"command\": {\n    \"deep\": 1\n  }\n}",
		`"ls"`:                                                  `What will run: ls`,
		"{\"command\":\"rm \u202e\"}":                           "What will run: rm ⟨U+202E⟩",
	} {
		var said []string
		for _, part := range ActionParts([]byte(action)) {
			said = append(said, part.Head+": "+part.Text)
		}
		if got := strings.Join(said, "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", action, got, want)
		}
	}
}

// TestCommandForgesNoField checks that a command cannot pass for the fields of
// its action, which are below a heading by Fermata.
func TestCommandForgesNoField(t *testing.T) {
	t.Parallel()
	q := questionWith(fermata.Item{ResponseType: fermata.ResponseApproval})
	q.Action = json.RawMessage(`{"command":"ls\nwith:\n\"dir\": \"/safe\"","dir":"/"}`)
	text := Text(noticeOf(q))
	if !strings.Contains(text, "What will run:\n│ ls\n│ with:\n│ \"dir\": \"/safe\"\nwith:\n│ \"dir\": \"/\"\nsha256") {
		t.Errorf("got\n%s", text)
	}
}
