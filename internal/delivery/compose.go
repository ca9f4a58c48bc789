package delivery

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/redact"
	"github.com/fermata-hq/fermata/internal/store"
)

// composer builds the message of a delivery.
type composer struct {
	*openChannel
	r      store.Reader
	c      *claim
	people *people
	// prefs are the preferences of the recipient.
	prefs fermata.Preferences
	n     *notice.Notice
	shown shownState
}

// shownState is what a message shows of its question.
type shownState struct {
	status fermata.QuestionStatus
	// seq is the newest event that the message knows.
	seq            int64
	offersDecision bool
}

// compose builds the message of a delivery. If the message is not needed, or may not be sent at the moment, it returns
// the outcome instead.
func (ch *openChannel) compose(ctx context.Context, c *claim) (*notice.Notice, shownState, *outcome, error) {
	now, err := ch.w.s.db.Now(ctx)
	if err != nil {
		return nil, shownState{}, nil, err
	}
	p, err := ch.w.loadPeople(ctx)
	if err != nil {
		return nil, shownState{}, nil, err
	}
	m := &composer{
		openChannel: ch, r: ch.w.s.db.Reader(ctx, ch.w.id), c: c, people: p, shown: shownState{seq: c.WantedEvent},
		n: &notice.Notice{Delivery: c.ID, Purpose: notice.Purpose(c.Purpose), Title: c.Title, Body: c.Body, At: now},
	}
	if c.State != fermata.DeliverySent && (c.maybeSent || c.FailedTries > 0) {
		m.n.Since = c.CreatedAt
	}
	end, err := m.fillRecipient()
	if err == nil && end == nil {
		end, err = m.fill(ctx)
	}
	return m.n, m.shown, end, err
}

// fill fills in what the message says. It returns an outcome if the message is not sent now.
func (m *composer) fill(ctx context.Context) (end *outcome, err error) {
	switch m.n.Purpose {
	case notice.Event:
		if m.kind.Audience == ToAsker {
			return nil, fillOutcome(m.r, m.c, m.n)
		}
		m.n.Raw, err = eventOf(m.r, m.c.EventSeq)
		return nil, err
	case notice.Test:
		return nil, nil
	case notice.Alert:
		return m.fillAlert()
	case notice.Digest:
		return m.fillDigest()
	default:
		return m.fillQuestion(ctx)
	}
}

// eventOf returns an event as it is sent to machines, without secrets.
func eventOf(r store.Reader, seq int64) (json.RawMessage, error) {
	events, err := r.Events(store.EventFilter{After: seq - 1, Before: seq + 1, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, fermata.NotFound("event", "")
	}
	e := events[0]
	raw, err := json.Marshal(struct {
		Type      fermata.EventType `json:"type"`
		Timestamp time.Time         `json:"timestamp"`
		Data      *fermata.Event    `json:"data"`
	}{e.Type, e.At, e})
	if err != nil {
		return nil, err
	}
	clean, _ := redact.JSON(raw)
	return clean, nil
}

// fillRecipient fills in the recipient of the message, and reads the recipient's preferences.
func (m *composer) fillRecipient() (end *outcome, err error) {
	if m.c.MemberID == "" {
		return nil, nil
	}
	member := m.member()
	if member == nil || member.DisabledAt != nil {
		return withheldOutcome(m.c), nil
	}
	m.n.To = notice.Recipient{
		Member: member.ID, Handle: member.Handle, Name: member.Name, Email: member.Email, ID: m.people.identities[member.ID][m.c.Kind].ID,
	}
	if m.c.DeviceID != "" {
		if end, err := m.fillDevice(); end != nil || err != nil {
			return end, err
		}
	}
	all, err := m.r.Preferences([]string{member.ID})
	m.prefs = all[member.ID]
	m.n.To.Language, m.n.To.Zone = m.prefs.Language, m.prefs.Zone
	return nil, err
}

// member returns the member who gets the message. It is nil if the message goes to a place.
func (m *composer) member() *fermata.Member { return m.people.byID[m.c.MemberID] }

// fillDevice fills in the device of the recipient.
func (m *composer) fillDevice() (end *outcome, err error) {
	device, err := m.r.Device(m.c.DeviceID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return skippedOutcome(fermata.SkippedDeviceGone), nil
	}
	if err != nil {
		return nil, err
	}
	if ended, err := isHolderEnded(m.r, device, m.n.At); ended || err != nil {
		return skippedOutcome(fermata.SkippedDeviceGone), err
	}
	m.n.To.Device, err = json.Marshal(device.Subscription)
	return nil, err
}

// isHolderEnded reports whether the session or the token that added a device has ended.
func isHolderEnded(r store.Reader, d *fermata.Device, now time.Time) (bool, error) {
	var ended bool
	var err error
	switch {
	case d.Holder == "":
		return false, nil
	case d.IsHeldByToken():
		var t *fermata.Token
		if t, err = r.Token(d.Holder); err == nil {
			ended = t.IsEnded(now)
		}
	default:
		var s *fermata.BrowserSession
		if s, err = r.Session(d.Holder); err == nil {
			ended = s.IsEnded(now)
		}
	}
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return true, nil
	}
	return ended, err
}

// withheldOutcome returns the outcome of a message that its recipient may not see. The message is not sent, and a message
// that was sent before stays as it is.
func withheldOutcome(c *claim) *outcome {
	if c.State == fermata.DeliverySent {
		return &outcome{kind: outcomeUnchanged}
	}
	return skippedOutcome(fermata.SkippedNotEligible)
}

// fillAlert fills in the page of the task. The alert is withheld if the task is hidden from its recipient.
func (m *composer) fillAlert() (end *outcome, err error) {
	if m.c.TaskID != "" {
		m.n.Open = m.w.s.PublicURL + "/tasks/" + m.c.TaskID
		if member := m.member(); member != nil {
			t, err := m.r.Task(m.c.TaskID)
			if err != nil {
				return nil, err
			}
			if !member.Sees(t.Project) {
				return withheldOutcome(m.c), nil
			}
		}
	}
	if until := m.prefs.QuietUntil(m.n.At, true); m.c.State != fermata.DeliverySent && until.After(m.n.At) {
		return deferredOutcome(until, fermata.WaitsForQuiet), nil
	}
	return nil, nil
}

// fillQuestion fills in the question.
func (m *composer) fillQuestion(ctx context.Context) (end *outcome, err error) {
	q, err := m.r.Question(m.c.QuestionID)
	if err != nil {
		return nil, err
	}
	member, n := m.member(), m.n
	if member != nil && !member.Sees(q.Project) {
		return withheldOutcome(m.c), nil
	}
	m.shown.status = q.Status
	if m.c.State != fermata.DeliverySent {
		if end, err := m.checkSendable(ctx, q); end != nil || err != nil {
			return end, err
		}
	}
	t, err := m.r.Task(q.TaskID)
	if err != nil {
		return nil, err
	}
	n.TaskTitle, n.Project, n.Open = withoutSecrets(t.Title), q.Project, m.w.s.PublicURL+"/q/"+q.ID
	info := m.info()
	n.To.Target = q.WantedPlace(info.Name, info.Kind)
	if m.c.MemberID == "" {
		n.To.People, n.To.Name = m.people.mentionNames(q, info), m.c.Title
	}
	public, isComplete := publicQuestion(q, m.kind.Public)
	n.Question, n.Outcome = public, notice.OutcomeOf(public)
	if q.Status != fermata.Pending {
		return nil, nil
	}
	if err := m.fillDecision(ctx, q, isComplete); err != nil {
		return nil, err
	}
	m.shown.offersDecision = n.Decide
	n.Answer, err = m.answerLink(ctx, q, member, isComplete)
	return nil, err
}

// fillDecision sets whether the message offers a decision, and the secret that an answer to it carries.
func (m *composer) fillDecision(ctx context.Context, q *fermata.Question, isComplete bool) (err error) {
	answerer, n := placeCaller(m.w.id, m.assurance()), m.n
	member := m.member()
	if member != nil {
		answerer = memberCaller(m.w.id, member, m.assurance())
		n.Question.Answerable = new(q.CheckMayAnswer(answerer) == nil)
	}
	n.Decide = isComplete && mayOfferDecision(q, answerer, m.c.MemberID)
	if n.Decide && member != nil {
		refusal := m.checkLink(ctx, member, q)
		if refusal != nil && fermata.CodeOf(refusal) != fermata.CodeNotEligible {
			return refusal
		}
		n.Decide = refusal == nil
	}
	n.Reply, err = m.replySecret(ctx, m.r, m.c.Delivery)
	return err
}

// checkLink refuses an answer if the channel does not vouch for the person and the member may not answer the question
// by a link.
func (ch *openChannel) checkLink(ctx context.Context, m *fermata.Member, q *fermata.Question) error {
	if ch.assurance() != fermata.AssuranceLink {
		return nil
	}
	return ch.w.s.e.CheckAnswerByLink(ctx, ch.w.id, m, q)
}

// assurance returns the assurance of people who answer over the channel.
func (ch *openChannel) assurance() fermata.Assurance {
	if v, ok := ch.channel.(Voucher); ok && !v.Vouches() {
		return fermata.AssuranceLink
	}
	return fermata.AssuranceChannel
}

// mayOfferDecision reports whether a message may offer a decision. The message is to the member, or to a place if memberID
// is empty.
func mayOfferDecision(q *fermata.Question, c fermata.Caller, memberID string) bool {
	if memberID == "" {
		// In a place, the answerer is unknown until an answer arrives. Only then can assignees and approvals be
		// checked.
		open := *q
		open.Assignees, open.Approvals = nil, nil
		return open.CheckMayDecide(c) == nil
	}
	return q.CheckMayDecide(c) == nil && q.AwaitsAnswerOf(c)
}

// answerLink returns the address at which the member answers without signing in. It is empty if such an answer is not
// allowed.
func (ch *openChannel) answerLink(ctx context.Context, q *fermata.Question, m *fermata.Member, isComplete bool) (string, error) {
	if m == nil || !isComplete || ch.w.s.PublicURL == "" {
		return "", nil
	}
	token, err := ch.w.s.e.AnswerLink(ctx, ch.w.id, q.ID, m.ID)
	if fermata.CodeOf(err) == fermata.CodeNotEligible {
		return "", nil
	}
	return ch.w.s.PublicURL + "/a/" + token, err
}

// checkSendable returns nil if a message that was not sent yet is still needed and may be sent at the moment. Otherwise it
// returns the outcome.
func (m *composer) checkSendable(ctx context.Context, q *fermata.Question) (end *outcome, err error) {
	now, member := m.n.At, m.member()
	closed := q.Status != fermata.Pending || q.IsOverdue(now)
	switch {
	case closed && m.c.maybeSent:
		// The message may have been sent, so its recipient must be told how the question ended.
		return nil, nil
	case hasExpiredInQuietHours(m.c.Delivery, q):
		if until := m.prefs.QuietUntil(now, false); until.After(now) {
			return deferredOutcome(until, fermata.WaitsForQuiet), nil
		}
		return nil, nil
	case closed:
		return skippedOutcome(fermata.SkippedClosed), nil
	case member != nil && !mayAnswer(member, q):
		return skippedOutcome(fermata.SkippedNotEligible), nil
	case member != nil && !m.c.maybeSent && !q.AwaitsAnswerOf(member.Caller()):
		return skippedOutcome(fermata.SkippedNotNeeded), nil
	}
	info := m.info()
	if m.c.MemberID != "" {
		if !m.prefs.Wants(info.Name, info.Kind, q.Type) && !namesChannel(q, info) {
			return skippedOutcome(fermata.SkippedPreferences), nil
		}
		if until := m.prefs.QuestionQuietUntil(q, now); until.After(now) {
			return deferredOutcome(until, fermata.WaitsForQuiet), nil
		}
	}
	if m.c.Condition == fermata.WhenPageClosed {
		open, err := m.recipientHasOpenPage(ctx, q)
		if err != nil {
			return nil, err
		}
		if open {
			return deferredOutcome(m.c.NextPageCheck(now), fermata.WaitsForPage), nil
		}
	}
	return nil, nil
}

// mayAnswer reports whether a member may answer the question.
func mayAnswer(m *fermata.Member, q *fermata.Question) bool {
	return q.CheckMayAnswer(m.Caller()) == nil
}

// recipientHasOpenPage reports whether a recipient of the message has a page open and so sees the question already.
func (m *composer) recipientHasOpenPage(ctx context.Context, q *fermata.Question) (bool, error) {
	if m.c.MemberID != "" {
		return m.w.s.hasOpenPage(ctx, m.w.id, m.c.MemberID)
	}
	var ids []string
	for _, member := range m.people.eligibleMembers(q) {
		ids = append(ids, member.ID)
	}
	return m.w.s.hasOpenPage(ctx, m.w.id, ids...)
}

// namesChannel reports whether the question itself names the channel.
func namesChannel(q *fermata.Question, info fermata.Channel) bool {
	for _, name := range q.Channels {
		if name == info.Name || name == info.Kind {
			return true
		}
	}
	return false
}

// fillDigest fills in the questions of low urgency that the message lists.
func (m *composer) fillDigest() (end *outcome, err error) {
	if until := m.prefs.QuietUntil(m.n.At, false); until.After(m.n.At) {
		return deferredOutcome(until, fermata.WaitsForQuiet), nil
	}
	ids := []string{m.c.QuestionID}
	for _, d := range m.c.digestOthers {
		ids = append(ids, d.QuestionID)
	}
	questions, err := m.r.QuestionsByID(fermata.SortUnique(ids))
	if err != nil {
		return nil, err
	}
	details, err := m.r.QuestionDetails(questions, m.c.MemberID)
	if err != nil {
		return nil, err
	}
	member := m.member()
	for _, q := range questions {
		if q.Status != fermata.Pending || member == nil || !q.AwaitsAnswerOf(member.Caller()) {
			continue
		}
		public, _ := publicQuestion(q, m.kind.Public)
		public.TaskTitle = withoutSecrets(details.Titles[q.TaskID])
		m.n.Questions = append(m.n.Questions, public)
	}
	if len(m.n.Questions) == 0 {
		return skippedOutcome(fermata.SkippedClosed), nil
	}
	m.n.Title, m.n.Open, m.shown.status = digestTitle(len(m.n.Questions)), m.w.s.PublicURL+"/", fermata.Pending
	return nil, nil
}

func digestTitle(n int) string {
	if n == 1 {
		return "1 question waits for an answer"
	}
	return strconv.Itoa(n) + " questions wait for an answer"
}

// memberCaller returns the caller for a member who answers without a session.
func memberCaller(workspace string, m *fermata.Member, assurance fermata.Assurance) fermata.Caller {
	c := m.Caller()
	c.WorkspaceID, c.Assurance, c.WithoutSignIn = workspace, assurance, true
	return c
}

// placeCaller returns the caller for an unknown person in a place; it has every permission.
func placeCaller(workspace string, assurance fermata.Assurance) fermata.Caller {
	return fermata.Caller{
		WorkspaceID: workspace, Kind: fermata.ActorHuman, Role: fermata.RoleAdmin, Scopes: []fermata.Scope{fermata.ScopeAdmin},
		Assurance: assurance, WithoutSignIn: true,
	}
}
