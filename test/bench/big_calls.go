package main

import "time"

// bigCall is a call that answers one page.
type bigCall struct {
	name, path string
	// pathOf returns the path where it differs between the two sides.
	pathOf func(*bigSide) string
	// json asks for a list where the call would else begin a stream.
	json bool
	// every is the time between two calls for which the server keeps its reply.
	every time.Duration
	// grows reports whether the reply itself is larger in the big database.
	grows bool
}

// bigCalls are the calls of lists, with a filter that keeps few rows, and those that count.
var bigCalls = []bigCall{
	{name: "tasks", path: "/v1/tasks?limit=20"},
	{name: "tasks by state", path: "/v1/tasks?state=failed&limit=20"},
	{name: "tasks that wait for a person", path: "/v1/tasks?needs_person=true&limit=20"},
	{name: "tasks sorted by change", path: "/v1/tasks?sort=updated&limit=20"},
	{name: "tasks sorted by priority", path: "/v1/tasks?sort=priority&limit=20"},
	{name: "ready tasks sorted by priority", path: "/v1/tasks?sort=priority&state=open,input_received,blocked,deferred&limit=20"},
	{name: "ended tasks sorted by change", path: "/v1/tasks?sort=updated&state=done,failed,cancelled,skipped&limit=20"},
	{name: "waiting tasks sorted by change", path: "/v1/tasks?sort=updated&needs_person=true&limit=20"},
	{name: "tasks of a rare project", path: "/v1/tasks?project=rare&limit=20"},
	{name: "tasks of a project in a rare state", path: "/v1/tasks?project=project-0&state=failed&limit=20"},
	{name: "tasks with a rare label", path: "/v1/tasks?label=rare&limit=20"},
	{name: "tasks for a rare agent", path: "/v1/tasks?agent=rare&limit=20"},
	{name: "tasks with a text", path: "/v1/tasks?q=needle&limit=20"},
	{name: "task by a short id", pathOf: func(*bigSide) string { return "/v1/tasks/" + bigEnding(3) }},
	{name: "question by a short id", pathOf: func(*bigSide) string { return "/v1/questions/" + bigEnding(3) }},
	{name: "pending questions", path: "/v1/questions?status=pending&limit=20"},
	{name: "pending questions for the caller", path: "/v1/questions?status=pending&for=me&limit=5"},
	{name: "pending questions in the order of the inbox", path: "/v1/questions?status=pending&for=me&sort=inbox&limit=200"},
	{name: "pending questions of a rare type", path: "/v1/questions?status=pending&type=error_recovery&limit=20"},
	{name: "pending questions of a rare project", path: "/v1/questions?status=pending&project=rare&limit=20"},
	{name: "pending questions of an assignee", path: "/v1/questions?status=pending&assignee=someone&limit=20"},
	{name: "questions by status", path: "/v1/questions?status=timed_out&limit=20"},
	{name: "questions of a rare type", path: "/v1/questions?type=error_recovery&limit=20"},
	{name: "questions of a rare project", path: "/v1/questions?project=rare&limit=20"},
	{name: "questions of an assignee", path: "/v1/questions?assignee=someone&limit=20"},
	{name: "runs of workflows", path: "/v1/workflow-runs?limit=20"},
	{name: "runs of workflows by state", path: "/v1/workflow-runs?state=failed&limit=20"},
	{name: "runs of workflows of a rare project", path: "/v1/workflow-runs?project=rare&limit=20"},
	{name: "runs of workflows by trigger", path: "/v1/workflow-runs?trigger=webhook&limit=20"},
	{name: "deliveries", path: "/v1/deliveries?limit=20"},
	{name: "deliveries by state", path: "/v1/deliveries?state=dead&limit=20"},
	{name: "deliveries of a rare channel", path: "/v1/deliveries?channel=rare&limit=20"},
	{name: "events of a rare type", path: "/v1/events?type=question.escalated", json: true},
	{name: "audit, events of a rare type", path: "/v1/audit?type=question.escalated"},
	{name: "tasks, counted", path: "/v1/tasks/counts"},
	{name: "questions for the caller, counted", path: "/v1/questions/counts?for=me", grows: true},
	{name: "analytics", path: "/v1/analytics/summary", grows: true},
	{name: "metrics", path: "/metrics", every: 6 * time.Second, grows: true},
}
