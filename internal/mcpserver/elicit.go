package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/fermata-hq/fermata"
)

const (
	// formsInResultsVersion is the first version of the protocol in which a
	// server sends a form in the result of a call. In earlier versions, the
	// server sends the form in a separate request.
	formsInResultsVersion = "2026-07-28"
	// formKey is the name of the only form in a result.
	formKey = "answer"
	// elicitChannel is the channel of an answer that came through the client.
	elicitChannel = "mcp"
	// otherSuffix ends the name of the field for an answer that is not one of
	// the options.
	otherSuffix = "_other"
)

// elicitForm returns the form by which the client can show the question, or nil if
// the client may not or cannot show it. The client of an agent's token never
// gets a form, because its answer may not come from a person. Approvals are
// never answered in a form, because the form does not show the whole action.
func (c *call) elicitForm(ctx context.Context, q *fermata.Question) *mcp.ElicitParams {
	caps := c.ClientCapabilities()
	if q.Type == fermata.Approval || caps == nil || caps.Elicitation == nil {
		return nil
	}
	if e := caps.Elicitation; e.Form == nil && e.URL != nil {
		return nil
	}
	if !c.backend.IsPerson(ctx) {
		return nil
	}
	fields, required := schema{}, []string{}
	for i := range q.Items {
		it := &q.Items[i]
		fields[it.Key] = formField(it)
		if it.TakesOther() {
			fields[it.Key+otherSuffix] = schema{"type": "string", "title": "Something else", "description": it.Prompt}
		} else if it.IsRequired() {
			required = append(required, it.Key)
		}
	}
	message := q.Title
	if q.Body != "" {
		message += "\n\n" + q.Body
	}
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: object(fields, required...)}
}

// formField returns the schema of one item, within the small part of JSON
// Schema that forms may use.
func formField(it *fermata.Item) schema {
	f := schema{"type": "string", "title": it.Prompt}
	if it.Header != "" {
		f["title"], f["description"] = it.Header, it.Prompt
	}
	values := make([]string, 0, len(it.Options))
	var lines []string
	for _, o := range it.Options {
		values = append(values, o.Value)
		if o.Description != "" {
			lines = append(lines, o.Text()+": "+o.Description)
		}
	}
	if len(lines) > 0 {
		f["description"] = strings.Join(append([]string{it.Prompt}, lines...), "\n")
	}
	switch it.ResponseType {
	case fermata.ResponseChoice:
		f["enum"] = values
	case fermata.ResponseMultiChoice:
		f["type"], f["items"] = "array", schema{"type": "string", "enum": values}
	case fermata.ResponseBoolean:
		f["type"] = "boolean"
	case fermata.ResponseNumber:
		f["type"] = "number"
	case fermata.ResponseDate:
		f["format"] = "date"
	case fermata.ResponseText, fermata.ResponseApproval:
	}
	return f
}

// showForm shows the question in the client while the call waits. An answer closes
// the question like any other answer, and the wait then ends.
func (s *Server) showForm(ctx context.Context, c *call, q *fermata.Question, form *mcp.ElicitParams) {
	result, err := c.Session.Elicit(ctx, form)
	if err != nil {
		if ctx.Err() == nil {
			s.Log.DebugContext(ctx, "the client did not show the question", "question", q.ID, "error", err)
		}
		return
	}
	if err := c.answerFromForm(ctx, q, result); err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "an answer through the client was refused", "question", q.ID, "error", err)
	}
}

// answerFromForm answers the question with the content of the form. A person that
// dismisses the form has not answered.
func (c *call) answerFromForm(ctx context.Context, q *fermata.Question, result *mcp.ElicitResult) error {
	if result.Action != "accept" {
		return nil
	}
	answers := map[string]any{}
	for i := range q.Items {
		it := &q.Items[i]
		value, ok := result.Content[it.Key]
		if other, _ := result.Content[it.Key+otherSuffix].(string); it.TakesOther() && other != "" {
			value, ok = addOther(it, value, other), true
		}
		if ok {
			answers[it.Key] = value
		}
	}
	_, err := c.backend.Answer(ctx, q.ID, fermata.Answer{Answers: answers, Channel: elicitChannel})
	return err
}

func addOther(it *fermata.Item, value any, other string) any {
	if it.ResponseType != fermata.ResponseMultiChoice {
		return other
	}
	list, _ := value.([]any)
	return append(list, other)
}

// waitWithForm waits by returning the form as the result of the call. The
// client shows it and repeats the call with the content. If the person gave no
// answer, the repeated call waits for one.
func (s *Server) waitWithForm(ctx context.Context, c *call, q *fermata.Question, form *mcp.ElicitParams, wait time.Duration) (*fermata.Question, *mcp.CallToolResult, error) {
	result, filled := c.Params.InputResponses[formKey].(*mcp.ElicitResult)
	if !filled {
		return q, &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{formKey: form}, RequestState: q.ID}, nil
	}
	if c.Params.RequestState != q.ID {
		return nil, nil, fermata.Errorf(fermata.CodeInvalidRequest, "the form belongs to another question than %s", q.ID)
	}
	if err := c.answerFromForm(ctx, q, result); err != nil {
		return nil, nil, fmt.Errorf("answer through the client: %w", err)
	}
	q, err := s.waitQuietly(ctx, c, q, wait)
	return q, nil, err
}
