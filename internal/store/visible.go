package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
)

// ReaderFor returns a reader that reads only those rows of the workspace that the caller may see.
func (db *DB) ReaderFor(ctx context.Context, c fermata.Caller) Reader {
	return db.Reader(ctx, c.WorkspaceID).WithVisibleProjects(c.VisibleProjects())
}

// WithVisibleProjects returns a reader that reads only the projects of the set. This limits tasks and everything that belongs to a
// task, workflows and their runs, and the numbers of analytics. Rows that belong to no project are not limited.
func (r Reader) WithVisibleProjects(projects fermata.ProjectSet) Reader {
	r.visible = projects
	return r
}

// addVisible keeps the rows of visible projects. column is the column with the name of the project.
func (w *whereClause) addVisible(projects fermata.ProjectSet, column string) {
	if !projects.HasAll() {
		w.conditions = append(w.conditions, w.inProjectsCondition(projects, column))
	}
}

// addVisibleTask keeps the rows of a table whose tasks are in visible projects.
func (w *whereClause) addVisibleTask(projects fermata.ProjectSet, table string) {
	if !projects.HasAll() {
		w.conditions = append(w.conditions, w.taskInProjectsCondition(projects, table))
	}
}

// inProjectsCondition returns the condition that a column names a project of the set.
func (w *whereClause) inProjectsCondition(projects fermata.ProjectSet, column string) string {
	condition := w.amongCondition(column, projects.Names)
	if projects.Only {
		return condition
	}
	return "NOT " + condition
}

// taskInProjectsCondition returns the condition that the task of a table's row is in a project of the set.
func (w *whereClause) taskInProjectsCondition(projects fermata.ProjectSet, table string) string {
	return fmt.Sprintf("EXISTS (SELECT 1 FROM tasks WHERE tasks.workspace_id = %[1]s.workspace_id AND tasks.id = %[1]s.task_id AND %[2]s)",
		table, w.inProjectsCondition(projects, "tasks.project"))
}

// amongCondition returns the condition that a column names one of the projects.
func (w *whereClause) amongCondition(column string, projects []string) string {
	if len(projects) == 0 {
		return "1 = 0"
	}
	w.args = append(w.args, columnText(projects))
	return "(" + fmt.Sprintf(w.d.inList, column, len(w.args)) + ")"
}

// requireVisible returns the value if its project is visible. Otherwise it returns the error of a value that does not exist.
func requireVisible[T any](r Reader, noun, id string, v *T, project string) (*T, error) {
	if !r.visible.Has(project) {
		return nil, fermata.NotFound(noun, id)
	}
	return v, nil
}

// filterVisible returns the values whose projects are visible.
func filterVisible[T any](r Reader, all []T, project func(T) string) []T {
	if r.visible.HasAll() {
		return all
	}
	return slices.DeleteFunc(all, func(v T) bool { return !r.visible.Has(project(v)) })
}

func projectOfTask(t *fermata.Task) string         { return t.Project }
func projectOfQuestion(q *fermata.Question) string { return q.Project }

// addVisibleRow keeps the visible rows of a table. All rows of a table that names neither tasks nor projects are visible.
func (w *whereClause) addVisibleRow(projects fermata.ProjectSet, table string) {
	switch table {
	case "tasks", "questions":
		w.addVisible(projects, "project")
	case "runs":
		w.addVisibleTask(projects, table)
	case "deliveries":
		if !projects.HasAll() {
			w.conditions = append(w.conditions, "(task_id = '' OR "+w.taskInProjectsCondition(projects, table)+")")
		}
	}
}
