package definition

import "slices"

// onIssue are the tools that work on the issue of the run where their input names none.
var onIssue = []string{"github_read_issue", "github_comment", "github_add_labels", "github_remove_labels", "github_assign", "update_github_issue"}

// issues warns of steps that work on the issue of a run which may have none: they fail, or their question stands nowhere.
func (l *loader) issues() {
	if !l.mayLackIssue() {
		return
	}
	const hint = "name it in the input, or make issue a required input of the workflow"
	for i := range l.w.Steps {
		s, t := &l.w.Steps[i], l.steps[i]
		if usesIssue(s.Tool, s.Input) {
			l.warn(t.get("tool"), l.paths[i]+".tool", hint, "%s works on the issue of the run, and a run may have none", s.Tool)
		}
		if asksOnIssue(s) {
			l.warn(t.get("input").get("notifyVia"), l.paths[i]+".input.notifyVia", "name the issue: issueNumber, or make issue a required input of the workflow",
				"the question is to stand on the issue of the run, and a run may have none")
		}
		if a := s.OnTimeout; a != nil && usesIssue(a.Tool, a.Input) {
			l.warn(t.get("on_timeout").get("tool"), l.paths[i]+".on_timeout.tool", hint, "%s works on the issue of the run, and a run may have none", a.Tool)
		}
	}
	if a := l.w.OnTimeout; a != nil && usesIssue(a.Tool, a.Input) {
		l.warn(l.root.get("on_timeout").get("tool"), "on_timeout.tool", hint, "%s works on the issue of the run, and a run may have none", a.Tool)
	}
}

// mayLackIssue reports whether something starts runs that may have no issue: a label brings one, and so does an input that has to
// be given. What follows a run, or comes by a webhook, may bring one.
func (l *loader) mayLackIssue() bool {
	if in := l.inputNamed("issue"); in != nil {
		return !in.Required && in.Default == nil
	}
	return slices.ContainsFunc(l.w.Triggers, func(t Trigger) bool { return t.Type == Schedule || t.Type == Manual })
}

func usesIssue(tool string, input Value) bool {
	_, named := input.Field("issue")
	return slices.Contains(onIssue, tool) && !named
}

// asksOnIssue reports whether a question is to stand at GitHub, and does not name where.
func asksOnIssue(s *Step) bool {
	via, ok := s.Input.Field("notifyVia")
	list, fixed := via.Literal()
	channels, _ := list.([]any)
	_, named := s.Input.Field("issueNumber")
	return ok && fixed && slices.Contains(channels, any("github")) && !named
}
