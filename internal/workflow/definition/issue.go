package definition

import "slices"

// issueFields maps each tool that works on an issue to the input field that names the issue. Without that field, the
// tool works on the issue of the run.
var issueFields = map[string]string{
	"github_read_issue": "issue", "github_comment": "issue", "github_add_labels": "issue", "github_remove_labels": "issue", "github_assign": "issue",
	"update_github_issue": "issue", "github_review": "pull",
}

// checkIssues warns of steps that need the issue of the run if a run may have none. Such a step would fail, or its question
// would not be posted.
func (l *loader) checkIssues() {
	if !l.mayLackIssue() {
		return
	}
	for i := range l.w.Steps {
		s, t := &l.w.Steps[i], l.steps[i]
		l.warnMissingIssue(s.Tool, s.Input, t.get("tool"), l.paths[i]+".tool")
		l.checkTimeoutIssue(s.OnTimeout, t, l.paths[i]+".")
		if asksOnIssue(s) {
			l.warn(t.get("input").get("notifyVia"), l.paths[i]+".input.notifyVia", "name the issue: issueNumber, or make issue a required input of the workflow",
				"the question is to stand on the issue of the run, and a run may have none")
		}
	}
	l.checkTimeoutIssue(l.w.OnTimeout, l.root, "")
}

// checkTimeoutIssue warns of an on_timeout action that needs the issue.
func (l *loader) checkTimeoutIssue(a *TimeoutAction, t *tree, path string) {
	if a != nil {
		l.warnMissingIssue(a.Tool, a.Input, t.get("on_timeout").get("tool"), path+"on_timeout.tool")
	}
}

// warnMissingIssue warns of a tool whose input does not name the issue.
func (l *loader) warnMissingIssue(tool string, input Value, at *tree, path string) {
	field, works := issueFields[tool]
	if _, named := input.Field(field); works && !named {
		l.warn(at, path, "name it in the input as "+field+", or make issue a required input of the workflow", "%s works on the issue of the run, and a run may have none", tool)
	}
}

// mayLackIssue reports whether a run may begin without an issue. A label gives the run an issue, and so does a required
// input. Webhooks and events may give one.
func (l *loader) mayLackIssue() bool {
	if in := l.inputNamed("issue"); in != nil {
		return !in.Required && in.Default == nil
	}
	return slices.ContainsFunc(l.w.Triggers, func(t Trigger) bool { return t.Type == Schedule || t.Type == Manual })
}

// asksOnIssue reports whether a question is posted on GitHub and does not name its issue.
func asksOnIssue(s *Step) bool {
	via, ok := s.Input.Field("notifyVia")
	list, fixed := via.Literal()
	channels, _ := list.([]any)
	_, named := s.Input.Field("issueNumber")
	return ok && fixed && slices.Contains(channels, any("github")) && !named
}
