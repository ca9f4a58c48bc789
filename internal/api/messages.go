package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// messageBody is the text of a message.
type messageBody struct {
	Body string `json:"body" minLength:"1" maxLength:"20000"`
}

// messagesInput narrows a list of a thread's messages.
type messagesInput struct {
	IDInput
	PageInput
}

// handedMessages names the messages that an agent was handed.
type handedMessages struct {
	IDs []string `json:"message_ids" minItems:"1" maxItems:"1000"`
}

func (s *Server) registerMessages() {
	e := s.Engine
	addOperation(s, operation("GET /tasks/{id}/messages", "list-messages", "Read a task's thread"),
		func(ctx context.Context, c fermata.Caller, in *messagesInput) (*reply[page[*fermata.Message]], error) {
			return pageOf(e.Messages(ctx, c, in.ID, in.Cursor, in.Limit))
		})
	addOperation(s, withStatusCreated(operation("POST /tasks/{id}/messages", "post-message", "Write into a task's thread")),
		func(ctx context.Context, c fermata.Caller, in *idBody[messageBody]) (*reply[*fermata.Message], error) {
			return replyOf(e.PostMessage(ctx, c, in.ID, in.Body.Body))
		})
	addOperation(s, operation("POST /tasks/{id}/messages/handed", "hand-messages", "Note that the agent of an external task was handed messages"),
		func(ctx context.Context, c fermata.Caller, in *idBody[handedMessages]) (*empty, error) {
			return emptyOf(e.HandMessages(ctx, c, in.ID, in.Body.IDs))
		})
	addOperation(s, operation("POST /tasks/{id}/progress", "report-progress", "Report progress on a task"),
		func(ctx context.Context, c fermata.Caller, in *idBody[fermata.Progress]) (*empty, error) {
			return emptyOf(e.ReportProgress(ctx, c, in.ID, in.Body))
		})
}
