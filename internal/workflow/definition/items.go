package definition

import "fmt"

// checkItemAnswers refuses settings for the answer and for silence in a step that asks for each item. Each item has an
// answer of its own, and the step ends with the last of them.
func (l *loader) checkItemAnswers(s *Step, t *tree, path string) {
	if s.Foreach == nil || !s.Suspend || l.known.WasChecked {
		return
	}
	if t.get("on_resume") != nil {
		l.addAt(t.key("on_resume"), path+".on_resume", fmt.Sprintf("remove it, and read the answers from the output: {{ map(steps.%s.output, #?.answer) }}", s.ID),
			"on_resume never happens with foreach: each item has an answer of its own")
	}
	if t.get("on_timeout") != nil {
		hint := "remove it: with timeoutAction: skip, the item is null in the output, and a later step can look for it"
		if s.MayBeApproval() {
			hint = "remove it: with timeoutAction: skip, the run ends as skipped"
		}
		l.addAt(t.key("on_timeout"), path+".on_timeout", hint, "on_timeout never happens with foreach: each item has a deadline of its own")
	}
}

// warnOfItems warns of settings of the workflow that a step does not take because it asks for each item.
func (l *loader) warnOfItems() {
	for i := range l.w.Steps {
		s, t := &l.w.Steps[i], l.steps[i]
		if s.Foreach == nil || !s.Suspend || s.Phase != MainPhase {
			continue
		}
		isMeant := map[string]bool{"on_resume": s.Tool != requestApproval, "on_timeout": s.mayBeSkipped()}
		for _, name := range []string{"on_resume", "on_timeout"} {
			if l.root.get(name).mapping() == nil || t.get(name) != nil || !isMeant[name] {
				continue
			}
			l.warn(t.key("foreach"), l.paths[i]+".foreach", fmt.Sprintf("move %s to the steps for which it is meant", name),
				"the %s of the workflow is not for the step %s: each item of foreach has a question of its own", name, s.ID)
		}
	}
}
