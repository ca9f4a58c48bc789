package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// maxInboundIDLength is the longest id of a remote system that is stored as it is; a longer one is hashed.
const maxInboundIDLength = 300

// handleInbound implements [notice.InboundHandler] for the channel.
func (ch *openChannel) handleInbound(ctx context.Context, in *notice.Inbound) (notice.Verdict, error) {
	id := in.ID
	if isReadOnly(in) {
		// A person who only looks has not answered yet, so a later message with this id may count.
		id = ""
	}
	if len(id) > maxInboundIDLength {
		id = fermata.HashSecret(id)
	}
	info := ch.info()
	r := ch.w.s.db.Reader(ctx, ch.w.id)
	in.Text = ch.withoutBearers(ctx, r, in)
	if id != "" {
		before, err := r.InboundVerdict(info.ID, id)
		if err != nil {
			return notice.Verdict{}, err
		}
		if before != nil {
			return ch.repeatVerdict(r, info, in, before)
		}
	}
	if in.RemoteEvent != nil {
		return ch.recordReportedEvent(ctx, id, in.RemoteEvent)
	}
	v, err := ch.takeAnswer(ctx, r, info, in)
	if err != nil || id == "" {
		return v, err
	}
	// The answer is written before its verdict. If the process dies in between and the message arrives again, the
	// answer counts as a repetition.
	return v, ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		stored := storedVerdict{Counted: v.Counted, Code: v.Code, Words: v.Words}
		if v.Question != nil {
			stored.Question = v.Question.ID
		}
		tx.SaveInboundVerdict(info.ID, id, mustJSON(stored))
		return nil
	})
}

// withoutBearers returns the text of a reply without the links and secrets with which anybody could answer in the
// person's name. A reply may quote the message, with its link and its reply address.
func (ch *openChannel) withoutBearers(ctx context.Context, r store.Reader, in *notice.Inbound) string {
	d := &fermata.Delivery{ID: in.Delivery}
	if in.Reply != "" {
		// An invalid secret is refused later, when findQuestion looks up the question.
		if found, err := ch.deliveryByReply(ctx, r, in.Reply); err == nil {
			d = found
		}
	}
	return d.RemoveSecrets(in.Text)
}

// isReadOnly reports whether a channel only reads the question, to show a form.
func isReadOnly(in *notice.Inbound) bool {
	return in.Text == "" && in.Answer == nil && in.RemoteEvent == nil
}

// storedVerdict is a verdict as the database stores it.
type storedVerdict struct {
	Counted  bool         `json:"counted,omitempty"`
	Code     fermata.Code `json:"code,omitempty"`
	Words    string       `json:"words"`
	Question string       `json:"question,omitempty"`
}

// repeatVerdict returns the stored verdict again, unless the question has become hidden from the person.
func (ch *openChannel) repeatVerdict(r store.Reader, info fermata.Channel, in *notice.Inbound, before json.RawMessage) (notice.Verdict, error) {
	var stored storedVerdict
	if err := json.Unmarshal(before, &stored); err != nil {
		return notice.Verdict{}, err
	}
	v := notice.Verdict{Counted: stored.Counted, Code: stored.Code, Words: stored.Words}
	if stored.Question == "" {
		return v, nil
	}
	m, err := ch.findMember(r, info, in)
	if err != nil {
		return ch.refusedVerdict(nil, nil, err)
	}
	q, err := readerFor(r, m).Question(stored.Question)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return ch.refusedVerdict(nil, nil, unknownQuestionError())
	}
	if err != nil {
		return v, err
	}
	v.Question, _ = publicQuestion(q, ch.kind.Public)
	return v, nil
}

// takeAnswer finds the question, the member and the answer, and applies the answer.
func (ch *openChannel) takeAnswer(ctx context.Context, r store.Reader, info fermata.Channel, in *notice.Inbound) (notice.Verdict, error) {
	if in.From.DenialReason != "" {
		// The reply is the same whether or not the person is a member, so it does not reveal this.
		return ch.refusedVerdict(nil, nil, ch.deniedError(ctx, r, in))
	}
	m, err := ch.findMember(r, info, in)
	if err != nil {
		return ch.refusedVerdict(nil, nil, err)
	}
	r = readerFor(r, m)
	q, d, err := ch.findQuestion(ctx, r, in)
	if err != nil {
		return ch.refusedVerdict(nil, nil, err)
	}
	c := memberCaller(ch.w.id, m, ch.assurance())
	if err := ch.checkMayAnswer(ctx, q, d, m, c); err != nil {
		return ch.refusedVerdict(q, &c, err)
	}
	a, err := answerOf(q, in)
	if isReadOnly(in) {
		return ch.readOnlyVerdict(q, err), nil
	}
	if err != nil {
		return ch.refusedVerdict(q, &c, err)
	}
	a.Channel = info.Kind
	if err := ch.checkActionShown(r, info, q, d, m, in, &a); err != nil {
		return ch.refusedVerdict(q, &c, err)
	}
	before := q
	q, err = ch.w.s.e.Answer(ctx, c, q.ID, a)
	if err != nil {
		return ch.refusedVerdict(before, &c, err)
	}
	return ch.acceptedVerdict(q, m), nil
}

// readerFor returns a reader that finds only the projects that the member may see. For the member, a question of a
// hidden project does not exist.
func readerFor(r store.Reader, m *fermata.Member) store.Reader {
	return r.WithVisibleProjects(m.Caller().VisibleProjects())
}

// findMember returns the member with the identity. It uses the identities that an admin set, or a mail address that the
// remote system has verified.
func (ch *openChannel) findMember(r store.Reader, info fermata.Channel, in *notice.Inbound) (*fermata.Member, error) {
	from := in.From
	kind := from.Kind
	if kind == "" {
		kind = info.Kind
	}
	var m *fermata.Member
	id, err := r.Identity(kind, from.ID)
	switch {
	case err == nil && from.ID != "":
		m, err = r.Member(id.MemberID)
	case fermata.CodeOf(err) == fermata.CodeNotFound && from.Email != "":
		m, err = r.MemberByEmail(fermata.CanonicalEmail(from.Email))
	}
	if err != nil && fermata.CodeOf(err) != fermata.CodeNotFound {
		return nil, err
	}
	if m == nil || m.DisabledAt != nil {
		return nil, fermata.Errorf(fermata.CodeNotEligible, "no active member is connected with %s", cmp.Or(from.Name, from.ID, "this sender")).
			WithHint("ask an admin to connect you: fermata member identity HANDLE %s %s", kind, from.ID)
	}
	return m, nil
}

// deniedError returns an error that says why the remote system does not let a person decide there, and what the person
// can do instead. It contains the address of the question only if the person has the question's message.
func (ch *openChannel) deniedError(ctx context.Context, r store.Reader, in *notice.Inbound) error {
	e := fermata.Errorf(fermata.CodeNotEligible, "you may not decide here: %s", in.From.DenialReason)
	hints := []string{}
	if in.From.Remedy != "" {
		hints = append(hints, in.From.Remedy)
	}
	if in.Reply != "" || in.Delivery != "" {
		if q, _, err := ch.findQuestion(ctx, r, in); err == nil {
			hints = append(hints, "open the question and answer there: "+ch.w.s.PublicURL+"/q/"+q.ID)
		}
	}
	if len(hints) == 0 {
		return e
	}
	return e.WithHint("%s", strings.Join(hints, ", or "))
}

// unknownQuestionError returns the error for a person who may not see the question, or whose message names no question.
func unknownQuestionError() error {
	return fermata.Errorf(fermata.CodeNotFound, "it is not clear which question this answers").
		WithHint("answer in reply to the message with the question, or name its id")
}

// findQuestion finds the question of an answer: by the secret of the message, by the delivery, or by the question's
// id.
func (ch *openChannel) findQuestion(ctx context.Context, r store.Reader, in *notice.Inbound) (*fermata.Question, *fermata.Delivery, error) {
	d, err := ch.findDelivery(ctx, r, in)
	if err != nil {
		return nil, nil, err
	}
	questionID := in.Question
	if d != nil && questionID == "" {
		questionID = d.QuestionID
	}
	if questionID == "" {
		return nil, nil, unknownQuestionError()
	}
	id, err := r.FindID("question", "questions", fermata.PrefixQuestion, questionID)
	if err == nil {
		var q *fermata.Question
		if q, err = r.Question(id); err == nil {
			if d != nil && d.QuestionID != q.ID {
				return nil, nil, unknownQuestionError()
			}
			return q, d, nil
		}
	}
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, nil, unknownQuestionError()
	}
	return nil, nil, err
}

// findDelivery returns the delivery that the message answers. It finds the delivery by the reply secret, or by the id.
// If the message has neither, it returns nil.
func (ch *openChannel) findDelivery(ctx context.Context, r store.Reader, in *notice.Inbound) (d *fermata.Delivery, err error) {
	switch {
	case in.Reply != "":
		d, err = ch.deliveryByReply(ctx, r, in.Reply)
	case in.Delivery != "":
		d, err = r.Delivery(in.Delivery)
	default:
		return nil, nil
	}
	if fermata.CodeOf(err) == fermata.CodeNotFound || err == nil && (d.ChannelID != ch.info().ID || d.QuestionID == "") {
		return nil, unknownQuestionError()
	}
	return d, err
}

// checkMayAnswer refuses an answer by a person who is not the recipient of the message, or who may not answer.
func (ch *openChannel) checkMayAnswer(ctx context.Context, q *fermata.Question, d *fermata.Delivery, m *fermata.Member, c fermata.Caller) error {
	if d != nil && d.MemberID != "" && d.MemberID != m.ID {
		return fermata.Errorf(fermata.CodeNotEligible, "the message that you answer is somebody else's").
			WithHint("answer in reply to your own message, or at %s", ch.w.s.PublicURL+"/q/"+q.ID)
	}
	if err := q.CheckMayDecide(c); err != nil {
		return err
	}
	return ch.checkLink(ctx, m, q)
}

// answerOf returns the answer that the person gave.
func answerOf(q *fermata.Question, in *notice.Inbound) (fermata.Answer, error) {
	if in.Answer != nil {
		return *in.Answer, nil
	}
	return in.Read(q)
}

// checkActionShown makes sure that a person who approves was shown the action over this channel. If the person only
// typed the question's id, nothing proves that the person saw the action.
func (ch *openChannel) checkActionShown(r store.Reader, info fermata.Channel, q *fermata.Question, d *fermata.Delivery, m *fermata.Member, in *notice.Inbound, a *fermata.Answer) error {
	if q.Type != fermata.Approval {
		a.ActionHash = ""
		return nil
	}
	if q.ActionHash == "" || q.Status != fermata.Pending {
		// There is no action to check, or the question is closed. A late answer gets a verdict that names the first
		// one.
		return nil
	}
	if in.Answer != nil && in.Answer.ActionHash != "" {
		// The channel vouches that it showed this action, by naming its hash.
		return nil
	}
	_, isComplete := publicQuestion(q, ch.kind.Public)
	wasShown := d != nil && hasOfferedDecision(d, isComplete)
	if !wasShown {
		all, err := r.DeliveriesOf([]string{q.ID})
		if err != nil {
			return err
		}
		wasShown = slices.ContainsFunc(all, func(d *fermata.Delivery) bool {
			return d.ChannelID == info.ID && hasOfferedDecision(d, isComplete) && (d.MemberID == "" || d.MemberID == m.ID)
		})
	}
	if !wasShown {
		return fermata.Errorf(fermata.CodeNotEligible, "the action that you would approve was not shown to you here").
			WithHint("look at it and answer at %s", ch.w.s.PublicURL+"/q/"+q.ID)
	}
	a.ActionHash = q.ActionHash
	return nil
}

// hasOfferedDecision reports whether a message offered a decision. A message that is being sent counts as well, because
// it may be answered before its result is recorded.
func hasOfferedDecision(d *fermata.Delivery, isComplete bool) bool {
	return d.CanDecide || isComplete && d.LeasedUntil != nil && d.State != fermata.DeliverySent
}

// readOnlyVerdict returns the question for a person who may answer it and has not answered yet.
func (ch *openChannel) readOnlyVerdict(q *fermata.Question, answerErr error) notice.Verdict {
	v := notice.Verdict{}
	v.Question, _ = publicQuestion(q, ch.kind.Public)
	var e *fermata.Error
	switch {
	case q.Status != fermata.Pending:
		v.Code, v.Words = fermata.CodeQuestionClosed, "It is closed: "+notice.OutcomeOf(v.Question).Words+"."
	case errors.As(answerErr, &e):
		v.Words = errorSentence(e)
	default:
		v.Words = "You have said nothing yet."
	}
	return v
}

// acceptedVerdict returns the verdict on an answer that was accepted.
func (ch *openChannel) acceptedVerdict(q *fermata.Question, m *fermata.Member) notice.Verdict {
	shown, _ := publicQuestion(q, ch.kind.Public)
	v := notice.Verdict{Counted: true, Question: shown}
	switch {
	case q.Status == fermata.Pending && q.Approvals != nil && q.Approvals.Required > 1:
		given := 0
		for _, vote := range q.Votes {
			if vote.Value == fermata.Approve {
				given++
			}
		}
		v.Words = fmt.Sprintf("Your vote counts. %d of %d approvals are given.", given, q.Approvals.Required)
	case q.Status == fermata.TimedOut:
		v.Counted, v.Code = false, fermata.CodeQuestionClosed
		v.Words = "Your answer came too late and was kept: the question " + notice.OutcomeOf(shown).Words + "."
	case q.Resolution != nil:
		v.Words = "Your answer counts: " + notice.OutcomeOf(shown).Words + "."
	default:
		v.Words = "Your answer counts, " + nameOf(m) + "."
	}
	return v
}

func nameOf(m *fermata.Member) string {
	if m.Name != "" {
		return m.Name
	}
	return m.Handle
}

// refusedVerdict returns the verdict on an answer that does not count. If a temporary failure leaves this open, it
// returns the error, so that the channel delivers the answer again.
func (ch *openChannel) refusedVerdict(q *fermata.Question, c *fermata.Caller, err error) (notice.Verdict, error) {
	var e *fermata.Error
	if !errors.As(err, &e) || e.Code == fermata.CodeInternal || e.Code == fermata.CodeUnavailable || e.Code == fermata.CodeRateLimited {
		return notice.Verdict{}, err
	}
	v := notice.Verdict{Code: e.Code}
	if e.Question != nil {
		q = e.Question
	}
	if q != nil && c != nil && c.RoleIn(q.Project) != "" {
		v.Question, _ = publicQuestion(q, ch.kind.Public)
	}
	switch {
	case e.Code == fermata.CodeQuestionClosed && v.Question != nil && v.Question.Resolution != nil:
		v.Words = "Somebody was first: " + notice.OutcomeOf(v.Question).Words + "."
	case e.Code == fermata.CodeQuestionClosed:
		v.Words = "Somebody was first: " + e.Message + "."
	default:
		v.Words = errorSentence(e)
	}
	return v, nil
}

// errorSentence returns a text that says what is wrong, and what to do instead.
func errorSentence(e *fermata.Error) string {
	parts := []string{capitalize(e.Message)}
	if len(e.Problems) > 1 {
		parts = parts[:0]
		for _, p := range e.Problems {
			parts = append(parts, capitalize(strings.TrimSpace(p.Field+" "+p.Message)))
		}
	}
	text := strings.Join(parts, ". ")
	text = strings.TrimRight(text, ".") + "."
	if e.Hint != "" {
		text += " " + capitalize(strings.TrimRight(e.Hint, ".")) + "."
	}
	return text
}

func capitalize(s string) string {
	r := []rune(s)
	if len(r) == 0 {
		return s
	}
	return strings.ToUpper(string(r[0])) + string(r[1:])
}
