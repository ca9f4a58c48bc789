package github

import (
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
)

// anyRepository stands for the repository of the event or of the channel, which an input need not name.
const anyRepository = "owner/repo"

// checkInput returns an error if an input names a repository or an issue in a form that is none, or breaks a rule of the
// tool.
func (o *githubTool) checkInput(input map[string]any) error {
	var refusals []error
	repo, _ := input["repo"].(string)
	repo = firstNonBlank(repo, anyRepository)
	if _, err := github.ParseRepository(repo); err != nil {
		refusals = append(refusals, addField("repo", err))
		repo = anyRepository
	}
	for _, field := range []string{"issue", "pull"} {
		if name := firstNonBlank(textOf(input[field])); name != "" {
			_, err := github.ParsePlace(name, repo)
			refusals = append(refusals, addField(field, err))
		}
	}
	if o.check != nil {
		refusals = append(refusals, o.check(input))
	}
	return fermata.JoinRefusals(refusals...)
}

// addField returns an error as the problem of a field of the input.
func addField(field string, err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	if e, ok := err.(*fermata.Error); ok { //nolint:errorlint // nothing wraps the errors of this package
		hint = e.Hint
	}
	return fermata.Invalid(fermata.Problem{Field: field, Message: err.Error()}).WithHint("%s", hint)
}

// checkSince returns an error if an input says since when, and not by an instant.
func checkSince(input map[string]any) error {
	text, _ := input["since"].(string)
	_, err := parseInstant(text)
	return addField("since", err)
}

// parseInstant parses an optional instant.
func parseInstant(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fermata.Errorf(fermata.CodeInvalidRequest, "%q is no instant", text).WithHint("write it as 2026-11-28T09:00:00Z")
	}
	return t, nil
}

// checkQuery returns an error if a query names a place, because the place is in another field.
func checkQuery(input map[string]any) error {
	query, _ := input["query"].(string)
	m := scopeQualifier().FindStringSubmatch(query)
	if m == nil {
		return nil
	}
	return fermata.Invalid(fermata.Problem{Field: "query", Message: "names a place by " + m[1]}).WithHint("leave it out, and name the repository as repo")
}

// checkStateReason returns an error for the reason of a state without the state.
func checkStateReason(input map[string]any) error {
	if input["stateReason"] == nil || input["state"] != nil {
		return nil
	}
	return fermata.Invalid(fermata.Problem{Field: "stateReason", Message: "is allowed only with state"}).WithHint("add state, or leave it out")
}

// checkReviewBody returns an error for a review that says nothing. A verdict that is not known yet may be one that needs no
// body.
func checkReviewBody(input map[string]any) error {
	body, _ := input["body"].(string)
	verdict, _ := input["verdict"].(string)
	if strings.TrimSpace(body) != "" || verdict != "" && verdicts[verdict] == "" || verdict == "approve" {
		return nil
	}
	return fermata.Invalid(fermata.Problem{Field: "body", Message: "a review needs a body, unless it approves"}).WithHint("add body, or verdict: approve")
}
