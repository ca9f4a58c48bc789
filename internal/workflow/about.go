package workflow

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/fermata-hq/fermata"
)

// issueKey is where the metadata of a question names the issue that it is asked
// on, for channels of GitHub.
const issueKey = "github_issue"

var (
	issueNumber = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
	issuePlace  = regexp.MustCompile(`^([\w.-]+/[\w.-]+#[0-9]+|https?://[^/]+/[^/]+/[^/]+/(issues|pull)/[0-9]+)$`)
)

// about names the issue of the run in its question, as the tools of GitHub find
// it: the input issue, else the one whose event began the run.
func (x *execution) about(a *fermata.Ask) {
	place := a.Metadata[issueKey]
	for _, value := range []any{x.ins["issue"], x.cause["issue"]} {
		if place == "" {
			place = issueText(value)
		}
	}
	if issueNumber.MatchString(place) {
		if repository, _ := x.cause["repository"].(string); repository != "" {
			place = repository + "#" + place
		}
	}
	if place == "" {
		return
	}
	if a.Metadata == nil {
		a.Metadata = map[string]string{}
	}
	a.Metadata[issueKey] = place
}

// issueText is an issue as people write it; empty where the value names none.
func issueText(value any) string {
	text := fmt.Sprint(value)
	if f, ok := value.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if issueNumber.MatchString(text) || issuePlace.MatchString(text) {
		return text
	}
	return ""
}
