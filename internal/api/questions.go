package api

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

type (
	questionReply = reply[*fermata.Question]
	questionList  = reply[page[*fermata.Question]]
)

// outsideAsk is a question outside any task.
type outsideAsk struct {
	Project string `json:"project,omitempty" maxLength:"64"`
	Session string `json:"session,omitempty" maxLength:"128" doc:"questions of one session share a task"`
	fermata.Ask
}

// QuestionFilterInput narrows questions, in lists and in counts.
type QuestionFilterInput struct {
	For      string `query:"for" enum:"me" doc:"me: those that the caller may answer and has not put off"`
	Type     string `query:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Urgency  string `query:"urgency" enum:"high,low" doc:"high: a task stops until it is answered"`
	Risk     string `query:"risk" enum:"low,medium,high,critical"`
	Project  string `query:"project" maxLength:"64"`
	Assignee string `query:"assignee" maxLength:"100"`
	Label    string `query:"label" maxLength:"100" doc:"a label of the task"`
}

// filter returns the filter for the engine.
func (in *QuestionFilterInput) filter() engine.QuestionFilter {
	return engine.QuestionFilter{
		Mine: in.For == "me", Type: in.Type, Urgency: in.Urgency, Risk: in.Risk, Project: in.Project, Assignee: in.Assignee,
		Label: in.Label,
	}
}

// QuestionsInput narrows a list of questions.
type QuestionsInput struct {
	PageInput
	QuestionFilterInput
	Status  string `query:"status" enum:"pending,answered,timed_out,cancelled"`
	Q       string `query:"q" maxLength:"200" doc:"a part of the title, the body, a prompt or the task's title"`
	Snoozed bool   `query:"snoozed" doc:"those that the caller put off"`
	Sort    string `query:"sort" enum:"urgency,deadline,newest,oldest,inbox,project" doc:"default: pending ones the most urgent first, others the newest first; inbox: pending ones by their section"`
}

// filter returns the filter for the engine.
func (in *QuestionsInput) filter(taskID string) engine.QuestionFilter {
	f := in.QuestionFilterInput.filter()
	f.Status, f.Q, f.Snoozed, f.Sort = in.Status, in.Q, in.Snoozed, in.Sort
	f.TaskID, f.Limit, f.Cursor = taskID, in.Limit, in.Cursor
	return f
}

// taskQuestionsInput narrows a list of one task's questions.
type taskQuestionsInput struct {
	IDInput
	QuestionsInput
}

// questionInput names a question, and how long to wait until it closes.
type questionInput struct {
	IDInput
	Wait     string `query:"wait" maxLength:"20" doc:"how long to wait until it is closed, up to 60s"`
	Messages bool   `query:"messages" doc:"return also when a person wrote to the agent of an external task something that it was not handed"`
}

// extension moves a deadline to a later time.
type extension struct {
	By fermata.Timeout `json:"by" minLength:"1" maxLength:"20" doc:"30m, 36h, 3d"`
}

func (s *Server) registerQuestions() {
	addOperation(s, withStatusCreated(operation("POST /tasks/{id}/questions", "ask", "Ask people a question in a task")), s.ask)
	addOperation(s, withStatusCreated(operation("POST /questions", "ask-outside", "Ask people a question outside any task")), s.askOutside)
	addOperation(s, operation("GET /questions", "list-questions", "List questions. A page may be shorter than its limit, even empty: go on while there is a next_cursor"), s.questions)
	addOperation(s, operation("GET /tasks/{id}/questions", "list-task-questions", "List the questions of a task"), s.taskQuestions)
	addOperation(s, operation("GET /questions/{id}", "get-question", "Read a question, or wait for its end"), s.question)
	addOperation(s, operation("POST /questions/{id}/answer", "answer", "Answer a question"), s.answer)
	e := s.Engine
	addOperation(s, operation("POST /questions/{id}/clarify", "clarify", "Ask the agent back; the question stays open"),
		func(ctx context.Context, c fermata.Caller, in *idBody[messageBody]) (*questionReply, error) {
			return replyOf(e.Clarify(ctx, c, in.ID, in.Body.Body))
		})
	addOperation(s, operation("POST /questions/{id}/cancel", "cancel-question", "Withdraw a question"),
		func(ctx context.Context, c fermata.Caller, in *idBody[*reason]) (*questionReply, error) {
			return replyOf(e.CancelQuestion(ctx, c, in.ID, in.Body.text()))
		})
	addOperation(s, operation("POST /questions/{id}/extend", "extend", "Put the deadline of a question off"),
		func(ctx context.Context, c fermata.Caller, in *idBody[extension]) (*questionReply, error) {
			return replyOf(e.ExtendQuestion(ctx, c, in.ID, in.Body.By))
		})
	s.registerDecisions()
	s.registerAnswers()
	s.registerInbox()
}

func (s *Server) ask(ctx context.Context, c fermata.Caller, in *idBody[fermata.Ask]) (*questionReply, error) {
	if err := s.limits.limitTask(c, in.ID); err != nil {
		return nil, err
	}
	return replyOf(s.Engine.Ask(ctx, c, in.ID, in.Body))
}

func (s *Server) askOutside(ctx context.Context, c fermata.Caller, in *bodyInput[outsideAsk]) (*questionReply, error) {
	if in.Body.Session != "" {
		if err := s.limits.limitSession(c, in.Body.Session); err != nil {
			return nil, err
		}
	}
	return replyOf(s.Engine.AskExternal(ctx, c, in.Body.Project, in.Body.Session, in.Body.Ask))
}

func (s *Server) questions(ctx context.Context, c fermata.Caller, in *QuestionsInput) (*questionList, error) {
	return pageOf(s.Engine.Questions(ctx, c, in.filter("")))
}

func (s *Server) taskQuestions(ctx context.Context, c fermata.Caller, in *taskQuestionsInput) (*questionList, error) {
	return pageOf(s.Engine.Questions(ctx, c, in.filter(in.ID)))
}

func (s *Server) question(ctx context.Context, c fermata.Caller, in *questionInput) (*questionReply, error) {
	wait, err := parseWait(in.Wait)
	if err != nil {
		return nil, err
	}
	if wait == 0 {
		return replyOf(s.Engine.Question(ctx, c, in.ID))
	}
	waiting, done := s.waitContext(ctx)
	defer done()
	waitFor := s.Engine.WaitQuestion
	if in.Messages {
		waitFor = s.Engine.WaitQuestionOrMessage
	}
	q, err := waitFor(waiting, c, in.ID, wait)
	if s.wasDrained(ctx, err) {
		return replyOf(s.Engine.Question(ctx, c, in.ID))
	}
	return replyOf(q, err)
}

func (s *Server) answer(ctx context.Context, c fermata.Caller, in *idBody[fermata.Answer]) (*questionReply, error) {
	if err := s.limits.limitQuestion(c, in.ID); err != nil {
		return nil, err
	}
	return replyOf(s.answerSigned(ctx, c, in.ID, in.Body))
}
