package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestSchemasAreCompiledOnce(t *testing.T) {
	t.Parallel()
	var k schemaCache
	var mu sync.Mutex
	count := 0
	compile := func(schema json.RawMessage) (*jsonschema.Schema, error) {
		mu.Lock()
		defer mu.Unlock()
		count++
		return compileUncached(schema)
	}
	for range 3 {
		for _, source := range []string{`{"type":"string"}`, `{"type":"number"}`} {
			s, err := k.schemaOf(json.RawMessage(source), compile)
			if err != nil || s.Validate("x") == nil != strings.Contains(source, "string") {
				t.Fatalf("%s: %v", source, err)
			}
		}
		if _, err := k.schemaOf(json.RawMessage(`{"type":"strin"}`), compile); err == nil {
			t.Fatal("a schema that is none is taken")
		}
	}
	if count != 2+3 {
		t.Errorf("compiled %d times", count)
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			s, err := k.schemaOf(json.RawMessage(`{"type":"string"}`), compile)
			if err != nil || s.Validate("x") != nil || s.Validate(3.0) == nil {
				t.Errorf("side by side: %v", err)
			}
		})
	}
	together.Wait()
}

func TestCompiledSchemasAreBounded(t *testing.T) {
	t.Parallel()
	one, err := compileUncached(json.RawMessage(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	var k schemaCache
	for i := range 3 * maxCachedSchemas {
		if _, err := k.schemaOf(json.RawMessage(fmt.Sprint(i)), func(json.RawMessage) (*jsonschema.Schema, error) { return one, nil }); err != nil {
			t.Fatal(err)
		}
		if len(k.byHash) > maxCachedSchemas {
			t.Fatalf("%d are kept", len(k.byHash))
		}
	}
	for i := range 20 {
		long := json.RawMessage(fmt.Sprint(i) + strings.Repeat(" ", 1<<20))
		if _, err := k.schemaOf(long, func(json.RawMessage) (*jsonschema.Schema, error) { return one, nil }); err != nil {
			t.Fatal(err)
		}
		if k.bytes > maxCachedSchemaBytes {
			t.Fatalf("%d bytes are kept", k.bytes)
		}
	}
	if _, err := k.schemaOf(nil, func(json.RawMessage) (*jsonschema.Schema, error) { return nil, errors.New("no") }); err == nil {
		t.Error("an error is kept back")
	}
}
