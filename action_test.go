package fermata

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestCanonicalActionShowsHTMLCharacters(t *testing.T) {
	t.Parallel()
	for action, want := range map[string]string{
		"{ \"command\" : \"a < b && c > d\" }":             `{"command":"a < b && c > d"}`,
		`{"command":"a \u003c b \u0026\u0026 c \u003E d"}`: `{"command":"a < b && c > d"}`,
		`{"a":"\\u0026 \\\u0026 \" \u0026","\u003ck":1.0}`: `{"a":"\\u0026 \\& \" &","<k":1.0}`,
		`{"a":"é \u00e9 \u2028 \ud83d\ude00 \u0027"}`:      `{"a":"é \u00e9 \u2028 \ud83d\ude00 \u0027"}`,
		`{"a":"\u002`:     `{"a":"\u002`,
		`"\u0026"`:        `"&"`,
		`not JSON \u0026`: `not JSON \u0026`,
	} {
		if got := string(CanonicalAction([]byte(action))); got != want {
			t.Errorf("%s is %s, want %s", action, got, want)
		}
	}
}

// TestHashSurvivesEncoders checks that the hash of an action is the same after
// any JSON encoder, and that the hashes of earlier versions stay valid.
func TestHashSurvivesEncoders(t *testing.T) {
	t.Parallel()
	action := []byte(`{"command":"cat <in >out && rm \\u0026"}`)
	escaped, err := json.Marshal(json.RawMessage(action))
	if err != nil || bytes.Equal(escaped, action) {
		t.Fatalf("%s, %v", escaped, err)
	}
	plain, err := ExactJSON(json.RawMessage(action))
	if err != nil || !bytes.Equal(plain, action) {
		t.Fatalf("%s, %v", plain, err)
	}
	stored := hashBytes(escaped)
	if HashAction(escaped) != HashAction(action) || HashAction(action) != hashBytes(action) {
		t.Error("an encoder changed the hash")
	}
	for _, form := range [][]byte{action, escaped} {
		if !HasHash(form, HashAction(action)) || !HasHash(form, stored) || HasHash(form, hashBytes(nil)) {
			t.Errorf("%s has other hashes than its own two", form)
		}
	}
}

func FuzzCanonicalAction(f *testing.F) {
	f.Add([]byte(`{"a":"\\u003c\u003c<\\\u0026"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var value, again any
		if json.Unmarshal(data, &value) != nil {
			return
		}
		canonical := CanonicalAction(data)
		if err := json.Unmarshal(canonical, &again); err != nil {
			t.Fatalf("%q became %q: %v", data, canonical, err)
		}
		before, _ := json.Marshal(value)
		after, _ := json.Marshal(again)
		if !bytes.Equal(before, after) || !bytes.Equal(CanonicalAction(canonical), canonical) {
			t.Fatalf("%q became %q", data, canonical)
		}
	})
}

func TestRepeatedKey(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`{"command":"ls","command":"rm"}`:              "command",
		`{"command":"ls","Command":"rm"}`:              "Command",
		`{"sudo":false,"ſudo":true}`:                   "ſudo",
		`{"key":1,"\u212aey":2}`:                       "\u212aey",
		`{"straße":1,"strasse":2,"ı":1,"i":2}`:         "",
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
