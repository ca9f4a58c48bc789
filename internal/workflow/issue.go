package workflow

import (
	"fmt"
	"strconv"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/store"
)

// issueKey is the key in a question's metadata that holds the issue on which
// the question is asked. Channels of GitHub read it.
const issueKey = "github_issue"

var (
	issueNumber    = lazyregexp.New(`^[1-9][0-9]{0,9}$`)
	issueReference = lazyregexp.New(`^([\w.-]+/[\w.-]+#[0-9]+|https?://[^/]+/[^/]+/[^/]+/(issues|pull)/[0-9]+)$`)
)

// nameIssue adds the issue of the run to the metadata of its question.
func (x *execution) nameIssue(a *fermata.Ask) {
	a.Metadata = withIssue(a.Metadata, x.inputs, x.cause)
}

// withIssue returns the metadata of a question with the issue of its run, in
// the form that the tools of GitHub read. It takes the issue that the question
// names, else the input "issue", else the issue whose event started the run.
func withIssue(metadata map[string]string, inputs, cause map[string]any) map[string]string {
	issue := metadata[issueKey]
	for _, value := range []any{inputs["issue"], cause["issue"]} {
		if issue == "" {
			issue = issueText(value)
		}
	}
	if issueNumber().MatchString(issue) {
		if repository, _ := cause["repository"].(string); repository != "" {
			issue = repository + "#" + issue
		}
	}
	if issue == "" {
		return metadata
	}
	result := map[string]string{issueKey: issue}
	for key, value := range metadata {
		if key != issueKey {
			result[key] = value
		}
	}
	return result
}

// issue returns the issue of the run, or "" if it has none.
func (x *execution) issue() string { return withIssue(nil, x.inputs, x.cause)[issueKey] }

// maxAncestors limits how many parent tasks are searched for a workflow run.
const maxAncestors = 20

// addRunIssue adds the issue of a workflow run to the questions of the tasks below
// it. A question of an agent then appears on the same issue as the questions of
// its run.
func addRunIssue(r store.Reader, t *fermata.Task, q *fermata.Question) error {
	ancestorID := t.ParentID
	for range maxAncestors {
		if ancestorID == "" {
			return nil
		}
		parent, err := r.Task(ancestorID)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if parent.Runner == fermata.RunnerWorkflow {
			run, err := r.WorkflowRun(parent.ID)
			if err == nil {
				q.Metadata = withIssue(q.Metadata, decodeObject(run.Inputs), decodeObject(run.Cause))
			}
			return err
		}
		ancestorID = parent.ParentID
	}
	return nil
}

// issueText returns a reference to an issue as people write it, or "" if the
// value names no issue.
func issueText(value any) string {
	text := fmt.Sprint(value)
	if f, ok := value.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if issueNumber().MatchString(text) || issueReference().MatchString(text) {
		return text
	}
	return ""
}
