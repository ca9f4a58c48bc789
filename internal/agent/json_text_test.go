package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/agent"
)

// firstJSON returns the likeliest JSON in a text, or "".
func firstJSON(text string) string {
	for _, part := range agent.JSONTexts(text) {
		if json.Valid([]byte(part)) {
			return strings.TrimSpace(part)
		}
	}
	return ""
}

func TestAPieceOfAValueIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{\"total\": 3, \"items\": [\n{\"id\": 1},\n{\"id\": 2}\n",
		"[[1,2],\n[3,4]\n",
		"{\"a\":\n {\"b\": 2}\n",
		"{\"a\":\n5\n",
		"[1,\n2\n",
		"[\n{\"a\": 1}\n",
		"[{\"a\": 1}",
		"{\"a\": 1",
		"{\"x\": {\"b\": 2}, \"name\": \"abc\n",
		"{\"good\": false, \"sub\":\n{\"good\": true}\n",
		"```json\n{\"good\": false, \"sub\":\n{\"good\": true}\n```",
		"First:\n```json\n{\"good\": true}\n```\nNo:\n```json\n{\"good\": fal",
		"log\n{\"good\": false, \"sub\":\n{\"good\": true},\n\"n\": NaN}\n",
		"[\n{\"id\": 1}\n{\"id\": 2}\n]\n",
		"{\"a\": 1,,\n\"b\":\n{\"c\": 2}\n}",
		"7},\n{\"id\": 8},\n{\"id\": 9}\n]}\n",
		"[info] starting\n{\"a\": [\n{\"b\": 1}\n",
	} {
		if got := firstJSON(text); got != "" {
			t.Errorf("%q gave %s", text, got)
		}
	}
}

func TestJSONIsFoundInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		" [1, 2]\n":                                                          "[1, 2]",
		"done\n[1,\n2]\n":                                                    "[1,\n2]",
		"done\n5\n":                                                          "5",
		"The result is {\"a\": {\"b\": []}}.":                                `{"a": {"b": []}}`,
		"{\"a\": 1}\n{\"a\": 2}\n":                                           `{"a": 2}`,
		"{\"a\": 1}\n[2]\nbye":                                               `[2]`,
		"[info] starting\n{\"a\": 1}\n":                                      `{"a": 1}`,
		"{not json}\n{\"a\": 1}\n":                                           `{"a": 1}`,
		"{not json: {\"a\": 1}}":                                             ``,
		"[1/3] build {\n{\"a\": 1}\n":                                        `{"a": 1}`,
		"[12:30:01] [ 0.5] go\n{\"a\": 1}\n":                                 `{"a": 1}`,
		"\x1b[32mok\x1b[0m [1;2m\n{\"a\": 1}":                                `{"a": 1}`,
		"{'a': 1}\n{\"a\": 1}\nbye [ok]\n":                                   `{"a": 1}`,
		"got {\"items\": [{\"id\": 1}, {\"id\"...\n{\"a\": 1}\n":             `{"a": 1}`,
		"{\"a\": 2, oops}\n{\"a\": 1}\n":                                     `{"a": 1}`,
		"x ]\n{\"a\": 1}\nas said :-]\n":                                     `{"a": 1}`,
		"{\"a\": 2}\n```json\n{\"a\": 1}\n```\nwith {\"b\": 2}":              `{"a": 1}`,
		"```sh\nmake\n```\n{\"a\": 1}":                                       `{"a": 1}`,
		"for x in {a,b}; do [ \"$x\" = a ]; done\n{\"a\": \"] }\"}\nready\n": `{"a": "] }"}`,
	} {
		if got := firstJSON(text); got != want {
			t.Errorf("%q gave %q, want %q", text, got, want)
		}
	}
}

// A report inside JSON that is not finished is no report of the program.
func TestThePieceOfAReport(t *testing.T) {
	t.Parallel()
	for output, isReport := range map[string]bool{
		"{\"x\": 1}\n{\"status\": \"completed\", \"summary\": \"x\"}":          true,
		"[\n{\"status\": \"completed\", \"summary\": \"x\"}":                   false,
		"{\"step\":\n{\"status\": \"completed\", \"summary\": \"x\"}":          false,
		"{\"status\": \"needs_input\", \"question\":\n{\"question\": \"Go?\"}": true, // and a broken one
	} {
		last := output[strings.LastIndexByte(output, '\n')+1:]
		if got := agent.LooksLikeReport(agent.LastBlock(last, output)); got != isReport {
			t.Errorf("%q: %v", output, got)
		}
	}
}

// The time does not grow with the square of the length: it would be minutes.
func TestManyBracketsAreReadInTime(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"[", "{", "[x", "{\"a\":1,x\n", `["`, "[]", "[[[x", "}", "[1,}", `[{"a":`, "[1] x ]"} {
		agent.JSONTexts(strings.Repeat(piece, 1<<18/len(piece)))
	}
	agent.JSONTexts("[1] x" + strings.Repeat(" ]", 1<<17))
}
