package workflow

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// checkOutput checks an output against a JSON Schema. The error lists every mismatch, and ends with the hint. It is not
// permanent, because the next output may be different.
func checkOutput(schema json.RawMessage, v any, hint string) error {
	wrong, err := findMismatch(schema, v)
	switch {
	case err != nil:
		return permanentError(codeOutput, err)
	case wrong != nil:
		return &stepError{code: codeOutput, err: mismatchError(wrong, "output", hint)}
	}
	return nil
}

// findMismatch returns why a value does not fit a JSON Schema, or nil if it fits. An empty schema fits every value. err
// says that the schema or the value is none.
func findMismatch(schema json.RawMessage, v any) (mismatch, err error) {
	if len(schema) == 0 {
		return nil, nil
	}
	c, err := compile(schema)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(encodeJSON(v)))
	if err != nil {
		return nil, err
	}
	return c.Validate(doc), nil
}

// Limits of the cache of compiled schemas: how many there are, and how many
// bytes their sources have together.
const (
	maxCachedSchemas     = 500
	maxCachedSchemaBytes = 8 << 20
)

// compiledSchemas caches compiled schemas by the hash of their source. Every
// call of a step uses one, and compiling takes longer than most checks. It is
// safe for concurrent use.
var compiledSchemas schemaCache

type schemaCache struct {
	mu     sync.Mutex
	byHash map[[sha256.Size]byte]*jsonschema.Schema
	bytes  int
}

// schemaOf returns a compiled schema, from the cache if it is there. An invalid
// schema is not cached.
func (k *schemaCache) schemaOf(schema json.RawMessage, compile func(json.RawMessage) (*jsonschema.Schema, error)) (*jsonschema.Schema, error) {
	hash := sha256.Sum256(schema)
	k.mu.Lock()
	known := k.byHash[hash]
	k.mu.Unlock()
	if known != nil {
		return known, nil
	}
	compiled, err := compile(schema)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byHash == nil || len(k.byHash) >= maxCachedSchemas || k.bytes+len(schema) > maxCachedSchemaBytes {
		k.byHash, k.bytes = map[[sha256.Size]byte]*jsonschema.Schema{}, 0
	}
	if k.byHash[hash] == nil {
		k.byHash[hash] = compiled
		k.bytes += len(schema)
	}
	return compiled, nil
}

// compile compiles a schema. The schema may contain references to itself, but
// to nothing outside.
func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	return compiledSchemas.schemaOf(schema, compileUncached)
}

func compileUncached(schema json.RawMessage) (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the schema of the output is no JSON: %s", err)
	}
	compiled, err := definition.CompileSchema(value)
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the schema of the output is not valid: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return compiled, nil
}

// maxMismatches limits how many mismatches an error lists.
const maxMismatches = 20

// Hints of errors about values that do not fit their schema.
const (
	hintAgentOutput   = "say in the prompt what is expected, or let the schema allow it; with on_error: ask, a person decides"
	hintCommandOutput = "print the result as JSON on standard output, and everything else on standard error; or write it to the file in FERMATA_RESULT, as {\"status\": \"completed\", \"details\": …}"
	hintMessageOutput = hintAgentOutput + "; a command prints the result as JSON on standard output"
	hintInput         = "fermata workflow tools show %s says what the tool takes; the run can be tried again with another input"
)

// outputHint returns what to do about an output that does not fit its schema.
func outputHint(isCommand bool) string {
	if isCommand {
		return hintCommandOutput
	}
	return hintAgentOutput
}

// Causes of a mismatch if a task gave no JSON at all.
var (
	errNoJSON        = errors.New("no JSON was found in what the task gave")
	errNoCommandJSON = errors.New("no JSON was found in what the command printed")
)

// mismatchError returns the error for an input or an output that does not fit its schema.
func mismatchError(err error, what, hint string) *fermata.Error {
	if err == errNoJSON || err == errNoCommandJSON { //nolint:errorlint // nothing wraps them
		return fermata.Errorf(fermata.CodeInvalidRequest, "%w", err).WithHint("%s", hint)
	}
	var wrong *jsonschema.ValidationError
	if !errors.As(err, &wrong) {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the %s cannot be checked: %w", what, err)
	}
	var problems []fermata.Problem
	for _, leaf := range mismatchLeaves(wrong) {
		problems = append(problems, fermata.Problem{Field: definition.PathOf(leaf.InstanceLocation), Message: leaf.ErrorKind.LocalizedString(english)})
	}
	slices.SortStableFunc(problems, func(a, b fermata.Problem) int { return strings.Compare(a.Field, b.Field) })
	if len(problems) > maxMismatches {
		more := len(problems) - maxMismatches
		problems = append(problems[:maxMismatches], fermata.Problem{Message: fmt.Sprintf("and %d more", more)})
	}
	lines := make([]string, 0, len(problems))
	for _, p := range problems {
		lines = append(lines, strings.TrimPrefix(p.Field+": "+p.Message, ": "))
	}
	e := fermata.Errorf(fermata.CodeInvalidRequest, "the %s does not fit its schema: %s", what, strings.Join(lines, "; ")).WithHint("%s", hint)
	e.Problems = problems
	return e
}

var english = message.NewPrinter(language.English)

// mismatchLeaves returns each mismatch that a schema found.
func mismatchLeaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		all = append(all, mismatchLeaves(cause)...)
	}
	return all
}
