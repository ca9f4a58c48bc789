package api

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TasksInput narrows tasks.
type TasksInput struct {
	State       []fermata.TaskState `query:"state" doc:"one or several, separated by commas" enum:"open,blocked,deferred,in_progress,awaiting_input,awaiting_approval,input_received,done,failed,cancelled,skipped"`
	Project     string              `query:"project" maxLength:"64"`
	Label       string              `query:"label" maxLength:"64"`
	Agent       string              `query:"agent" maxLength:"64" doc:"the role that the task is for"`
	Parent      string              `query:"parent" maxLength:"64"`
	Q           string              `query:"q" maxLength:"200" doc:"a part of the title"`
	NeedsPerson bool                `query:"needs_person" doc:"suspended on a question"`
}

// filter returns the filter for the engine.
func (in *TasksInput) filter() engine.TaskFilter {
	return engine.TaskFilter{
		State: in.State, Project: in.Project, Label: in.Label, Agent: in.Agent, ParentID: in.Parent, Q: in.Q, NeedsPerson: in.NeedsPerson,
	}
}

// tasksInput narrows a list of tasks.
type tasksInput struct {
	PageInput
	TasksInput
	Sort fermata.TaskSort `query:"sort" doc:"the order; newest is the default" enum:"newest,oldest,priority,updated"`
}

// timelineInput selects a part of a timeline.
type timelineInput struct {
	IDInput
	PageInput
}

// timelinePage is one part of a timeline, oldest first.
type timelinePage struct {
	Items fermata.Timeline `json:"items"`
	// NextCursor leads to the earlier part of the timeline.
	NextCursor string `json:"next_cursor,omitempty" doc:"leads to the part before; absent in the first part"`
}

// registerTaskLists registers the calls that list tasks, or all events of one task.
func (s *Server) registerTaskLists() {
	e := s.Engine
	addOperation(s, operation("GET /tasks", "list-tasks", "List tasks"),
		func(ctx context.Context, c fermata.Caller, in *tasksInput) (*taskList, error) {
			f := in.filter()
			f.Sort, f.Limit, f.Cursor = in.Sort, in.Limit, in.Cursor
			return pageOf(e.Tasks(ctx, c, f))
		})
	addOperation(s, operation("GET /tasks/counts", "count-tasks", "Count tasks by state and by column of a board"),
		func(ctx context.Context, c fermata.Caller, in *TasksInput) (*reply[fermata.TaskCounts], error) {
			return replyOf(e.TaskCounts(ctx, c, in.filter()))
		})
	addOperation(s, operation("GET /tasks/{id}/timeline", "get-task-timeline", "Read what happened to a task, newest last; the cursor leads backwards"),
		func(ctx context.Context, c fermata.Caller, in *timelineInput) (*reply[timelinePage], error) {
			items, next, err := e.Timeline(ctx, c, engine.TimelineFilter{TaskID: in.ID, Limit: in.Limit, Cursor: in.Cursor})
			if items == nil {
				items = fermata.Timeline{}
			}
			return replyOf(timelinePage{items, next}, err)
		})
}
