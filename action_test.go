package fermata

import "testing"

func TestRepeatedKey(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"command":"ls","command":"rm"}`:              "command",
		`{"command":"ls","Command":"rm"}`:              "Command",
		`{"a":{"x":1,"x":2}}`:                          "x",
		`[{"a":1},{"a":2},{"b":[{"c":1,"c":2}]}]`:      "c",
		`{"a":{"x":1},"b":{"x":2},"x":["a","a","b"]}`:  "",
		`{"a":"a","b":"b","c":["a",{"a":"b"}],"d":{}}`: "",
		`"text"`:                               "",
		`{"command":"ls","\u0063ommand":"rm"}`: "command",
	} {
		if got, found := repeatedKey([]byte(doc)); got != want || found != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", doc, got, found, want)
		}
	}
}
