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

// compose builds the notice of a delivery. If nothing is to be sent at the moment, it returns the outcome without a
// notice.
func (l *openChannel) compose(ctx context.Context, c *claim) (*notice.Notice, *outcome, error) {
	r := l.w.s.db.Reader(ctx, l.w.id)
	now, err := l.w.s.db.Now(ctx)
	if err != nil {
		return nil, nil, err
	}
	n := &notice.Notice{Delivery: c.ID, Purpose: notice.Purpose(c.Purpose), Title: c.Title, Body: c.Body, At: now}
	if c.State != fermata.DeliverySent && (c.maybeSent || c.FailedTries > 0) {
		n.Since = c.CreatedAt
	}
	o := &outcome{shownSeq: c.WantedEvent}
	p, err := l.w.loadPeople(ctx)
	if err != nil {
		return nil, nil, err
	}
	prefs, o2, err := l.fillRecipient(r, c, p, n)
	if err != nil || o2 != nil {
		return nil, o2, err
	}
	switch n.Purpose {
	case notice.Event:
		if l.kind.Audience == ToAsker {
			return n, o, fillOutcome(r, c, n)
		}
		n.Raw, err = eventOf(r, c.EventSeq)
		return n, o, err
	case notice.Test:
		return n, o, nil
	case notice.Alert:
		if o, err := withholdAlert(r, c, p); o != nil || err != nil {
			return nil, o, err
		}
		if c.TaskID != "" {
			n.Open = l.w.s.PublicURL + "/tasks/" + c.TaskID
		}
		if until := prefs.QuietUntil(now, true); c.State != fermata.DeliverySent && until.After(now) {
			return nil, &outcome{deferUntil: until, deferReason: fermata.WaitsForQuiet}, nil
		}
		return n, o, nil
	case notice.Digest:
		return l.composeDigest(r, c, p, prefs, n, o)
	default:
		return l.composeQuestion(ctx, r, c, p, prefs, n, o)
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

// fillRecipient fills in the recipient of the message.
func (l *openChannel) fillRecipient(r store.Reader, c *claim, p *people, n *notice.Notice) (fermata.Preferences, *outcome, error) {
	if c.MemberID == "" {
		return fermata.Preferences{}, nil, nil
	}
	m := p.byID[c.MemberID]
	if m == nil || m.DisabledAt != nil {
		return fermata.Preferences{}, withhold(c), nil
	}
	n.To = notice.Recipient{
		Member: m.ID, Handle: m.Handle, Name: m.Name, Email: m.Email, ID: p.identities[m.ID][c.Kind].ID,
	}
	if c.DeviceID != "" {
		device, err := r.Device(c.DeviceID)
		if fermata.CodeOf(err) == fermata.CodeNotFound {
			return fermata.Preferences{}, &outcome{skipReason: fermata.SkippedDeviceGone}, nil
		}
		if err != nil {
			return fermata.Preferences{}, nil, err
		}
		if ended, err := isHolderEnded(r, device, n.At); ended || err != nil {
			return fermata.Preferences{}, &outcome{skipReason: fermata.SkippedDeviceGone}, err
		}
		if n.To.Device, err = json.Marshal(device.Subscription); err != nil {
			return fermata.Preferences{}, nil, err
		}
	}
	all, err := r.Preferences([]string{m.ID})
	prefs := all[m.ID]
	n.To.Language, n.To.Zone = prefs.Language, prefs.Zone
	return prefs, nil, err
}

// isHolderEnded reports whether the session or the token that added a device has ended.
func isHolderEnded(r store.Reader, d *fermata.Device, now time.Time) (bool, error) {
	var ended bool
	var err error
	switch {
	case d.Holder == "":
		return false, nil
	case d.HeldByToken():
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

// withhold returns the outcome of a message that its recipient may not see. The message is not sent, and a message
// that was sent before stays as it is.
func withhold(c *claim) *outcome {
	if c.State == fermata.DeliverySent {
		return &outcome{nothingToDo: true}
	}
	return &outcome{skipReason: fermata.SkippedNotEligible}
}

// withholdAlert withholds an alert about a task that is hidden from its recipient. It returns nil if the alert may be sent.
func withholdAlert(r store.Reader, c *claim, p *people) (*outcome, error) {
	m := p.byID[c.MemberID]
	if m == nil || c.TaskID == "" {
		return nil, nil
	}
	t, err := r.Task(c.TaskID)
	if err != nil || m.Sees(t.Project) {
		return nil, err
	}
	return withhold(c), nil
}

// composeQuestion builds the notice of one question.
func (l *openChannel) composeQuestion(ctx context.Context, r store.Reader, c *claim, p *people, prefs fermata.Preferences, n *notice.Notice, o *outcome) (*notice.Notice, *outcome, error) {
	q, err := r.Question(c.QuestionID)
	if err != nil {
		return nil, nil, err
	}
	if m := p.byID[c.MemberID]; m != nil && !m.Sees(q.Project) {
		return nil, withhold(c), nil
	}
	o.shownStatus = q.Status
	if c.State != fermata.DeliverySent {
		if unsendable, err := l.checkSendable(ctx, c, p, prefs, q, n.At); unsendable != nil || err != nil {
			return nil, unsendable, err
		}
	}
	t, err := r.Task(q.TaskID)
	if err != nil {
		return nil, nil, err
	}
	n.TaskTitle, n.Project, n.Open = withoutSecrets(t.Title), q.Project, l.w.s.PublicURL+"/q/"+q.ID
	info := l.info()
	n.To.Target = q.WantedPlace(info.Name, info.Kind)
	if c.MemberID == "" {
		n.To.People, n.To.Name = p.mentionNames(q, info), c.Title
	}
	shown, isComplete := publicQuestion(q, l.kind.Public)
	n.Question, n.Outcome = shown, notice.OutcomeOf(shown)
	if q.Status != fermata.Pending {
		return n, o, nil
	}
	if err := l.fillDecision(ctx, r, c.Delivery, p.byID[c.MemberID], q, n, isComplete); err != nil {
		return nil, nil, err
	}
	o.offersDecision = n.Decide
	n.Answer, err = l.answerLink(ctx, q, p.byID[c.MemberID], isComplete)
	return n, o, err
}

// fillDecision sets whether the message offers a decision, and the secret that an answer to it carries.
func (l *openChannel) fillDecision(ctx context.Context, r store.Reader, d *fermata.Delivery, m *fermata.Member, q *fermata.Question, n *notice.Notice, isComplete bool) (err error) {
	answerer := placeCaller(l.w.id, l.assurance())
	if m != nil {
		answerer = memberCaller(l.w.id, m, l.assurance())
		n.Question.Answerable = q.CheckMayAnswer(answerer) == nil
	}
	n.Decide = isComplete && mayDecide(q, answerer, d.MemberID)
	if n.Decide && m != nil {
		refusal := l.checkLink(ctx, m, q)
		if refusal != nil && fermata.CodeOf(refusal) != fermata.CodeNotEligible {
			return refusal
		}
		n.Decide = refusal == nil
	}
	n.Reply, err = l.replySecret(ctx, r, d)
	return err
}

// checkLink refuses an answer if the channel does not vouch for the person and the member may not answer the question
// by a link.
func (l *openChannel) checkLink(ctx context.Context, m *fermata.Member, q *fermata.Question) error {
	if l.assurance() != fermata.AssuranceLink {
		return nil
	}
	return l.w.s.e.CheckAnswerByLink(ctx, l.w.id, m, q)
}

// assurance returns the assurance of people who answer over the channel.
func (l *openChannel) assurance() fermata.Assurance {
	if v, ok := l.channel.(Voucher); ok && !v.Vouches() {
		return fermata.AssuranceLink
	}
	return fermata.AssuranceChannel
}

// mayDecide reports whether a message may offer a decision. The message is to the member, or to a place if memberID
// is empty.
func mayDecide(q *fermata.Question, c fermata.Caller, memberID string) bool {
	if memberID == "" {
		// In a place, the answerer is unknown until an answer arrives. Only then can assignees and approvals be
		// checked.
		open := *q
		open.Assignees, open.Approvals = nil, nil
		return open.CheckMayDecide(c) == nil
	}
	return q.CheckMayDecide(c) == nil
}

// answerLink returns the address at which the member answers without signing in. It is empty if such an answer is not
// allowed.
func (l *openChannel) answerLink(ctx context.Context, q *fermata.Question, m *fermata.Member, isComplete bool) (string, error) {
	if m == nil || !isComplete || l.w.s.PublicURL == "" {
		return "", nil
	}
	token, err := l.w.s.e.AnswerLink(ctx, l.w.id, q.ID, m.ID)
	if fermata.CodeOf(err) == fermata.CodeNotEligible {
		return "", nil
	}
	return l.w.s.PublicURL + "/a/" + token, err
}

// checkSendable returns nil if a message that was not sent yet is still needed and may be sent at the moment. Otherwise it
// returns the outcome.
func (l *openChannel) checkSendable(ctx context.Context, c *claim, p *people, prefs fermata.Preferences, q *fermata.Question, now time.Time) (*outcome, error) {
	closed := q.Status != fermata.Pending || q.IsOverdue(now)
	switch m := p.byID[c.MemberID]; {
	case closed && c.maybeSent:
		// The message may have been sent, so its recipient must be told how the question ended.
		return nil, nil
	case hasExpiredInQuietHours(c.Delivery, q):
		if until := prefs.QuietUntil(now, false); until.After(now) {
			return &outcome{deferUntil: until, deferReason: fermata.WaitsForQuiet}, nil
		}
		return nil, nil
	case closed:
		return &outcome{skipReason: fermata.SkippedClosed}, nil
	case m != nil && !isAllowed(q.CheckMayAnswer(m.Caller())):
		return &outcome{skipReason: fermata.SkippedNotEligible}, nil
	}
	info := l.info()
	if c.MemberID != "" {
		if !prefs.Wants(info.Name, info.Kind, q.Type) && !namesChannel(q, info) {
			return &outcome{skipReason: fermata.SkippedPreferences}, nil
		}
		if until := prefs.QuestionQuietUntil(q, now); until.After(now) {
			return &outcome{deferUntil: until, deferReason: fermata.WaitsForQuiet}, nil
		}
	}
	if c.Condition == fermata.WhenPageClosed {
		open, err := l.recipientHasOpenPage(ctx, c, p, q)
		if err != nil {
			return nil, err
		}
		if open {
			return &outcome{deferUntil: c.NextPageCheck(now), deferReason: fermata.WaitsForPage}, nil
		}
	}
	return nil, nil
}

// isAllowed reports whether a rule allows something; the reason of a refusal does not matter here.
func isAllowed(refused error) bool { return refused == nil }

// recipientHasOpenPage reports whether a recipient of the message has a page open and so sees the question already.
func (l *openChannel) recipientHasOpenPage(ctx context.Context, c *claim, p *people, q *fermata.Question) (bool, error) {
	if c.MemberID != "" {
		return l.w.s.hasPage(ctx, l.w.id, c.MemberID)
	}
	var ids []string
	for _, m := range p.eligibleMembers(q) {
		ids = append(ids, m.ID)
	}
	return l.w.s.hasPage(ctx, l.w.id, ids...)
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

// composeDigest builds a notice that lists questions of low urgency.
func (l *openChannel) composeDigest(r store.Reader, c *claim, p *people, prefs fermata.Preferences, n *notice.Notice, o *outcome) (*notice.Notice, *outcome, error) {
	if until := prefs.QuietUntil(n.At, false); until.After(n.At) {
		return nil, &outcome{deferUntil: until, deferReason: fermata.WaitsForQuiet}, nil
	}
	ids := []string{c.QuestionID}
	for _, d := range c.digestOthers {
		ids = append(ids, d.QuestionID)
	}
	questions, err := r.QuestionsByID(fermata.SortUnique(ids))
	if err != nil {
		return nil, nil, err
	}
	details, err := r.QuestionDetails(questions, c.MemberID)
	if err != nil {
		return nil, nil, err
	}
	m := p.byID[c.MemberID]
	for _, q := range questions {
		if q.Status != fermata.Pending || m == nil || q.CheckMayAnswer(m.Caller()) != nil {
			continue
		}
		shown, _ := publicQuestion(q, l.kind.Public)
		shown.TaskTitle = withoutSecrets(details.Titles[q.TaskID])
		n.Questions = append(n.Questions, shown)
	}
	if len(n.Questions) == 0 {
		return nil, &outcome{skipReason: fermata.SkippedClosed}, nil
	}
	n.Title, n.Open, o.shownStatus = digestTitle(len(n.Questions)), l.w.s.PublicURL+"/", fermata.Pending
	return n, o, nil
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
