package fermata

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ask is a request to ask people something. It has three forms: items; the
// short form of one item (question, response_type, options, default); and the
// questions array that AskUserQuestion sends, taken as it is.
type Ask struct {
	Type    QuestionType     `json:"type,omitempty" enum:"blocking,non_blocking,approval,error_recovery" doc:"default blocking"`
	Title   string           `json:"title,omitempty" maxLength:"120"`
	Body    string           `json:"body,omitempty" maxLength:"262144" doc:"Markdown"`
	Items   []Item           `json:"items,omitempty" maxItems:"20"`
	Context *QuestionContext `json:"context,omitempty"`

	Question     string       `json:"question,omitempty" maxLength:"4000" doc:"the short form: the prompt of the one item"`
	ResponseType ResponseType `json:"response_type,omitempty" enum:"text,choice,multi_choice,boolean,approval,number,date"`
	Options      []Option     `json:"options,omitempty"`
	// Other is that of every item with options that does not say by itself.
	Other *bool `json:"other,omitempty" doc:"an answer in one's own words is possible beside the options"`
	// Default is the default of the one item, or of several by their keys.
	Default any `json:"default,omitempty"`

	Questions []UserQuestion `json:"questions,omitempty" maxItems:"4" doc:"the input of AskUserQuestion"`

	Action     json.RawMessage   `json:"action,omitempty" doc:"of an approval: exactly what will run"`
	Assignees  []string          `json:"assignees,omitempty" maxItems:"50"`
	Approvals  *Quorum           `json:"approvals,omitempty"`
	Timeout    Timeout           `json:"timeout,omitempty" doc:"90s, 30m, 36h, 3d or never"`
	OnTimeout  TimeoutAction     `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
	Escalation []EscalationLevel `json:"escalation,omitempty" maxItems:"10"`
	Channels   []string          `json:"channels,omitempty" maxItems:"20" doc:"channels, by name or kind, to send it over at once"`
	Reminders  []string          `json:"reminders,omitempty" maxItems:"10" doc:"when to remind of it, counted from asking: 10m, 2h"`
	// ShareContext lets the context be shown in public places.
	ShareContext bool `json:"share_context,omitempty" doc:"lets the context be shown where people who may not read the project see it"`
	// AllowDangerDefault lets the default pick an option marked as dangerous. It lets nothing approve at a deadline.
	AllowDangerDefault bool              `json:"allow_danger_default,omitempty"`
	Priority           *int              `json:"priority,omitempty" minimum:"0" maximum:"4"`
	Confidence         *int              `json:"confidence,omitempty" minimum:"0" maximum:"100"`
	Risk               Risk              `json:"risk,omitempty" enum:"low,medium,high,critical"`
	RunID              string            `json:"run_id,omitempty" maxLength:"64" doc:"the run that asks; once it is over, its questions are refused with stale_run"`
	IdempotencyKey     string            `json:"idempotency_key,omitempty" maxLength:"200"`
	DedupeKey          string            `json:"dedupe_key,omitempty" maxLength:"200"`
	CallbackURL        string            `json:"callback_url,omitempty" maxLength:"2048" doc:"external tasks only: where the outcome is posted, signed, when the question closes"`
	State              json.RawMessage   `json:"state,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty" maxProperties:"50"`
}

// Fingerprint returns a digest of the request, by which a repeated idempotency
// key with another request is told from a retry.
func (a Ask) Fingerprint() string {
	if a.Other != nil && *a.Other {
		// An agent's request takes own answers by itself: saying so asks for the same.
		a.Other = nil
	}
	// A call that was put off is asked again by the next run.
	a.RunID = ""
	return Digest(a)
}

// Digest returns a digest of the JSON form of v.
func Digest(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Open returns the question that the request opens on the task at the instant
// now, or everything that is wrong with it. The policy bounds it; who may
// answer is checked by [Question.CheckQuorum].
func (a Ask) Open(id string, t *Task, by Actor, p Policy, now time.Time) (*Question, error) {
	var ps problems
	a.Action, a.State = withoutNull(a.Action), withoutNull(a.State)
	q := &Question{
		ID: id, WorkspaceID: t.WorkspaceID, TaskID: t.ID, Project: t.Project,
		Type: a.Type, Status: Pending, Title: a.Title, Body: a.Body, Context: a.Context,
		Assignees: slices.Clone(a.Assignees), Approvals: a.Approvals, Timeout: a.Timeout, OnTimeout: a.OnTimeout,
		Escalation: slices.Clone(a.Escalation), Channels: slices.Clone(a.Channels), Reminders: slices.Clone(a.Reminders), ShareContext: a.ShareContext,
		Priority: t.Priority, Confidence: a.Confidence, Risk: a.Risk,
		IdempotencyKey: a.IdempotencyKey, DedupeKey: a.DedupeKey, CallbackURL: a.CallbackURL, State: a.State, Metadata: a.Metadata,
		AskCount: 1, AskedBy: by, CreatedAt: now,
	}
	if a.IdempotencyKey != "" {
		q.Fingerprint = a.Fingerprint()
	}
	if q.Type == "" {
		q.Type = Blocking
		if a.ResponseType == ResponseApproval || len(a.Action) > 0 {
			q.Type = Approval
		}
	}
	a.checkCallback(&ps, t)
	if a.Priority != nil {
		ps.checkRange("priority", *a.Priority, 0, LowestPriority)
		q.Priority = *a.Priority
	}
	a.checkTexts(&ps)
	q.Context = withPreviews(&ps, q.Context, a.Questions)
	q.Items = a.items(&ps, q.Type)
	if strings.TrimSpace(q.Title) == "" && len(q.Items) > 0 {
		q.Title = firstLine(q.Items[0].Prompt, MaxTitle)
	}
	a.checkAction(&ps, q)
	a.checkQuorum(&ps, q)
	if len(ps) > 0 {
		return nil, Invalid(ps...)
	}
	q.Raise(p.RiskFloor(q), p)
	if err := a.setDeadline(q, askerOf(t), p, now); err != nil {
		return nil, err
	}
	if q.Reminders == nil && q.Type.Suspends() && askerOf(t) == askerIsResumed {
		q.Reminders, q.RemindEvery = p.reminders()
	}
	return q, nil
}

// Raise gives the question at least this risk, and what the policy asks of
// people who answer at its risk. It never lowers the risk.
func (q *Question) Raise(least Risk, p Policy) {
	q.Risk = HigherRisk(q.Risk, least)
	q.LeastAssurance = p.LeastFor(q)
}

func (a Ask) checkTexts(ps *problems) {
	ps.text("title", a.Title, 0, MaxTitle)
	ps.text("body", a.Body, 0, MaxBody)
	ps.text("idempotency_key", a.IdempotencyKey, 0, 200)
	ps.text("dedupe_key", a.DedupeKey, 0, 200)
	types := make([]string, 0, len(QuestionTypes))
	for _, t := range QuestionTypes {
		types = append(types, string(t))
	}
	ps.oneOf("type", string(a.Type), types)
	ps.oneOf("risk", string(a.Risk), risks)
	if a.Confidence != nil {
		ps.checkRange("confidence", *a.Confidence, 0, 100)
	}
	ps.assignees("assignees", a.Assignees)
	ps.oneOf("on_timeout", string(a.OnTimeout), timeoutActions)
	if len(a.Escalation) > MaxEscalation {
		ps.add("escalation", "has %d levels, may have at most %d", len(a.Escalation), MaxEscalation)
	}
	for i, level := range a.Escalation {
		at := fmt.Sprintf("escalation[%d]", i)
		ps.assignees(at+".assignees", level.Assignees)
		ps.channels(at+".channels", level.Channels)
		ps.oneOf(at+".on_timeout", string(level.OnTimeout), timeoutActions)
	}
	ps.channels("channels", a.Channels)
	ps.reminders(a.Reminders)
	ps.json("state", a.State)
	ps.metadata(a.Metadata)
	a.Context.check(ps)
}

func (ps *problems) metadata(m map[string]string) {
	if len(m) > MaxMetadata {
		ps.add("metadata", "has %d entries, may have at most %d", len(m), MaxMetadata)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		ps.text("metadata", key, 1, 100)
		ps.text("metadata."+key, m[key], 0, 4000)
	}
}

func (ps *problems) assignees(field string, names []string) {
	if len(names) > MaxAssignees {
		ps.add(field, "has %d names, may have at most %d", len(names), MaxAssignees)
	}
	for i, name := range names {
		ps.text(fmt.Sprintf("%s[%d]", field, i), name, 1, 100)
	}
}

// withoutNull takes the JSON null, which clients send for a field that they
// leave empty, for no value.
func withoutNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// items brings the three forms of a request into one.
func (a Ask) items(ps *problems, typ QuestionType) []Item {
	forms := 0
	for _, used := range []bool{len(a.Items) > 0, a.Question != "", len(a.Questions) > 0} {
		if used {
			forms++
		}
	}
	if forms > 1 {
		ps.add("items", "give either items, or question, or questions")
		return nil
	}
	if len(a.Items) > MaxItems {
		ps.add("items", "has %d items, may have at most %d", len(a.Items), MaxItems)
		return nil
	}
	if len(a.Questions) > MaxItems {
		ps.add("questions", "has %d questions, may have at most %d", len(a.Questions), MaxItems)
		return nil
	}
	shortFields := a.ResponseType != "" || len(a.Options) > 0
	items, form := slices.Clone(a.Items), itemsForm
	switch {
	case len(a.Questions) > 0:
		items, form = fromUserQuestions(a.Questions, a.Other), questionsForm
	case len(items) == 0:
		prompt := a.Question
		if prompt == "" {
			prompt = a.Title
		}
		if strings.TrimSpace(prompt) == "" {
			ps.add("question", "must not be empty: say what you ask")
			return nil
		}
		form = shortForm
		items = []Item{{Prompt: prompt, ResponseType: a.ResponseType, Options: a.Options}}
	}
	if forms == 1 && a.Question == "" && shortFields {
		ps.add("items", "response_type and options belong into the items here")
	}
	fillItems(items, typ)
	a.spreadOther(items)
	a.spreadDefault(ps, items)
	checkItems(ps, items, form, typ)
	return items
}

// askForm is one of the three forms of a request: where its items stand, and
// what their fields are called there. Whoever asks finds them by these names.
type askForm struct{ at, prompt, value string }

var (
	itemsForm     = askForm{"items[%d].", "prompt", "value"}
	questionsForm = askForm{"questions[%d].", "question", "label"}
	shortForm     = askForm{"", "question", "value"}
)

// place is the beginning of the names of an item's fields.
func (f askForm) place(i int) string { return strings.Replace(f.at, "%d", strconv.Itoa(i), 1) }

// fillItems gives every item the key and the response type that it leaves out.
func fillItems(items []Item, typ QuestionType) {
	for i := range items {
		it := &items[i]
		if it.Key == "" {
			it.Key = "answer"
			if len(items) > 1 {
				it.Key = fmt.Sprintf("q%d", i+1)
			}
		}
		switch {
		case it.ResponseType != "":
		case typ == Approval:
			it.ResponseType = ResponseApproval
		case len(it.Options) > 0:
			it.ResponseType = ResponseChoice
		default:
			it.ResponseType = ResponseText
		}
	}
}

// WithOwnAnswers returns the request as agents are read: people may answer it
// in their own words, unless it says that they may not. Scripts, which do not
// expect an answer that is no option, get one only if they say so.
func (a Ask) WithOwnAnswers() Ask {
	if a.Other == nil {
		a.Other = new(true)
	}
	return a
}

// spreadOther settles which items take an answer beside their options.
func (a Ask) spreadOther(items []Item) {
	for i := range items {
		it := &items[i]
		choice := it.ResponseType == ResponseChoice || it.ResponseType == ResponseMultiChoice
		if it.Other == nil && choice {
			it.Other = a.Other
		}
		if !it.TakesOther() || !choice {
			it.Other = nil
		}
	}
}

func (a Ask) spreadDefault(ps *problems, items []Item) {
	if a.Default == nil {
		return
	}
	if len(items) == 1 {
		if items[0].Default != nil {
			ps.add("default", "is given twice: for the question and for its item")
		}
		items[0].Default = a.Default
		return
	}
	byKey, ok := a.Default.(map[string]any)
	if !ok {
		ps.add("default", "must be an object with a value for each item's key")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		i := slices.IndexFunc(items, func(it Item) bool { return it.Key == key })
		if i < 0 {
			ps.add("default."+key, "names no item")
			continue
		}
		if items[i].Default != nil {
			ps.add("default."+key, "is given twice: for the question and for its item")
		}
		items[i].Default = byKey[key]
	}
}

func checkItems(ps *problems, items []Item, form askForm, typ QuestionType) {
	seen := map[string]bool{}
	for i := range items {
		at := form.place(i)
		items[i].check(ps, at, form)
		if seen[items[i].Key] {
			ps.add(at+"key", "%q stands twice", items[i].Key)
		}
		seen[items[i].Key] = true
	}
	if typ == Approval && (len(items) != 1 || items[0].ResponseType != ResponseApproval) {
		ps.add("items", "an approval has one item, of response type approval")
	}
	if typ == Approval && len(items) == 1 && !items[0].IsRequired() {
		ps.add(form.place(0)+"required", "must not be false: an approval is given or refused")
	}
	if typ != Approval && slices.ContainsFunc(items, func(it Item) bool { return it.ResponseType == ResponseApproval }) {
		ps.add("items", "the response type approval belongs to a question of type approval")
	}
}

// checkAction freezes the bytes of what will run.
func (a Ask) checkAction(ps *problems, q *Question) {
	if len(a.Action) == 0 {
		return
	}
	if q.Type != Approval {
		ps.add("action", "belongs to a question of type approval")
		return
	}
	if !ps.action(a.Action) {
		return
	}
	q.Action = CanonicalAction(a.Action)
	q.ActionHash = HashAction(q.Action)
	if q.Risk == "" {
		q.Risk = RiskMedium
	}
}

func (a Ask) checkQuorum(ps *problems, q *Question) {
	if q.Risk == "" {
		q.Risk = RiskLow
	}
	if a.Approvals == nil {
		return
	}
	if q.Type != Approval {
		ps.add("approvals", "belongs to a question of type approval")
		return
	}
	quorum := *a.Approvals
	if quorum.Required == 0 {
		quorum.Required = 1
	}
	if quorum.Reject == "" {
		quorum.Reject = "first"
	}
	ps.checkRange("approvals.required", quorum.Required, 1, 50)
	ps.oneOf("approvals.reject", quorum.Reject, []string{"first", "majority"})
	q.Approvals = &quorum
}

// CheckQuorum refuses a question that can never get the approvals it needs.
// The members are all of the workspace's.
func (q *Question) CheckQuorum(members []Member) error {
	if q.Approvals == nil {
		return nil
	}
	eligible := q.eligible(members)
	if eligible >= q.Approvals.Required {
		return nil
	}
	e := Errorf(CodeQuorumUnreachable, "the approvals that are required can never come: %d required, people who may approve: %d", q.Approvals.Required, eligible)
	withSelf := *q
	withSelf.Approvals = &Quorum{Self: true}
	if withSelf.eligible(members) > eligible {
		return e.WithHint("where approvals are counted, who asks may not approve, unless approvals.self allows it (--self-approval)")
	}
	return e.WithHint("name more assignees, or require fewer approvals")
}

// CheckAssignees refuses a question for people of whom none may answer it, now
// or at a level of its escalation: it would wait for nobody. The members are
// all of the workspace's.
func (q *Question) CheckAssignees(members []Member) error {
	if len(q.Assignees) == 0 {
		return nil
	}
	sooner := *q
	for _, level := range q.Escalation {
		sooner.Assignees = slices.Concat(sooner.Assignees, level.Assignees)
	}
	if sooner.eligible(members) > 0 {
		return nil
	}
	return Invalid(Problem{Field: "assignees", Message: "none of " + strings.Join(sooner.Assignees, ", ") + " may answer the question"}).
		WithHint("name people who may: fermata member list; assignees are handles, group:NAME or role:NAME")
}

// AskOperatorsInstead gives the question to operators and admins if nobody whom it names
// may answer, now or at a level of its escalation. It reports whether it did so. If no
// operator and no admin may answer either, the question stays as it is. The members are
// all of the workspace's.
func (q *Question) AskOperatorsInstead(members []Member) bool {
	if q.CheckAssignees(members) == nil {
		return false
	}
	instead := *q
	instead.Assignees = []string{"role:" + string(RoleOperator), "role:" + string(RoleAdmin)}
	if instead.eligible(members) == 0 {
		return false
	}
	q.Assignees = instead.Assignees
	return true
}

// eligible counts the people who may answer the question.
func (q *Question) eligible(members []Member) int {
	n := 0
	for _, m := range members {
		if m.DisabledAt == nil && q.MayAnswer(m.Caller()) == nil {
			n++
		}
	}
	return n
}

// firstLine cuts a text to its first line and at most n characters.
func firstLine(s string, n int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}

// AsksAsMuch reports whether q asks the same people about the same action, at least as strictly as next does. An answer to q is
// then an answer to next.
func (q *Question) AsksAsMuch(next *Question) bool {
	defaults, _ := q.Defaults()
	nextDefaults, _ := next.Defaults()
	return q.Type == next.Type && q.ActionHash == next.ActionHash && HigherRisk(q.Risk, next.Risk) == q.Risk && q.LeastAssurance == next.LeastAssurance &&
		q.OnTimeout == next.OnTimeout && Digest(defaults) == Digest(nextDefaults) &&
		Digest(slices.Sorted(slices.Values(q.Assignees))) == Digest(slices.Sorted(slices.Values(next.Assignees))) && Digest(q.Approvals) == Digest(next.Approvals)
}

// SameAsking reports whether asking a again is asking q once more: the same
// dedupe key, or the same action.
func (q *Question) SameAsking(a Ask) bool {
	if a.DedupeKey != "" || q.DedupeKey != "" {
		return a.DedupeKey == q.DedupeKey
	}
	action := withoutNull(a.Action)
	return len(action) > 0 && HasHash(action, q.ActionHash)
}
