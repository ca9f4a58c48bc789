package delivery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/fermata-hq/fermata"
)

// maxSecretFileSize is the largest size of a file with a secret, in bytes.
const maxSecretFileSize = 64 << 10

// resolveSecrets reads the secrets that are stored elsewhere, as env:NAME or file:/path.
func (k Kind) resolveSecrets(stored map[string]any) (map[string]any, error) {
	resolved := maps.Clone(stored)
	for _, name := range k.Secrets {
		given, ok := resolved[name].(string)
		if !ok {
			continue
		}
		secret, err := readSecret(name, given)
		if err != nil {
			return nil, err
		}
		resolved[name] = secret
	}
	return resolved, nil
}

func readSecret(name, given string) (string, error) {
	field := "settings." + name
	if variable, ok := strings.CutPrefix(given, "env:"); ok {
		secret := os.Getenv(variable)
		if secret == "" {
			return "", fermata.Invalid(fermata.Problem{Field: field, Message: "the server has no environment variable " + variable}).
				WithHint("set %s where the server is started, and start it again", variable)
		}
		return secret, nil
	}
	path, ok := strings.CutPrefix(given, "file:")
	if !ok {
		return given, nil
	}
	secret, problem := readSecretFile(path)
	if problem != "" {
		return "", fermata.Invalid(fermata.Problem{Field: field, Message: problem}).
			WithHint("put the secret there as text, readable for the user that the server runs as")
	}
	return secret, nil
}

// readSecretFile reads a secret from a file of the server, or returns a text that says what is wrong with the file. The
// text does not contain the system's error message, because that must not be sent to callers.
func readSecretFile(path string) (secret, problem string) {
	file, err := os.Open(path)
	if err != nil {
		return "", "the server cannot read the file " + path
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxSecretFileSize+1))
	secret = strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return "", "the server cannot read the file " + path
	case len(data) > maxSecretFileSize:
		return "", fmt.Sprintf("the file %s has more than %d bytes", path, maxSecretFileSize)
	case secret == "":
		return "", fmt.Sprintf("the file %s is empty", path)
	case !utf8.Valid(data):
		return "", fmt.Sprintf("the file %s is not valid UTF-8", path)
	}
	return secret, ""
}

// check returns an error that lists what is wrong with settings.
func (k Kind) check(settings map[string]any) error {
	if len(k.Settings) == 0 {
		return nil
	}
	schema, err := k.schema()
	if err != nil {
		return fermata.Internal("read the schema of "+k.Name, err)
	}
	data, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	var wrong *jsonschema.ValidationError
	if err := schema.Validate(value); errors.As(err, &wrong) {
		return fermata.Invalid(problemsOf(wrong, readDescriptions(k.Settings))...).WithHint("fermata channel kinds tells what each setting is")
	}
	return err
}

func (k Kind) schema() (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(k.Settings))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("settings.json", value); err != nil {
		return nil, err
	}
	return compiler.Compile("settings.json")
}

var english = message.NewPrinter(language.English)

// readDescriptions returns the description of each setting in a schema.
func readDescriptions(schema json.RawMessage) map[string]string {
	var read struct {
		Properties map[string]struct{ Description string }
	}
	if json.Unmarshal(schema, &read) != nil {
		return nil
	}
	descriptions := map[string]string{}
	for name, property := range read.Properties {
		descriptions[name] = property.Description
	}
	return descriptions
}

// problemsOf lists the violations of a schema, without the values, because these may be secrets.
func problemsOf(e *jsonschema.ValidationError, descriptions map[string]string) []fermata.Problem {
	if len(e.Causes) == 0 {
		field := strings.Join(append([]string{"settings"}, e.InstanceLocation...), ".")
		return []fermata.Problem{{Field: field, Message: describeViolation(e, descriptions)}}
	}
	var all []fermata.Problem
	for _, cause := range e.Causes {
		all = append(all, problemsOf(cause, descriptions)...)
	}
	return all
}

// describeViolation returns a text that says what is wrong. For patterns and formats it quotes the description of the
// setting, which names the form. For these and for constants it does not contain the value.
func describeViolation(e *jsonschema.ValidationError, descriptions map[string]string) string {
	path := e.ErrorKind.KeywordPath()
	switch {
	case slices.Contains(path, "pattern"), slices.Contains(path, "format"):
		text := "does not have the expected form"
		if len(e.InstanceLocation) > 0 && descriptions[e.InstanceLocation[0]] != "" {
			text += ": " + descriptions[e.InstanceLocation[0]]
		}
		return text
	case slices.Contains(path, "const"), slices.Contains(path, "not"):
		return "is not what is expected"
	default:
		return e.ErrorKind.LocalizedString(english)
	}
}

// hideSecrets returns the channel as it is shown: with the names of its secrets, but without the values.
func (s *Service) hideSecrets(c *fermata.Channel) *fermata.Channel {
	shown := *c
	shown.Settings, shown.SecretsSet = maps.Clone(c.Settings), nil
	k, known := s.kind(c.Kind)
	if !known {
		// For an unknown kind, this server does not know which settings are secret.
		shown.Settings = map[string]any{}
		return &shown
	}
	for _, name := range k.Secrets {
		if v, ok := shown.Settings[name]; ok && v != nil && v != "" {
			shown.SecretsSet = append(shown.SecretsSet, name)
		}
		delete(shown.Settings, name)
	}
	if k.hasFixedSettings(c) {
		shown.Settings = map[string]any{}
	}
	return &shown
}
