package engine

import (
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// chooseTasks chooses whole trees of tasks that ended before the limit, that nothing needs any more, and whose events end
// with upTo.
func (p *trimPlan) chooseTasks(limit time.Time, upTo int64) error {
	p.lastEvents = map[string]int64{}
	var position store.EndedPosition
	for len(p.tasks) < retentionBatch {
		roots, err := p.t.r.EndedRoots(limit, position, retentionBatch)
		if err != nil || len(roots) == 0 {
			return err
		}
		last := roots[len(roots)-1]
		position = store.EndedPosition{UpdatedAt: last.UpdatedAt.UnixMilli(), ID: last.ID}
		isLate, err := p.addTrees(roots, limit, upTo)
		// The trees come in the order of their end. So the events of all others are late, too.
		if err != nil || isLate {
			return err
		}
	}
	return nil
}

// addTrees adds the trees that can be removed. isLate reports that some could be, but have events after upTo.
func (p *trimPlan) addTrees(roots []*fermata.Task, limit time.Time, upTo int64) (isLate bool, err error) {
	all, err := p.t.loadTrees(roots)
	if err != nil {
		return false, err
	}
	lastEvents, err := p.t.r.LastEvents(idsOfTrees(all))
	if err != nil {
		return false, err
	}
	var trees [][]*fermata.Task
	for _, tree := range all {
		if slices.ContainsFunc(tree, func(t *fermata.Task) bool { return !t.State.IsEnded() || !t.UpdatedAt.Before(limit) }) {
			continue
		}
		if slices.ContainsFunc(tree, func(t *fermata.Task) bool { return lastEvents[t.ID] > upTo }) {
			isLate = true
			continue
		}
		if len(p.tasks)+len(idsOfTrees(trees)) < retentionBatch {
			trees = append(trees, tree)
		}
	}
	trees, err = p.t.withoutTreesInUse(trees)
	for _, tree := range trees {
		p.tasks = append(p.tasks, tree...)
		for _, task := range tree {
			p.lastEvents[task.ID] = lastEvents[task.ID]
		}
	}
	return isLate, err
}

// withoutTreesInUse returns the trees that nothing else needs. A tree that stays may need another one, so it checks again
// until no further tree stays.
func (t *retention) withoutTreesInUse(trees [][]*fermata.Task) ([][]*fermata.Task, error) {
	for len(trees) > 0 {
		inUse, err := t.r.TasksInUse(idsOfTrees(trees))
		if err != nil || len(inUse) == 0 {
			return trees, err
		}
		trees = slices.DeleteFunc(trees, func(tree []*fermata.Task) bool {
			return slices.ContainsFunc(tree, func(task *fermata.Task) bool { return slices.Contains(inUse, task.ID) })
		})
	}
	return nil, nil
}

func idsOfTrees(trees [][]*fermata.Task) []string {
	var ids []string
	for _, tree := range trees {
		for _, task := range tree {
			ids = append(ids, task.ID)
		}
	}
	return ids
}

// loadTrees returns the tasks of whole trees, in the order of their roots.
func (t *retention) loadTrees(roots []*fermata.Task) ([][]*fermata.Task, error) {
	trees, placeOf, ids := make([][]*fermata.Task, len(roots)), map[string]int{}, []string{}
	for i, root := range roots {
		trees[i], placeOf[root.ID] = []*fermata.Task{root}, i
		ids = append(ids, root.ID)
	}
	for len(ids) > 0 {
		children, err := t.r.Children(ids...)
		if err != nil {
			return nil, err
		}
		ids = ids[:0]
		for _, child := range children {
			place := placeOf[child.ParentID]
			trees[place], placeOf[child.ID] = append(trees[place], child), place
			ids = append(ids, child.ID)
		}
	}
	return trees, nil
}
