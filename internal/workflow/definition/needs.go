package definition

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// readNeeds reads which steps each step needs: the steps that the file names, else the step above it in its phase. A step
// needs only steps above it, so the steps can run in the order of the file.
func (l *loader) readNeeds() {
	for i := range l.w.Steps {
		s, t, path := &l.w.Steps[i], l.steps[i].get("needs"), l.paths[i]+".needs"
		if t == nil {
			s.Needs = l.needsOf(i)
			continue
		}
		for n, each := range t.list() {
			l.readNeed(i, each, fmt.Sprintf("%s[%d]", path, n))
		}
	}
	l.w.computeOrder()
}

// readNeed reads one name in the needs of a step.
func (l *loader) readNeed(i int, t *tree, path string) {
	s, name := &l.w.Steps[i], t.text()
	if name == "" {
		return
	}
	other, ok := l.ids[name]
	switch {
	case !ok || l.w.Steps[other].Phase != s.Phase:
		l.checkTarget(t, path, s.Phase)
	case other == i:
		l.addAt(t, path, "remove it", "the step %s needs itself", name)
	case other > i:
		hint := fmt.Sprintf("move %s above %s", name, s.ID)
		if way := l.findCycle(other, s.ID, map[int]bool{}); way != nil {
			hint = "nothing of it could begin: " + s.ID + " needs " + strings.Join(way, " needs ")
		}
		l.addAt(t, path, hint, "the step %s comes later, and a step needs steps above it", name)
	case slices.Contains(s.Needs, name):
		l.addAt(t, path, "remove it", "the step %s is there twice", name)
	default:
		s.Needs = append(s.Needs, name)
	}
}

// findCycle returns the path by which a step needs another one, or nil if it does not need it. The steps in seen are known
// not to need it.
func (l *loader) findCycle(step int, to string, seen map[int]bool) []string {
	seen[step] = true
	id := l.w.Steps[step].ID
	for _, name := range l.needsOf(step) {
		if name == to {
			return []string{id, to}
		}
		next, ok := l.ids[name]
		if !ok || seen[next] {
			continue
		}
		if way := l.findCycle(next, to, seen); way != nil {
			return append([]string{id}, way...)
		}
	}
	return nil
}

// needsOf returns the names of the steps that a step needs, as the file has them.
func (l *loader) needsOf(step int) []string {
	t := l.steps[step].get("needs")
	if t == nil && step > 0 && l.w.Steps[step-1].Phase == l.w.Steps[step].Phase {
		return []string{l.w.Steps[step-1].ID}
	}
	var names []string
	for _, each := range t.list() {
		names = append(names, each.text())
	}
	return names
}

// order holds the facts that follow from the needs of all steps.
type order struct {
	// dependents are the indexes of the steps that need each step.
	dependents [][]int
	// descendants are the steps that come after each step, on any path.
	descendants []*big.Int
	// forks are the phases in which steps can run in parallel.
	forks map[Phase]bool
}

// computeOrder computes the order from the needs of all steps.
func (w *Workflow) computeOrder() {
	w.order = order{make([][]int, len(w.Steps)), make([]*big.Int, len(w.Steps)), map[Phase]bool{}}
	for i := range w.Steps {
		s := &w.Steps[i]
		isFirst := i == 0 || w.Steps[i-1].Phase != s.Phase
		if isFirst != (len(s.Needs) == 0) || !isFirst && (len(s.Needs) > 1 || s.Needs[0] != w.Steps[i-1].ID) {
			w.order.forks[s.Phase] = true
		}
		for _, name := range s.Needs {
			if n := w.Index(name); n >= 0 {
				w.order.dependents[n] = append(w.order.dependents[n], i)
			}
		}
	}
	for i := len(w.Steps) - 1; i >= 0; i-- {
		all := new(big.Int)
		for _, n := range w.order.dependents[i] {
			all.SetBit(all.Or(all, w.order.descendants[n]), n, 1)
		}
		w.order.descendants[i] = all
	}
}

// Forks reports whether steps of a phase can run in parallel: one of them needs other steps than the one above it.
func (w *Workflow) Forks(p Phase) bool { return w.order.forks[p] }

// Roots returns the steps of a phase that need no other step, in the order of the file.
func (w *Workflow) Roots(p Phase) []*Step {
	var all []*Step
	for i := range w.Steps {
		if s := &w.Steps[i]; s.Phase == p && len(s.Needs) == 0 {
			all = append(all, s)
		}
	}
	return all
}

// Dependents returns the steps that need a step, in the order of the file.
func (w *Workflow) Dependents(s *Step) []*Step {
	i := w.Index(s.ID)
	if i < 0 {
		return nil
	}
	all := make([]*Step, 0, len(w.order.dependents[i]))
	for _, n := range w.order.dependents[i] {
		all = append(all, &w.Steps[n])
	}
	return all
}

// comesAfter reports whether the step b begins only after the run has passed the step a.
func (w *Workflow) comesAfter(a, b int) bool {
	if w.Steps[a].Phase != w.Steps[b].Phase {
		return a < b
	}
	return w.order.descendants[a].Bit(b) == 1
}

// reaches reports whether a path leads from the step a to the step b. It is true for the same step.
func (w *Workflow) reaches(a, b int) bool { return a == b || w.comesAfter(a, b) }

// Reaches reports whether a path leads from one step to the other. It is true for the same step.
func (w *Workflow) Reaches(from, to *Step) bool {
	a, b := w.Index(from.ID), w.Index(to.ID)
	return a >= 0 && b >= 0 && w.reaches(a, b)
}

// Between returns the steps on all paths from one step of a phase to another, including both, in the order of the file.
// If last is nil, it returns the first step and all steps after it.
func (w *Workflow) Between(first, last *Step) []*Step {
	var all []*Step
	from := w.Index(first.ID)
	for i := from; i >= 0 && i < len(w.Steps) && w.Steps[i].Phase == first.Phase; i++ {
		if w.reaches(from, i) && (last == nil || w.reaches(i, w.Index(last.ID))) {
			all = append(all, &w.Steps[i])
		}
	}
	return all
}

// RepeatAround returns the step whose repeat does a step again, or nil if there is none. Such a repeat is that of the step
// itself, or of a later step, and goes back at least as far as the step. Of several, it returns the first in the file.
func (w *Workflow) RepeatAround(step *Step) *Step {
	for i := max(w.Index(step.ID), 0); i < len(w.Steps); i++ {
		last := &w.Steps[i]
		if last.Repeat == nil || last.Phase != step.Phase || !w.Reaches(step, last) {
			continue
		}
		if first := w.Step(last.Repeat.From); last == step || first != nil && w.Reaches(first, step) {
			return last
		}
	}
	return nil
}

// sideStep returns a step that may be under way while a run goes from one of the two steps to the other. That step
// comes after first, does not lead to last, and does not come after last. sideStep returns "" if there is none.
func (w *Workflow) sideStep(first, last int) string {
	for i := first; i < last; i++ {
		if !w.reaches(first, i) || !w.reaches(i, last) {
			continue
		}
		for _, n := range w.order.dependents[i] {
			if !w.reaches(n, last) && !w.comesAfter(last, n) {
				return w.Steps[n].ID
			}
		}
	}
	return ""
}

// jumpTarget is the step that a goto or a repeat names, with its path in the file.
type jumpTarget struct {
	to   *tree
	path string
}

// jumpsOf returns the places where a step names a step to go to.
func (l *loader) jumpsOf(i int) []jumpTarget {
	s, t := &l.w.Steps[i], l.steps[i]
	all := []jumpTarget{{t.get("on_reject").get("goto"), l.paths[i] + ".on_reject.goto"}, {t.get("repeat").get("from"), l.paths[i] + ".repeat.from"}}
	for _, name := range []string{"on_resume", "on_timeout"} {
		part, path := t.get(name), l.paths[i]+"."+name+".goto"
		general := name == "on_resume" && l.w.Resume(s) == l.w.OnResume || name == "on_timeout" && l.w.Timeout(s) == l.w.OnTimeout
		if s.Suspend && part == nil && general {
			part, path = l.root.get(name), name+".goto"
		}
		to := part.get("goto")
		all = append(all, jumpTarget{to, path})
		if m := to.mapping(); m != nil {
			for n, key := range m.keys {
				all = append(all, jumpTarget{m.values[n], path + "." + key.text()})
			}
		}
	}
	return all
}

// checkJumps refuses a goto or a repeat if other steps may be under way between its two steps.
func (l *loader) checkJumps() {
	for i := range l.w.Steps {
		s := &l.w.Steps[i]
		if !l.w.Forks(s.Phase) {
			continue
		}
		for _, each := range l.jumpsOf(i) {
			to, ok := l.ids[each.to.text()]
			if !ok || l.w.Steps[to].Phase != s.Phase {
				continue
			}
			first, last := min(to, i), max(to, i)
			name := l.w.Steps[to].ID
			if !l.w.reaches(first, last) {
				l.addAt(each.to, each.path, "go to a step that "+s.ID+" needs, or that needs it", "%s runs beside %s, and nothing leads from one to the other", name, s.ID)
				continue
			}
			if other := l.w.sideStep(first, last); other != "" {
				l.addAt(each.to, each.path, fmt.Sprintf("let %s need %s", l.w.Steps[last].ID, other), "the run cannot go from %s to %s: %s comes after %s, too, and does not lead to %s",
					s.ID, name, other, l.w.Steps[first].ID, l.w.Steps[last].ID)
			}
		}
	}
}
