package github_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fermata-hq/fermata"
	channel "github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/tool/github"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

// world is a fake GitHub with the tools that use it.
type world struct {
	testkit.Test
	hub   *standin.Server
	tools map[string]tool.Tool
	// settings are the settings of the channel; nil means that there is no
	// channel.
	settings map[string]any
	call     tool.Call
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Test: testkit.Test{T: t}, hub: standin.New(), tools: map[string]tool.Tool{}}
	t.Cleanup(w.hub.Close)
	w.settings = w.hub.Settings()
	w.call = tool.Call{
		Workspace: "ws_1", Workflow: "autofix", RunID: "task_1", Step: "step", Key: "task_1/step/1",
		Inputs: map[string]any{"issue": float64(standin.Issue)},
	}
	for _, one := range github.New(github.Options{Settings: w.channel, HTTP: outbound.Client(outbound.Options{AllowPrivate: true})}) {
		w.tools[one.Info().Name] = one
	}
	return w
}

func (w *world) channel(context.Context, string) (channel.Settings, error) {
	if w.settings == nil {
		return channel.Settings{}, fermata.NotFound("channel of the kind", "github")
	}
	raw, err := json.Marshal(w.settings)
	if err != nil {
		return channel.Settings{}, err
	}
	return channel.ReadSettings(raw)
}

// try calls a tool.
func (w *world) try(name string, input map[string]any) (map[string]any, error) {
	w.Helper()
	one := w.tools[name]
	if one == nil {
		w.Fatalf("there is no tool %s", name)
	}
	call := w.call
	call.Input = input
	if input != nil {
		check(w.T, one.Info().Input, input)
	}
	r, err := one.Call(w.Context(), call)
	if err != nil {
		return nil, err
	}
	check(w.T, one.Info().Output, r.Output)
	if r.Note == "" {
		w.Errorf("%s has nothing to say", name)
	}
	return r.Output.(map[string]any), nil
}

// do calls a tool that must succeed.
func (w *world) do(name string, input map[string]any) map[string]any {
	w.Helper()
	out, err := w.try(name, input)
	if err != nil {
		w.Fatalf("%s: %v", name, err)
	}
	return out
}

// mustFail calls a tool that must fail, permanently or not, with these words in
// the message or the hint.
func (w *world) mustFail(name string, input map[string]any, permanent bool, words ...string) {
	w.Helper()
	out, err := w.try(name, input)
	var f tool.Failure
	var e *fermata.Error
	if !errors.As(err, &f) || !errors.As(err, &e) || f.Permanent() != permanent {
		w.Fatalf("%s gave %v %v, want a failure", name, out, err)
	}
	for _, word := range words {
		if !strings.Contains(e.Message+" | "+e.Hint, word) {
			w.Errorf("%s failed with %q, hint %q, want %q in it", name, e.Message, e.Hint, word)
		}
	}
}

// check compares a value with a schema.
func check(t *testing.T, schema json.RawMessage, value any) {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	testkit.OK(t, err)
	c := jsonschema.NewCompiler()
	testkit.OK(t, c.AddResource("schema.json", parsed))
	compiled, err := c.Compile("schema.json")
	testkit.OK(t, err)
	raw, err := json.Marshal(value)
	testkit.OK(t, err)
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	testkit.OK(t, err)
	if err := compiled.Validate(instance); err != nil {
		t.Errorf("%s does not fit its schema: %v", raw, err)
	}
}

// count returns how often a request was sent since the last call of count.
func (w *world) count(request string) int {
	n := 0
	for _, r := range w.hub.Requests() {
		if strings.HasPrefix(r, request) {
			n++
		}
	}
	return n
}

func has(value any, want string) bool {
	l, _ := value.([]any)
	return slices.Contains(l, any(want))
}

// soon returns a time in one minute, at which rate limits end.
func soon() time.Time { return time.Now().Add(time.Minute) }
