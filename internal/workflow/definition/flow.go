package definition

import (
	"fmt"
	"slices"
	"strings"
)

// jump is a move from a step back to the same step or an earlier one.
type jump struct{ from, to int }

// checkFlow checks the paths between steps. It reports gotos that never happen, gotos that may not end, and steps that
// cannot be reached.
func (l *loader) checkFlow() {
	suspends := slices.ContainsFunc(l.w.Steps, func(s Step) bool { return s.Suspend })
	for _, name := range []string{"on_resume", "on_timeout"} {
		if t := l.root.get(name); t.mapping() != nil && !suspends {
			l.warn(l.root.key(name), name, "let a post_question step suspend: true", "%s never happens: no step waits for an answer", name)
		}
	}
	l.warnOfSilence()
	l.checkSelfGotos()
	l.warnOfItems()
	for i := range l.w.Steps {
		for _, m := range l.w.moves(i) {
			if m.to <= i {
				l.backJumps = append(l.backJumps, jump{i, m.to})
			}
		}
	}
	l.checkJumps()
	if !l.hasErrors() {
		l.checkReachable()
	}
}

// checkSelfGotos warns of a step that goes to itself after a timeout. Only max_iterations ends that loop. A goto of a step
// that does not suspend never happens; [loader.suspend] refuses it.
func (l *loader) checkSelfGotos() {
	for i := range l.w.Steps {
		s := &l.w.Steps[i]
		if s.ID == "" || !s.Suspend || s.Condition != nil || !s.mayBeSkipped() {
			continue
		}
		a, t, path := l.w.Timeout(s), l.steps[i].get("on_timeout"), l.paths[i]+".on_timeout.goto"
		if s.OnTimeout == nil {
			t, path = l.root.get("on_timeout"), "on_timeout.goto"
		}
		if a != nil && a.Goto == s.ID {
			l.warn(t.get("goto"), path, "go on with a later step, let escalation ask others, or give the step a condition",
				"%s is asked again whenever nobody answers, until max_iterations fails the run", s.ID)
		}
	}
}

func (l *loader) checkReachable() {
	steps := l.w.Steps
	reached := make([]bool, len(steps)+1)
	var todo []int
	for _, phase := range phases {
		for _, first := range l.w.Roots(phase) {
			todo = append(todo, l.w.Index(first.ID))
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if reached[i] {
			continue
		}
		reached[i] = true
		if i == len(steps) {
			continue
		}
		for _, m := range l.w.moves(i) {
			todo = append(todo, m.to)
		}
	}
	for i := range steps {
		if !reached[i] {
			l.addAt(l.steps[i], l.paths[i], "let a goto lead to it, or remove it", "nothing leads to the step %s: every way jumps over it", steps[i].ID)
		}
	}
}

// move is a transition that a run can make from one step to another. to is the index of the step, the number of steps
// for the end, or [toDependents] for the steps after it.
type move struct {
	to    int
	label string
}

// toDependents is the target of a move to the steps that need this step, or to the end if no step needs it.
const toDependents = -2

// moves returns the moves that a run can make from a step.
func (w *Workflow) moves(i int) []move {
	s := &w.Steps[i]
	all := w.movesWithoutRepeat(s)
	if s.Repeat != nil {
		all = append(all, move{w.Index(s.Repeat.From), "again"})
	}
	return w.resolveMoves(i, all)
}

// movesWithoutRepeat returns the moves from a step without the one of its repeat.
func (w *Workflow) movesWithoutRepeat(s *Step) []move {
	var all []move
	if s.Condition != nil && s.Condition.String() != "true" {
		all = append(all, move{toDependents, "skipped"})
	}
	if !s.Suspend {
		if len(all) == 0 {
			return []move{{toDependents, ""}}
		}
		all[0].label = ""
		return all
	}
	answers := w.answerMoves(s)
	all = append(all, answers...)
	if s.MayBeApproval() {
		all = append(all, w.rejectionMove(s))
	}
	all = append(all, w.timeoutMoves(s, answers)...)
	if c := s.Confidence; c != nil && c.Ask != nil || w.Confidence != nil && w.Confidence.Ask != nil {
		all = append(all, move{toDependents, "set aside"})
	}
	if (s.OnError == OnErrorAsk || s.OnError == OnErrorContinue) && !s.MayBeApproval() {
		all = append(all, move{toDependents, "failed"})
	}
	return all
}

// resolveMoves replaces [toDependents] by the steps that need the step. It removes moves to unknown steps, and
// duplicates.
func (w *Workflow) resolveMoves(i int, all []move) []move {
	var out []move
	add := func(m move) {
		if m.to >= 0 && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	for _, m := range all {
		if m.to != toDependents {
			add(m)
			continue
		}
		for _, next := range w.order.dependents[i] {
			add(move{next, m.label})
		}
		if len(w.order.dependents[i]) == 0 {
			add(move{len(w.Steps), m.label})
		}
	}
	return out
}

func (w *Workflow) answerMoves(s *Step) []move {
	r := w.Resume(s)
	label := "answered"
	if s.MayBeApproval() {
		label = "approved"
	}
	switch {
	case r != nil && r.Goto != "":
		return []move{{w.Index(r.Goto), label}}
	case r == nil || len(r.GotoBy) == 0:
		return []move{{toDependents, label}}
	}
	var all []move
	rest := optionsOf(s)
	for option, to := range r.GotoBy {
		all = append(all, move{w.Index(to), option})
		rest = slices.DeleteFunc(rest, func(o string) bool { return o == option })
	}
	slices.SortFunc(all, func(a, b move) int { return strings.Compare(a.label, b.label) })
	if optionsOf(s) == nil || len(rest) > 0 {
		all = append(all, move{toDependents, label})
	}
	return all
}

// optionsOf returns the values of a question's options. It returns nil if the options contain a template, or if any
// answer is allowed.
func optionsOf(s *Step) []string {
	v, ok := s.Input.Field("options")
	list, fixed := v.Literal()
	if _, other := s.Input.Field("other"); !ok || !fixed || other {
		return nil
	}
	values, _ := list.([]any)
	var names []string
	for _, option := range values {
		if o, ok := option.(map[string]any); ok {
			option = o["value"]
		}
		names = append(names, fmt.Sprint(option))
	}
	return names
}

func (w *Workflow) rejectionMove(s *Step) move {
	switch {
	case s.OnRejectGoto != "":
		return move{w.Index(s.OnRejectGoto), "rejected"}
	case s.OnReject == OnRejectSkip:
		return move{toDependents, "rejected"}
	}
	return move{len(w.Steps), "rejected"}
}

// timeoutMoves returns the moves that a run can make if nobody answers in time. There are none if the file says
// timeout: never. Without a timeout in the file, a policy may set a deadline, so the moves are possible.
func (w *Workflow) timeoutMoves(s *Step, answers []move) []move {
	switch s.silence {
	case silenceIsImpossible:
		return nil
	case silenceTakesDefault:
		return answers
	case silenceFails, silenceTakesOrFails:
		return []move{{len(w.Steps), "timed out"}}
	case silenceSkips, silenceIsUnknown:
	}
	a := w.Timeout(s)
	switch {
	case a == nil && !s.MayBeApproval():
		return []move{{toDependents, "timed out"}}
	case a != nil && a.Goto != "":
		return []move{{w.Index(a.Goto), "timed out"}}
	}
	return []move{{len(w.Steps), "timed out"}}
}
