package fermata

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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
		Type: a.Type, Status: Pending, Title: a.Title, Assignees: slices.Clone(a.Assignees), Priority: t.Priority,
		IdempotencyKey: a.IdempotencyKey, DedupeKey: a.DedupeKey, AskCount: 1, CreatedAt: now,
		Asked: Asked{
			Body: a.Body, Context: a.Context, Approvals: a.Approvals, Timeout: a.Timeout, OnTimeout: a.OnTimeout,
			Escalation: slices.Clone(a.Escalation), Channels: slices.Clone(a.Channels), Reminders: slices.Clone(a.Reminders),
			ShareContext: a.ShareContext, Confidence: a.Confidence, Risk: a.Risk, CallbackURL: a.CallbackURL, State: a.State,
			Metadata: a.Metadata, AskedBy: by,
		},
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

// dropNull returns nil for the JSON null, because some clients send null for
// an empty field.
func dropNull(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
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

// firstLine returns the first line of a text, cut to n characters. Bytes that are not UTF-8 become U+FFFD.
func firstLine(s string, n int) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return Truncate(string([]rune(strings.TrimSpace(line))), n)
}

// Truncate returns the text cut to at most n characters. The last one of a text that was cut is "…".
func Truncate(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
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
