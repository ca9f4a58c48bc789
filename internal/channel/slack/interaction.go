package slack

import (
	"context"
	"net/http"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// interaction is one action of a person in Slack, such as a click, a form or a
// reply, while it is processed.
type interaction struct {
	c          *Channel
	hear       notice.InboundHandler
	user, name string
	responder  privateResponder
	in         *notice.Inbound
	// thread reports whether the text was written in the thread of a question.
	thread bool
	// message is the message whose button was pressed.
	message *api.Message
	// trigger lets the channel open a form, if the person must see an action
	// before approving it.
	trigger string
	// complete fills in the answer with the help of the loaded question. It returns false if that is not possible.
	complete func(q *fermata.Question) bool
}

// interactionResult is the outcome of an interaction. form is the question if it
// must be answered in a form instead.
type interactionResult struct {
	verdict notice.Verdict
	form    *fermata.Question
	err     error
}

const notCounted = "Your answer could not be counted just now. Please try it again in a moment, or open the question in Fermata."

func (t *interaction) setQuestion(p buttonValue) {
	t.in.Question, t.in.Delivery, t.in.Reply = p.Question, p.Delivery, p.Reply
}

func (t *interaction) setAnswer(p buttonValue, value any) {
	t.in.Answer = &fermata.Answer{Answer: value, ActionHash: p.Hash, Channel: Kind}
}

// run processes the interaction and returns the response for Slack. It returns false if it failed, so that a repeated
// request is processed again.
func (t *interaction) run(ctx context.Context, finish func(interactionResult) reply) (reply, bool) {
	work, cancel := context.WithTimeout(ctx, longestWork)
	done := make(chan interactionResult, 1)
	go func() { done <- t.process(work) }()
	timer := time.NewTimer(t.c.patience)
	defer timer.Stop()
	select {
	case h := <-done:
		cancel()
		if h.err != nil {
			t.log(ctx, "slack: an answer could not be counted", h.err)
			return reply{status: http.StatusServiceUnavailable, afterResponse: t.tellFunc(notCounted)}, false
		}
		return finish(h), true
	case <-timer.C:
		return reply{status: http.StatusOK, afterResponse: func(ctx context.Context) {
			defer cancel()
			t.finishLate(ctx, work, done)
		}}, true
	}
}

// process identifies the person, and passes the answer to the server.
func (t *interaction) process(ctx context.Context) interactionResult {
	if err := t.identify(ctx); err != nil {
		return interactionResult{err: err}
	}
	if t.complete != nil || t.trigger != "" || t.thread {
		v, err := t.currentQuestion(ctx)
		if err != nil || v.Question == nil && !t.thread {
			return interactionResult{verdict: v, err: err}
		}
		if v.Question != nil && v.Code == "" && t.needsConfirmation(v.Question) {
			return interactionResult{verdict: notice.Verdict{Code: fermata.CodeInvalidRequest, Words: confirmWords, Question: v.Question}}
		}
		if t.trigger != "" && approvesUnseen(v.Question, t.in.Text) {
			return interactionResult{form: v.Question}
		}
		if t.complete != nil && !t.complete(v.Question) {
			return interactionResult{verdict: notice.Verdict{Code: fermata.CodeInvalidRequest, Words: "This option is not there any more. Open the question in Fermata.", Question: v.Question}}
		}
	}
	v, err := t.hear(ctx, t.in)
	return interactionResult{verdict: v, err: err}
}

func (t *interaction) identify(ctx context.Context) error {
	who, err := t.c.people.identity(ctx, t.c, t.user, t.name)
	t.in.From = who
	return err
}

// currentQuestion asks the server for the current question.
func (t *interaction) currentQuestion(ctx context.Context) (notice.Verdict, error) {
	query := *t.in
	query.ID, query.Text, query.Answer = "", "", nil
	return t.hear(ctx, &query)
}

// approvesUnseen reports whether a command would approve an action that the
// person may not have seen in Slack.
func approvesUnseen(q *fermata.Question, text string) bool {
	if q.Status != fermata.Pending || len(q.Action) == 0 {
		return false
	}
	a, err := notice.ParseReply(q, text)
	return err == nil && (a.Answer == fermata.Approve || containsValue(a.Answers, fermata.Approve))
}

// confirmWords say how to give an answer that needs a confirmation.
const confirmWords = "This did not count: to approve at high risk, or to choose an option that is marked as dangerous, you must confirm, and a typed answer cannot do that. " +
	"Press its button in the message with the question, and confirm; or open the question in Fermata."

// needsConfirmation reports whether a typed text gives an answer that a button
// would ask to confirm. An approval whose action the person must see first gets a form
// instead.
func (t *interaction) needsConfirmation(q *fermata.Question) bool {
	if q.Status != fermata.Pending || t.in.Text == "" || t.trigger != "" && approvesUnseen(q, t.in.Text) {
		return false
	}
	a, err := t.in.Read(q)
	return err == nil && notice.NeedsConfirmation(q, &a)
}

func containsValue(answers map[string]any, value string) bool {
	for _, v := range answers {
		if v == value {
			return true
		}
	}
	return false
}

// finishLate continues after Slack has its response. Meanwhile, the message has no buttons and says that the answer is
// not counted yet. If the work fails, finishLate restores the buttons.
func (t *interaction) finishLate(ctx, work context.Context, done <-chan interactionResult) {
	t.stripButtons(ctx)
	h := <-done
	for wait := time.Second; h.err != nil && work.Err() == nil; wait *= 2 {
		t.log(ctx, "slack: an answer could not be counted yet", h.err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			h = t.process(work)
		case <-work.Done():
			timer.Stop()
		}
	}
	// This context is a new one, so that the person is told even if the work was stopped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	switch {
	case h.err != nil:
		t.log(ctx, "slack: an answer was not counted", h.err)
		t.restoreButtons(ctx)
		t.responder.tell(ctx, t.c, notCounted)
	case h.form != nil:
		t.responder.tell(ctx, t.c, "Open the question to see what will run, and approve it there.")
	default:
		t.showOutcome(ctx, h.verdict)
		t.responder.tell(ctx, t.c, t.replyWords(h.verdict))
	}
}

func (t *interaction) log(ctx context.Context, msg string, err error) {
	//nolint:sloglint // The messages are constants of the callers.
	t.c.env.Log.WarnContext(ctx, msg, "question", t.in.Question, "error", err)
}

// tellFunc returns a function that tells the person the words.
func (t *interaction) tellFunc(words string) func(context.Context) {
	return func(ctx context.Context) { t.responder.tell(ctx, t.c, words) }
}

func (t *interaction) afterClick(h interactionResult) reply {
	return reply{status: http.StatusOK, afterResponse: func(ctx context.Context) {
		t.responder.tell(ctx, t.c, h.verdict.Words)
		t.closeStaleMessage(ctx, h.verdict)
	}}
}

func (t *interaction) afterReply(h interactionResult) reply {
	return reply{status: http.StatusOK, afterResponse: t.tellFunc(t.replyWords(h.verdict))}
}

func (t *interaction) afterCommand(h interactionResult) reply {
	if h.form != nil {
		return reply{status: http.StatusOK, afterResponse: func(ctx context.Context) {
			t.openForm(ctx, h.form, t.trigger, formData{buttonValue: buttonValue{Question: h.form.ID}, Channel: t.responder.channel, Respond: t.responder.respond})
		}}
	}
	return reply{status: http.StatusOK, payload: newEphemeral(h.verdict.Words)}
}

// afterForm closes the form if the answer counted. Otherwise it shows the error
// in the form, or replaces the form by the reason.
func (t *interaction) afterForm(view *api.View) func(interactionResult) reply {
	return func(h interactionResult) reply {
		v := h.verdict
		block := firstInput(view)
		switch {
		case v.Counted:
			return reply{status: http.StatusOK, afterResponse: t.tellFunc(v.Words)}
		case v.Code == fermata.CodeInvalidRequest && block != "":
			return reply{status: http.StatusOK, payload: api.NewErrorsViewSubmissionResponse(map[string]string{block: cut(v.Words, maxSection)})}
		default:
			return reply{status: http.StatusOK, payload: api.NewUpdateViewSubmissionResponse(textForm(v.Words))}
		}
	}
}

func firstInput(view *api.View) string {
	for _, b := range view.Blocks.BlockSet {
		if b.BlockType() == api.MBTInput {
			return b.ID()
		}
	}
	return ""
}

// textForm returns a form that only shows a text.
func textForm(s string) *api.ModalViewRequest {
	return &api.ModalViewRequest{
		Type: api.VTModal, Title: plainBlock("Not counted"), Close: plainBlock("Close"),
		Blocks: api.Blocks{BlockSet: []api.Block{api.NewSectionBlock(plainBlock(cut(s, maxSection)), nil, nil)}},
	}
}

// showFormFunc returns a function that opens the form of the question. It first
// checks the current question, and whether the person may answer it.
func (t *interaction) showFormFunc(trigger string, data formData) func(context.Context) {
	return func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, callTime)
		defer cancel()
		var v notice.Verdict
		err := t.identify(ctx)
		if err == nil {
			v, err = t.currentQuestion(ctx)
		}
		switch {
		case err != nil:
			t.log(ctx, "slack: a form could not be made", err)
			t.responder.tell(ctx, t.c, "The form could not be opened just now. Please try it again in a moment.")
		case v.Question != nil && v.Question.Status != fermata.Pending:
			t.responder.tell(ctx, t.c, "It is closed: "+notice.OutcomeWords(v.Question)+".")
			t.closeStaleMessage(ctx, v)
		case v.Question == nil || v.Code != "":
			t.responder.tell(ctx, t.c, v.Words)
		default:
			data.Question, data.Hash = v.Question.ID, hashSeen(v.Question, data.Hash)
			t.openForm(ctx, v.Question, trigger, data)
		}
	}
}

// hashSeen returns the hash of the action that the form shows. It is the hash
// from the message, if the message had one.
func hashSeen(q *fermata.Question, seen string) string {
	if seen != "" {
		return seen
	}
	return q.ActionHash
}

func (t *interaction) openForm(ctx context.Context, q *fermata.Question, trigger string, data formData) {
	data.Hash = hashSeen(q, data.Hash)
	view, fits := buildForm(q, data)
	if !fits {
		t.responder.tell(ctx, t.c, "The question does not fit a form of Slack. Open it in Fermata.")
		return
	}
	_, err := t.c.api.OpenViewContext(ctx, trigger, view)
	if err = callFailure("open a form", err); err != nil {
		t.log(ctx, "slack: a form could not be opened", err)
		t.responder.tell(ctx, t.c, "Slack did not open the form in time. Please press again.")
	}
}
