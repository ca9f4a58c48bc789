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
// questions array of AskUserQuestion, taken unchanged.
type Ask struct {
	Type    QuestionType     `json:"type,omitempty" enum:"blocking,non_blocking,approval,error_recovery" doc:"default blocking"`
	Title   string           `json:"title,omitempty" maxLength:"120"`
	Body    string           `json:"body,omitempty" maxLength:"262144" doc:"Markdown"`
	Items   []Item           `json:"items,omitempty" maxItems:"20"`
	Context *QuestionContext `json:"context,omitempty"`

	Question     string       `json:"question,omitempty" maxLength:"4000" doc:"the short form: the prompt of the one item"`
	ResponseType ResponseType `json:"response_type,omitempty" enum:"text,choice,multi_choice,boolean,approval,number,date"`
	Options      []Option     `json:"options,omitempty"`
	// Other applies to every item with options that does not set its own.
	Other *bool `json:"other,omitempty" doc:"an answer in one's own words is possible beside the options"`
	// Default is the default of the only item, or an object of defaults by item key.
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
	// ShareContext allows the context in public places.
	ShareContext bool `json:"share_context,omitempty" doc:"lets the context be shown where people who may not read the project see it"`
	// AllowDangerDefault allows a default that picks an option marked as
	// dangerous. It never lets a deadline approve an action.
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

// Fingerprint returns a digest of the request. It distinguishes a retry from a
// different request with the same idempotency key.
func (a Ask) Fingerprint() string {
	if a.Other != nil && *a.Other {
		// By default, people may answer an agent's request in their own words.
		// A request that says so explicitly is the same request.
		a.Other = nil
	}
	// After a suspension, the next run may repeat the request with its own run id.
	a.RunID = ""
	return Digest(a)
}

// Digest returns a digest of the JSON form of v: the first 16 bytes of its SHA-256, in hex.
func Digest(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		data = []byte(err.Error())
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Open returns the question that the request opens on the task at the instant
// now, or an error that lists every problem of the request. The policy limits
// the question. Open does not check the members: see [Question.CheckQuorum] and
// [Question.CheckAssignees].
func (a Ask) Open(id string, t *Task, by Actor, p Policy, now time.Time) (*Question, error) {
	var ps problems
	a.Action, a.State = dropNull(a.Action), dropNull(a.State)
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
	q.Context = addPreviews(&ps, q.Context, a.Questions)
	q.Items = a.items(&ps, q.Type)
	if strings.TrimSpace(q.Title) == "" && len(q.Items) > 0 {
		q.Title = firstLine(q.Items[0].Prompt, MaxTitle)
	}
	a.setAction(&ps, q)
	a.setQuorum(&ps, q)
	if len(ps) > 0 {
		return nil, Invalid(append(ps, a.deadlineProblems(q, askerKindOf(t), p, now)...)...)
	}
	q.RaiseRisk(p.RiskFloor(q), p)
	if err := a.setDeadline(q, askerKindOf(t), p, now); err != nil {
		return nil, err
	}
	if q.Reminders == nil && q.Type.Suspends() && askerKindOf(t) == resumedAsker {
		q.Reminders, q.RemindEvery = p.reminders()
	}
	return q, nil
}

// RaiseRisk sets the question's risk to at least this risk. It also sets the
// assurance that the policy requires at that risk. It never lowers the risk.
func (q *Question) RaiseRisk(minRisk Risk, p Policy) {
	q.Risk = HigherRisk(q.Risk, minRisk)
	q.LeastAssurance = p.LeastAssuranceFor(q)
}

func (a Ask) checkTexts(ps *problems) {
	ps.checkText("title", a.Title, 0, MaxTitle)
	ps.checkText("body", a.Body, 0, MaxBody)
	ps.checkText("idempotency_key", a.IdempotencyKey, 0, 200)
	ps.checkText("dedupe_key", a.DedupeKey, 0, 200)
	types := make([]string, 0, len(QuestionTypes))
	for _, t := range QuestionTypes {
		types = append(types, string(t))
	}
	ps.checkOneOf("type", string(a.Type), types)
	ps.checkOneOf("risk", string(a.Risk), risks)
	if a.Confidence != nil {
		ps.checkRange("confidence", *a.Confidence, 0, 100)
	}
	ps.checkAssignees("assignees", a.Assignees)
	ps.checkOneOf("on_timeout", string(a.OnTimeout), timeoutActions)
	if len(a.Escalation) > MaxEscalation {
		ps.add("escalation", "has %d levels, may have at most %d", len(a.Escalation), MaxEscalation)
	}
	for i, level := range a.Escalation {
		prefix := fmt.Sprintf("escalation[%d]", i)
		ps.checkAssignees(prefix+".assignees", level.Assignees)
		ps.checkChannels(prefix+".channels", level.Channels)
		ps.checkOneOf(prefix+".on_timeout", string(level.OnTimeout), timeoutActions)
	}
	ps.checkChannels("channels", a.Channels)
	ps.checkReminders(a.Reminders)
	ps.checkJSON("state", a.State)
	ps.checkMetadata(a.Metadata)
	a.Context.check(ps)
}

func (ps *problems) checkMetadata(m map[string]string) {
	if len(m) > MaxMetadata {
		ps.add("metadata", "has %d entries, may have at most %d", len(m), MaxMetadata)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		ps.checkText("metadata", key, 1, 100)
		ps.checkText("metadata."+key, m[key], 0, 4000)
	}
}

func (ps *problems) checkAssignees(field string, names []string) {
	if len(names) > MaxAssignees {
		ps.add(field, "has %d names, may have at most %d", len(names), MaxAssignees)
	}
	for i, name := range names {
		ps.checkText(fmt.Sprintf("%s[%d]", field, i), name, 1, 100)
	}
}

// dropNull returns nil for the JSON null, because some clients send null for
// an empty field.
func dropNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// items converts the three forms of a request to one list of items.
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
		items, form = itemsFromUserQuestions(a.Questions, a.Other), questionsForm
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

// askForm is one of the three forms of a request. It names where the items are
// and what their fields are called there, so that errors use the asker's own
// field names.
type askForm struct{ pathFormat, prompt, value string }

var (
	itemsForm     = askForm{"items[%d].", "prompt", "value"}
	questionsForm = askForm{"questions[%d].", "question", "label"}
	shortForm     = askForm{"", "question", "value"}
)

// itemPrefix returns the prefix of the field names of item i.
func (f askForm) itemPrefix(i int) string {
	return strings.Replace(f.pathFormat, "%d", strconv.Itoa(i), 1)
}

// fillItems sets the key and the response type of every item that leaves them out.
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

// WithOwnAnswers returns the request of an agent: people may answer in their
// own words unless the request forbids it. The request of a script must allow
// such answers itself, because a script expects one of its options.
func (a Ask) WithOwnAnswers() Ask {
	if a.Other == nil {
		a.Other = new(true)
	}
	return a
}

// spreadOther applies the request's Other to the choice items that do not set their own. Afterwards, Other is true or
// nil in a choice item, and nil in any other item.
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
		prefix := form.itemPrefix(i)
		items[i].check(ps, prefix, form)
		if seen[items[i].Key] {
			ps.add(prefix+"key", "%q stands twice", items[i].Key)
		}
		seen[items[i].Key] = true
	}
	if typ == Approval && (len(items) != 1 || items[0].ResponseType != ResponseApproval) {
		ps.add("items", "an approval has one item, of response type approval")
	}
	if typ == Approval && len(items) == 1 && !items[0].IsRequired() {
		ps.add(form.itemPrefix(0)+"required", "must not be false: an approval is given or refused")
	}
	if typ != Approval && slices.ContainsFunc(items, func(it Item) bool { return it.ResponseType == ResponseApproval }) {
		ps.add("items", "the response type approval belongs to a question of type approval")
	}
}

// setAction stores the exact bytes of the action that will run, and their hash.
func (a Ask) setAction(ps *problems, q *Question) {
	if len(a.Action) == 0 {
		return
	}
	if q.Type != Approval {
		ps.add("action", "belongs to a question of type approval")
		return
	}
	if !ps.checkAction(a.Action) {
		return
	}
	q.Action = CanonicalAction(a.Action)
	q.ActionHash = HashAction(q.Action)
	if q.Risk == "" {
		q.Risk = RiskMedium
	}
}

func (a Ask) setQuorum(ps *problems, q *Question) {
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
	ps.checkOneOf("approvals.reject", quorum.Reject, []string{"first", "majority"})
	q.Approvals = &quorum
}

// CheckQuorum refuses a question that can never get its required approvals. The
// argument must hold all members of the workspace.
func (q *Question) CheckQuorum(members []Member) error {
	if q.Approvals == nil {
		return nil
	}
	eligible := q.countEligible(members)
	if eligible >= q.Approvals.Required {
		return nil
	}
	e := Errorf(CodeQuorumUnreachable, "the approvals that are required can never come: %d required, people who may approve: %d", q.Approvals.Required, eligible)
	withSelf := *q
	withSelf.Approvals = &Quorum{Self: true}
	if withSelf.countEligible(members) > eligible {
		return e.WithHint("where approvals are counted, who asks may not approve, unless approvals.self allows it (--self-approval)")
	}
	return e.WithHint("name more assignees, or require fewer approvals")
}

// CheckAssignees refuses a question that none of its assignees may answer, at
// once or at a level of its escalation. Nobody could ever answer such a
// question. The argument must hold all members of the workspace.
func (q *Question) CheckAssignees(members []Member) error {
	if len(q.Assignees) == 0 {
		return nil
	}
	escalated := *q
	for _, level := range q.Escalation {
		escalated.Assignees = slices.Concat(escalated.Assignees, level.Assignees)
	}
	if escalated.countEligible(members) > 0 {
		return nil
	}
	return Invalid(Problem{Field: "assignees", Message: "none of " + strings.Join(escalated.Assignees, ", ") + " may answer the question"}).
		WithHint("name people who may: fermata member list; assignees are handles, group:NAME or role:NAME")
}

// ReassignToOperators assigns the question to operators and admins if none of its assignees may answer, at once or at
// a level of its escalation. It reports whether it did so. If no operator or admin may answer either, it leaves the
// question as it is. The argument must hold all members of the workspace.
func (q *Question) ReassignToOperators(members []Member) bool {
	if q.CheckAssignees(members) == nil {
		return false
	}
	reassigned := *q
	reassigned.Assignees = []string{"role:" + string(RoleOperator), "role:" + string(RoleAdmin)}
	if reassigned.countEligible(members) == 0 {
		return false
	}
	q.Assignees = reassigned.Assignees
	return true
}

// countEligible returns the number of people who may answer the question.
func (q *Question) countEligible(members []Member) int {
	n := 0
	for _, m := range members {
		if m.DisabledAt == nil && q.CheckMayAnswer(m.Caller()) == nil {
			n++
		}
	}
	return n
}

// firstLine returns the first line of a text, cut to n characters.
func firstLine(s string, n int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return string(runes)
}

// IsAsStrictAs reports whether q asks the same people about the same action, at least as strictly as next does. If so,
// an answer to q is also an answer to next.
func (q *Question) IsAsStrictAs(next *Question) bool {
	defaults, _ := q.Defaults()
	nextDefaults, _ := next.Defaults()
	return q.Type == next.Type && q.ActionHash == next.ActionHash && HigherRisk(q.Risk, next.Risk) == q.Risk && q.LeastAssurance == next.LeastAssurance &&
		q.OnTimeout == next.OnTimeout && Digest(defaults) == Digest(nextDefaults) &&
		Digest(slices.Sorted(slices.Values(q.Assignees))) == Digest(slices.Sorted(slices.Values(next.Assignees))) && Digest(q.Approvals) == Digest(next.Approvals)
}

// IsRepeatedBy reports whether a asks q again: both have the same dedupe key, or
// without dedupe keys the same action.
func (q *Question) IsRepeatedBy(a Ask) bool {
	if a.DedupeKey != "" || q.DedupeKey != "" {
		return a.DedupeKey == q.DedupeKey
	}
	action := dropNull(a.Action)
	return len(action) > 0 && HasHash(action, q.ActionHash)
}
