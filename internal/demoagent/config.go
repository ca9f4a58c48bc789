package demoagent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Formats of the file.
const (
	yaml     = "yaml"
	toml     = "toml"
	jsonText = "json"
)

// setting is one line of the configuration.
type setting struct{ key, value, description string }

func settings(name string) []setting {
	return []setting{
		{"name", name, "What the service calls itself in its log."},
		{"listen", "127.0.0.1:8080", "Address and port of the service."},
		{"log_level", "info", "One of debug, info, warn and error."},
	}
}

// choice is the decision about the file.
type choice struct {
	Format   string
	Comments bool
	// By says in words who decided.
	By string
}

// question returns the question about the two things that the repository does not show.
func question(name string, files []string) *fermata.Ask {
	preview := ""
	for _, format := range []string{yaml, toml, jsonText} {
		preview += "# config." + format + "\n" + render(settings(name), choice{Format: format, Comments: true}) + "\n"
	}
	return &fermata.Ask{
		Title: "How should the configuration file of " + name + " look?",
		Body: "The task asks for a configuration file. I looked at the repository (" + strings.Join(files, ", ") +
			") and found nothing that says which format you use.\n\nThe README section is drafted. The file itself waits for your answer.",
		Items: []fermata.Item{
			{
				Key: "format", Header: "Format", Prompt: "Which format should the file have?", ResponseType: fermata.ResponseChoice,
				Options: []fermata.Option{
					{Value: yaml, Label: "YAML", Description: "Easy to read and edit by hand, and the most common for services.", Recommended: true},
					{Value: toml, Label: "TOML", Description: "Strict and flat; no surprises with indentation."},
					{Value: jsonText, Label: "JSON", Description: "Every language reads it, but it can hold no comments."},
				},
				Default: yaml,
			},
			{
				Key: "comments", Header: "Comments", Prompt: "Should every setting have a comment that explains it?",
				ResponseType: fermata.ResponseBoolean, Default: true,
			},
		},
		Context:   &fermata.QuestionContext{Step: "2 of 4: the README is drafted", Preview: &fermata.Preview{Kind: "text", Text: preview}},
		Other:     new(false),
		DedupeKey: "config-format",
	}
}

// latestDecision returns the latest decision about the format that a run was handed.
func latestDecision(rc *fermata.ResumeContext) (choice, bool) {
	for i := len(rc.Questions) - 1; i >= 0; i-- {
		r := rc.Questions[i].Resolution
		if r == nil {
			continue
		}
		c := choice{By: decidedBy(r)}
		var ok bool
		if c.Format, ok = r.Answers["format"].(string); !ok {
			continue
		}
		c.Comments, _ = r.Answers["comments"].(bool)
		return c, true
	}
	return choice{}, false
}

// decidedBy returns who decided, in words. A timeout or a rule is never presented as a person.
func decidedBy(r *fermata.Resolution) string {
	switch {
	case r.Status == fermata.TimedOut:
		return "by default, as nobody answered in time"
	case r.AnsweredBy != nil && r.AnsweredBy.Name != "":
		return "by " + r.AnsweredBy.Name
	default:
		return "by " + string(r.DecidedBy)
	}
}

// render returns the text of the file. JSON has no comments, so there are none in it.
func render(values []setting, c choice) string {
	var sb strings.Builder
	if c.Format == jsonText {
		sb.WriteString("{\n")
	}
	for i, s := range values {
		if c.Comments && c.Format != jsonText {
			fmt.Fprintf(&sb, "# %s\n", s.description)
		}
		switch c.Format {
		case toml:
			fmt.Fprintf(&sb, "%s = %q\n", s.key, s.value)
		case jsonText:
			comma := ","
			if i == len(values)-1 {
				comma = ""
			}
			fmt.Fprintf(&sb, "  %q: %q%s\n", s.key, s.value, comma)
		default:
			fmt.Fprintf(&sb, "%s: %q\n", s.key, s.value)
		}
	}
	if c.Format == jsonText {
		sb.WriteString("}\n")
	}
	return sb.String()
}

// verify reads the file back and compares its values with the settings.
func (a *agent) verify(file string, values []setting, c choice) error {
	data, err := os.ReadFile(filepath.Join(a.dir, file))
	if err != nil {
		return err
	}
	got, err := parse(string(data), c.Format)
	if err != nil {
		return err
	}
	for _, s := range values {
		if got[s.key] != s.value {
			return fmt.Errorf("%s is %q, must be %q", s.key, got[s.key], s.value)
		}
	}
	return nil
}

// parse reads the plain form that render writes: a string for every key.
func parse(text, format string) (map[string]string, error) {
	got := map[string]string{}
	if format == jsonText {
		return got, json.Unmarshal([]byte(text), &got)
	}
	separator := ": "
	if format == toml {
		separator = " = "
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, quoted, ok := strings.Cut(line, separator)
		value, err := strconv.Unquote(quoted)
		if !ok || err != nil {
			return nil, fmt.Errorf("the line %q is no setting", line)
		}
		got[key] = value
	}
	return got, nil
}

// draftSection returns the section of the README before the answer.
func draftSection(name string) string {
	return "\nDraft: " + name + " will read its settings from one file. Its format is being decided.\n"
}

// finalSection returns the section of the README when the file exists.
func finalSection(file string, values []setting) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "\nThe settings are in `%s`.\n\n| setting | value | meaning |\n| --- | --- | --- |\n", file)
	for _, s := range values {
		fmt.Fprintf(&sb, "| `%s` | `%s` | %s |\n", s.key, s.value, s.description)
	}
	return sb.String()
}
