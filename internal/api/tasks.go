package api

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
)

type (
	taskReply = reply[*fermata.Task]
	taskList  = reply[page[*fermata.Task]]
)

// reason is why a task or a question is cancelled.
type reason struct {
	Reason string `json:"reason,omitempty" maxLength:"2000"`
}

func (r *reason) text() string {
	if r == nil {
		return ""
	}
	return r.Reason
}

// deferral defers a task.
type deferral struct {
	Until *time.Time `json:"until,omitempty" doc:"absent: until somebody reopens it"`
}

func (d *deferral) instant() *time.Time {
	if d == nil {
		return nil
	}
	return d.Until
}

// resumption resumes a task.
type resumption struct {
	Message string `json:"message,omitempty" maxLength:"20000" doc:"what the person says to the agent"`
}

func (r *resumption) text() string {
	if r == nil {
		return ""
	}
	return r.Message
}

// taskFinish ends an external task, which has no fencing token.
type taskFinish struct {
	fermata.Finish
	Token int64 `json:"token,omitempty"`
}

func (s *Server) registerTasks() {
	e := s.Engine
	addOperation(s, withStatusCreated(operation("POST /tasks", "create-task", "Make a task")),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[fermata.NewTask]) (*taskReply, error) {
			return replyOf(e.CreateTask(ctx, c, in.Body))
		})
	s.registerTaskLists()
	addOperation(s, operation("GET /tasks/{id}", "get-task", "Read a task, with its pending question"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*taskReply, error) {
			return replyOf(e.Task(ctx, c, in.ID))
		})
	addOperation(s, operation("PATCH /tasks/{id}", "update-task", "Change a task"),
		func(ctx context.Context, c fermata.Caller, in *idBody[fermata.TaskPatch]) (*taskReply, error) {
			return replyOf(e.UpdateTask(ctx, c, in.ID, in.Body))
		})
	addOperation(s, operation("GET /tasks/{id}/context", "get-task-context", "Read what a run would be handed"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*reply[*fermata.ResumeContext], error) {
			return replyOf(e.ResumeContext(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /tasks/{id}/tree", "get-task-tree", "Read a task and all below it, parents first"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*taskList, error) {
			return listOf(e.Tree(ctx, c, in.ID))
		})
	s.registerTaskChanges()
}

// registerTaskChanges registers the calls that change a task's state.
func (s *Server) registerTaskChanges() {
	e := s.Engine
	addOperation(s, operation("POST /tasks/{id}/cancel", "cancel-task", "Cancel a task and all below it"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*reason]) (*taskReply, error) {
			return replyOf(e.CancelTask(ctx, c, in.ID, in.Body.text()))
		})
	addOperation(s, operation("POST /tasks/{id}/defer", "defer-task", "Put a task off"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*deferral]) (*taskReply, error) {
			return replyOf(e.DeferTask(ctx, c, in.ID, in.Body.instant()))
		})
	addOperation(s, operation("POST /tasks/{id}/pause", "pause-task", "Halt a task until somebody resumes it"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*nothing]) (*taskReply, error) {
			return replyOf(e.PauseTask(ctx, c, in.ID))
		})
	addOperation(s, operation("POST /tasks/{id}/reopen", "reopen-task", "Reopen a task that ended or is deferred"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*nothing]) (*taskReply, error) {
			return replyOf(e.ReopenTask(ctx, c, in.ID))
		})
	addOperation(s, operation("POST /tasks/{id}/resume", "resume-task", "Let a task go on without an answer: its pending question closes, and the agent decides"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*resumption]) (*taskReply, error) {
			return replyOf(e.ResumeTask(ctx, c, in.ID, in.Body.text()))
		})
	addOperation(s, operation("POST /tasks/{id}/finish", "finish-task", "End an external task"),
		func(ctx context.Context, c fermata.Caller, in *idBody[taskFinish]) (*taskReply, error) {
			return replyOf(e.FinishExternal(ctx, c, in.ID, in.Body.Finish))
		})
}
