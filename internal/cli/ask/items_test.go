package ask_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/clitest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// requestServer is a server that stores the bodies that it receives.
type requestServer struct {
	url    string
	bodies chan map[string]any
}

func newRequestServer(t *testing.T) *requestServer {
	t.Helper()
	k := &requestServer{bodies: make(chan map[string]any, 10)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		var body map[string]any
		if err == nil {
			err = json.Unmarshal(data, &body)
		}
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		k.bodies <- body
		_, _ = io.WriteString(w, `{"id":"q_1"}`)
	}))
	t.Cleanup(server.Close)
	k.url = server.URL
	return k
}

// runAndReadBody runs the command line and returns the body that it sends.
func (k *requestServer) runAndReadBody(t *testing.T, stdin string, args ...string) map[string]any {
	t.Helper()
	code, _, talk := clitest.Run(t, stdin, append([]string{"--url", k.url}, args...)...)
	if code != session.ExitOK {
		t.Fatalf("%q: exit code %d\n%s", args, code, talk)
	}
	return <-k.bodies
}

// fillValue sets every field of a value.
func fillValue(t *testing.T, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes([]byte(`{"command":"deploy <512> & wait","deep":[1,{"a":null}]}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("some text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf("any"))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillValue(t, v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillValue(t, key)
		fillValue(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(t, v.Field(i))
		}
	default:
		t.Fatalf("a request holds a %s", v.Type())
	}
}

// wholeRequest returns a request with every field set, at every depth.
func wholeRequest(t *testing.T) (doc string, fields map[string]any) {
	t.Helper()
	var o client.OutsideQuestion
	fillValue(t, reflect.ValueOf(&o).Elem())
	data, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data), fields
}

func TestAFileOfItemsIsSentWhole(t *testing.T) {
	t.Parallel()
	doc, want := wholeRequest(t)
	k := newRequestServer(t)
	for name, got := range map[string]map[string]any{
		"file":           k.runAndReadBody(t, "", "ask", "--items", clitest.WriteFile(t, "request.json", doc)),
		"standard input": k.runAndReadBody(t, doc, "ask", "--items", "-"),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	list := `[{"prompt":"Where?","options":["a","b"]},{"prompt":"When?","response_type":"date"}]`
	got := k.runAndReadBody(t, "", "ask", "The release", "--items", clitest.WriteFile(t, "items.json", list), "--risk", "high")
	if got["title"] != "The release" || got["question"] != nil || got["risk"] != "high" || len(got["items"].([]any)) != 2 {
		t.Errorf("a list of items was sent as %v", got)
	}
}

// flagsOfAsk maps every field of a request to the flags that set it, and to the
// value that is sent then. Items and questions can only be given in a file.
var flagsOfAsk = map[string]struct {
	args []string
	want string
}{
	"project":              {[]string{"--project", "shop"}, `"shop"`},
	"session":              {[]string{"--session", "s"}, `"s"`},
	"type":                 {[]string{"--kind", "error_recovery"}, `"error_recovery"`},
	"title":                {[]string{"--title", "The release"}, `"The release"`},
	"body":                 {[]string{"--body", "*more*"}, `"*more*"`},
	"context":              {[]string{"--context", "a|b", "--context-kind", "table", "--step", "migrate", "--error", "it broke"}, `{"step":"migrate","error":"it broke","preview":{"kind":"table","text":"a|b"}}`},
	"question":             {nil, `"Go?"`},
	"response_type":        {[]string{"--type", "number"}, `"number"`},
	"options":              {[]string{"-o", "a=A", "-o", "b", "--danger", "b"}, `[{"value":"a","label":"A"},{"value":"b","danger":true}]`},
	"other":                {[]string{"--other"}, `true`},
	"default":              {[]string{"--default", "fine"}, `"fine"`},
	"action":               {[]string{"--action", `{"command":"deploy 512"}`}, `{"command":"deploy 512"}`},
	"assignees":            {[]string{"--assign", "anna,group:ops"}, `["anna","group:ops"]`},
	"approvals":            {[]string{"--approvals", "2", "--self-approval", "--reject-at", "majority"}, `{"required":2,"self":true,"reject":"majority"}`},
	"timeout":              {[]string{"--timeout", "3d"}, `"3d"`},
	"on_timeout":           {[]string{"--on-timeout", "skip"}, `"skip"`},
	"escalation":           {[]string{"--escalation", `{"assignees":["bob"],"channels":["pager"],"timeout":"1h","on_timeout":"fail"}`}, `[{"assignees":["bob"],"channels":["pager"],"timeout":"1h","on_timeout":"fail"}]`},
	"channels":             {[]string{"--via", "slack"}, `["slack"]`},
	"reminders":            {[]string{"--remind", "10m", "--remind", "2h"}, `["10m","2h"]`},
	"share_context":        {[]string{"--share-context"}, `true`},
	"allow_danger_default": {[]string{"--allow-danger-default"}, `true`},
	"priority":             {[]string{"--priority", "0"}, `0`},
	"confidence":           {[]string{"--confidence", "0"}, `0`},
	"risk":                 {[]string{"--risk", "critical"}, `"critical"`},
	"idempotency_key":      {[]string{"--key", "k"}, `"k"`},
	"run_id":               {[]string{"--run", "run_1"}, `"run_1"`},
	"dedupe_key":           {[]string{"--session", "s", "--dedupe-key", "d"}, `"d"`},
	"callback_url":         {[]string{"--callback-url", "https://example.com/"}, `"https://example.com/"`},
	"state":                {[]string{"--state", `{"step":3}`}, `{"step":3}`},
	"metadata":             {[]string{"--metadata", "a=1,2", "--metadata", "b=x=y"}, `{"a":"1,2","b":"x=y"}`},
}

func TestEveryFieldOfARequestHasAFlag(t *testing.T) {
	t.Parallel()
	_, all := wholeRequest(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if name == "items" || name == "questions" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flag, ok := flagsOfAsk[name]
			if !ok {
				t.Fatalf("fermata ask has no flag for %s", name)
			}
			var want any
			if err := json.Unmarshal([]byte(flag.want), &want); err != nil {
				t.Fatal(err)
			}
			got := newRequestServer(t).runAndReadBody(t, "", append([]string{"ask", "Go?"}, flag.args...)...)
			if diff := cmp.Diff(want, got[name]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

func TestAFieldIsSaidOnce(t *testing.T) {
	t.Parallel()
	_, all := wholeRequest(t)
	for name, flag := range flagsOfAsk {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := json.Marshal(map[string]any{name: all[name]})
			if err != nil {
				t.Fatal(err)
			}
			args := append([]string{"--url", "http://127.0.0.1:1", "ask", "--items", clitest.WriteFile(t, "request.json", string(doc))}, flag.args...)
			if name == "question" {
				args = append(args, "Go?")
			}
			code, _, talk := clitest.Run(t, "", args...)
			if code != session.ExitUsage || !strings.Contains(talk, "says "+name+",") {
				t.Errorf("exit code %d: %s", code, talk)
			}
		})
	}
}

func TestAFileOfItemsIsReadStrictly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, field, says string }{
		"unknown":           {`{"question":"Deploy 512?","sesion":"s"}`, "sesion", "no known field"},
		"other case":        {`{"question":"Deploy 512?","Risk":"high"}`, "Risk", "no known field"},
		"twice":             {`{"question":"Deploy 512?","risk":"high","risk":"low"}`, "risk", "stands twice"},
		"twice in action":   {`{"question":"Deploy 512?","action":{"a":1,"a":2}}`, "action.a", "stands twice"},
		"unknown in item":   {`[{"prompt":"Where?","optoins":["a"]}]`, "[0].optoins", "no known field"},
		"unknown in option": {`{"question":"Where?","options":[{"valeu":"a"}]}`, "options[0].valeu", "no known field"},
		"other type":        {`{"question":"Deploy 512?","risk":3}`, "risk", "number"},
		"cut off":           {`{"question":"Deploy 512?`, "question", "ends too early"},
		"two documents":     {`{"question":"Deploy 512?"}{}`, "", "not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, out, talk := clitest.Run(t, "", "--url", "http://127.0.0.1:1", "ask", "--items", clitest.WriteFile(t, "request.json", c.doc))
			if code != session.ExitUsage || out != "" || !strings.Contains(talk, strings.TrimPrefix(c.field, "[0].")) || !strings.Contains(talk, c.says) {
				t.Errorf("exit code %d: %s", code, talk)
			}
		})
	}
}

func TestADefaultBesideItems(t *testing.T) {
	t.Parallel()
	k := newRequestServer(t)
	one := clitest.WriteFile(t, "one.json", `[{"prompt":"Where?","options":["a","b"]}]`)
	two := clitest.WriteFile(t, "two.json", `[{"key":"n","prompt":"How many?","response_type":"number"},{"key":"who","prompt":"Who?"}]`)
	if got := k.runAndReadBody(t, "", "ask", "--items", one, "--default", "2"); got["default"] != "b" {
		t.Errorf("the default of one item was sent as %v", got["default"])
	}
	want := any(map[string]any{"n": 3.0, "who": "anna"})
	if got := k.runAndReadBody(t, "", "ask", "--items", two, "--default", `{"n":3,"who":"anna"}`); cmp.Diff(want, got["default"]) != "" {
		t.Errorf("the defaults of two items were sent as %v", got["default"])
	}
	if code, _, talk := clitest.Run(t, "", "--url", k.url, "ask", "--items", two, "--default", "3"); code != session.ExitUsage || !strings.Contains(talk, "by their keys") {
		t.Errorf("exit code %d: %s", code, talk)
	}
}

func TestATaskIsNotDropped(t *testing.T) {
	t.Parallel()
	code, _, talk := clitest.Run(t, "", "--url", "http://127.0.0.1:1", "ask", "Go?", "--task", "3f9k2a", "--session", "s")
	if code != session.ExitUsage || !strings.Contains(talk, "--task") {
		t.Errorf("exit code %d: %s", code, talk)
	}
}

func TestHalfADocumentIsNoText(t *testing.T) {
	t.Parallel()
	for _, action := range []string{`{"command":"rm -r old"`, `["rm","-r"`, `{"a":1,"a":2}`} {
		code, _, talk := clitest.Run(t, "", "--url", "http://127.0.0.1:1", "ask", "Go?", "--action", action)
		if code != session.ExitUsage || !strings.Contains(talk, "--action") {
			t.Errorf("%s: exit code %d: %s", action, code, talk)
		}
	}
}

func TestMarksNeedOptions(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--multi", "--type", "choice", "-o", "a"}, {"--approvals", "0"}, {"--context-kind", "diff"}} {
		if code, _, talk := clitest.Run(t, "", append([]string{"--url", "http://127.0.0.1:1", "ask", "Go?"}, args...)...); code != session.ExitUsage || !strings.HasPrefix(talk, "error: "+args[0]) {
			t.Errorf("%q: exit code %d: %s", args, code, talk)
		}
	}
}
