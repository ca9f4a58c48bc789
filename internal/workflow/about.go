package workflow

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// issueKey is where the metadata of a question names the issue that it is asked
// on, for channels of GitHub.
const issueKey = "github_issue"

var (
	issueNumber = regexp.MustCompile(`^[1-9][0-9]{0,9}$`)
	issuePlace  = regexp.MustCompile(`^([\w.-]+/[\w.-]+#[0-9]+|https?://[^/]+/[^/]+/[^/]+/(issues|pull)/[0-9]+)$`)
)

// nameIssue names the issue of the run in its question.
func (x *execution) nameIssue(a *fermata.Ask) {
	a.Metadata = withIssue(a.Metadata, x.ins, x.cause)
}

// withIssue adds the issue of a run to the metadata of a question, as the tools of GitHub
// find it: the one that the question names, else the input issue, else the one whose event
// began the run.
func withIssue(metadata map[string]string, inputs, cause map[string]any) map[string]string {
	place := metadata[issueKey]
	for _, value := range []any{inputs["issue"], cause["issue"]} {
		if place == "" {
			place = issueText(value)
		}
	}
	if issueNumber.MatchString(place) {
		if repository, _ := cause["repository"].(string); repository != "" {
			place = repository + "#" + place
		}
	}
	if place == "" {
		return metadata
	}
	with := map[string]string{issueKey: place}
	for key, value := range metadata {
		if key != issueKey {
			with[key] = value
		}
	}
	return with
}

// issue is the issue of the run; empty where it has none.
func (x *execution) issue() string { return withIssue(nil, x.ins, x.cause)[issueKey] }

// mostAbove is how many tasks up a run is looked for.
const mostAbove = 20

// aboutRun names the issue of a run in the questions of the tasks below it: what an agent
// asks on the way stands where its run's own questions do.
func aboutRun(r store.Reader, t *fermata.Task, q *fermata.Question) error {
	above := t.ParentID
	for range mostAbove {
		if above == "" {
			return nil
		}
		parent, err := r.Task(above)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if parent.Runner == fermata.RunnerWorkflow {
			run, err := r.WorkflowRun(parent.ID)
			if err == nil {
				q.Metadata = withIssue(q.Metadata, object(run.Inputs), object(run.Cause))
			}
			return err
		}
		above = parent.ParentID
	}
	return nil
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
