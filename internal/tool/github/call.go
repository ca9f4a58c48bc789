package github

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/tool"
)

// toolCall is one call of a tool, with the GitHub account that it uses.
type toolCall struct {
	account
	call tool.Call
}

// target holds the fields in which an input names its repository or issue.
type target struct {
	Repo  string `json:"repo"`
	Issue any    `json:"issue"`
}

// repository returns the repository that the input names, else the one whose
// event started the run, else the channel's.
func (d *toolCall) repository(w target) (github.Place, error) {
	name := firstNonBlank(w.Repo, textOf(d.call.Trigger["repository"]), d.settings.Repository)
	if name == "" {
		return github.Place{}, fermata.Errorf(fermata.CodeInvalidRequest, "it is not said which repository is meant").
			WithHint("give repo: owner/repo in the step, or set the repository of the channel")
	}
	at, err := github.ParseRepository(name)
	if err != nil {
		return at, err
	}
	return at, d.checkAllowed(at)
}

// issue returns the issue that the input names, else the one in the run's
// inputs, else the one whose event started the run.
func (d *toolCall) issue(w target) (github.Place, error) {
	at, named, err := d.findIssue(w)
	if err == nil && !named {
		return at, fermata.Errorf(fermata.CodeInvalidRequest, "it is not said which issue is meant").
			WithHint("give issue in the step, or start the run with an input named issue")
	}
	return at, err
}

// findIssue returns the same issue as [toolCall.issue]. named reports whether
// there is one.
func (d *toolCall) findIssue(w target) (at github.Place, named bool, err error) {
	name := firstNonBlank(textOf(w.Issue), textOf(d.call.Inputs["issue"]), textOf(d.call.Trigger["issue"]))
	if name == "" {
		return at, false, nil
	}
	defaultRepo := firstNonBlank(w.Repo, textOf(d.call.Trigger["repository"]), d.settings.Repository)
	if at, err = github.ParsePlace(name, defaultRepo); err != nil {
		return at, true, err
	}
	return at, true, d.checkAllowed(at)
}

// checkAllowed refuses repositories that the settings of the channel do not
// allow. So the words of an agent cannot make the account write to any other
// repository.
func (d *toolCall) checkAllowed(at github.Place) error {
	if d.settings.Allows(at) {
		return nil
	}
	return fermata.Errorf(fermata.CodeForbidden, "the GitHub channel may not work on %s", at.Repository()).
		WithHint("add it to the channel's repositories")
}

// workingBranch returns the branch on which the steps of the run work.
func (d *toolCall) workingBranch() string { return "fermata/" + d.call.RunID }

// read decodes the input of the call.
func (d *toolCall) read(into any) error { return tool.DecodeInput(d.call.Input, into) }

// firstNonBlank returns the first text that is not blank, trimmed.
func firstNonBlank(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

// textOf returns a name or a number as a person writes it.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// toList converts a list of texts for an output.
func toList(texts []string) []any {
	all := make([]any, 0, len(texts))
	for _, t := range texts {
		all = append(all, t)
	}
	return all
}
