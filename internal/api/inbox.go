package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// ViewInput names a saved view.
type ViewInput struct {
	Name string `path:"name" maxLength:"200" doc:"the name of a view of yours"`
}

// viewBody is the content of a view.
type viewBody struct {
	Query  string `json:"query" maxLength:"2000" doc:"what the address of the list holds behind its question mark"`
	Shared bool   `json:"shared,omitempty" doc:"show it to everybody"`
}

// viewInput saves a view.
type viewInput struct {
	ViewInput
	Body viewBody
}

// readMark is the number of the last event that a member has read.
type readMark struct {
	UpTo int64 `json:"up_to" minimum:"0" doc:"the seq of a notification"`
}

type notificationsReply = reply[fermata.Notifications]

func (s *Server) registerInbox() {
	e := s.Engine
	addOperation(s, operation("GET /questions/counts", "count-questions", "Count pending questions, up to 10,000"),
		func(ctx context.Context, c fermata.Caller, in *QuestionFilterInput) (*reply[fermata.QuestionCounts], error) {
			return replyOf(e.QuestionCounts(ctx, c, in.filter()))
		})
	addOperation(s, operation("POST /questions/{id}/undo", "undo", "Take back an answer that is still held"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*nothing]) (*questionReply, error) {
			return replyOf(e.Undo(ctx, c, in.ID))
		})
	addOperation(s, operation("POST /questions/{id}/assign", "assign", "Give a question to other people"),
		func(ctx context.Context, c fermata.Caller, in *idBody[fermata.Assignment]) (*questionReply, error) {
			return replyOf(e.Assign(ctx, c, in.ID, in.Body))
		})
	addOperation(s, operation("POST /questions/{id}/snooze", "snooze", "Put a question off for yourself, or with an empty body show it again"),
		func(ctx context.Context, c fermata.Caller, in *idBody[fermata.Snooze]) (*questionReply, error) {
			return replyOf(e.Snooze(ctx, c, in.ID, in.Body))
		})
	addOperation(s, withStatusCreated(operation("POST /questions/{id}/comments", "comment", "Comment on a question without deciding it")),
		func(ctx context.Context, c fermata.Caller, in *idBody[messageBody]) (*reply[*fermata.Message], error) {
			return replyOf(e.Comment(ctx, c, in.ID, in.Body.Body))
		})
	addOperation(s, operation("GET /questions/{id}/similar", "similar", "List past answers to similar questions"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*reply[page[fermata.PastAnswer]], error) {
			return listOf(e.Similar(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /questions/{id}/deciders", "list-deciders", "List who may decide a question, and why others may not"),
		func(ctx context.Context, c fermata.Caller, in *IDInput) (*reply[fermata.Deciders], error) {
			return replyOf(e.Deciders(ctx, c, in.ID))
		})
	s.registerViews()
	s.registerNotifications()
}

func (s *Server) registerViews() {
	e := s.Engine
	addOperation(s, operation("GET /views", "list-views", "List your saved views and those that others share"),
		func(ctx context.Context, c fermata.Caller, _ *struct{}) (*reply[page[fermata.SavedView]], error) {
			return listOf(e.Views(ctx, c))
		})
	addOperation(s, operation("PUT /views/{name}", "save-view", "Save a view"),
		func(ctx context.Context, c fermata.Caller, in *viewInput) (*reply[fermata.SavedView], error) {
			return replyOf(e.SaveView(ctx, c, fermata.SavedView{Name: in.Name, Query: in.Body.Query, Shared: in.Body.Shared}))
		})
	addOperation(s, operation("DELETE /views/{name}", "delete-view", "Remove a view"),
		func(ctx context.Context, c fermata.Caller, in *ViewInput) (*empty, error) {
			return emptyOf(e.DeleteView(ctx, c, in.Name))
		})
}

func (s *Server) registerNotifications() {
	e := s.Engine
	addOperation(s, operation("GET /notifications", "list-notifications", "List what happened that concerns you, newest first"),
		func(ctx context.Context, c fermata.Caller, in *PageInput) (*notificationsReply, error) {
			return replyOf(e.Notifications(ctx, c, in.Limit, in.Cursor))
		})
	addOperation(s, operation("POST /notifications/read", "read-notifications", "Note up to where you have read; the reply has the newest one"),
		func(ctx context.Context, c fermata.Caller, in *bodyInput[readMark]) (*notificationsReply, error) {
			return replyOf(e.MarkNotificationsRead(ctx, c, in.Body.UpTo))
		})
}
