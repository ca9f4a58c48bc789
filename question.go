package fermata

import (
	"encoding/json"
	"time"
)

// QuestionType says what a question is for (spec §4.1).
type QuestionType string

// Types of questions.
const (
	Blocking      QuestionType = "blocking"
	NonBlocking   QuestionType = "non_blocking"
	Approval      QuestionType = "approval"
	ErrorRecovery QuestionType = "error_recovery"
)

// QuestionTypes lists every type.
var QuestionTypes = []QuestionType{Blocking, NonBlocking, Approval, ErrorRecovery}

// Suspends reports whether the task stops until the question closes.
func (t QuestionType) Suspends() bool { return t != NonBlocking }

// Awaiting returns the state of a task that is suspended on the question.
func (t QuestionType) Awaiting() TaskState {
	if t == Approval {
		return TaskAwaitingApproval
	}
	return TaskAwaitingInput
}

// DefaultTimeout is the deadline of a question that names none.
func (t QuestionType) DefaultTimeout() Timeout {
	switch t {
	case Approval:
		return "15m"
	case ErrorRecovery:
		return "10m"
	case NonBlocking:
		return Never
	default:
		return "30m"
	}
}

// QuestionStatus says whether and how a question closed (spec §4.3).
type QuestionStatus string

// Statuses of a question.
const (
	Pending   QuestionStatus = "pending"
	Answered  QuestionStatus = "answered"
	TimedOut  QuestionStatus = "timed_out"
	Cancelled QuestionStatus = "cancelled"
)

// QuestionStatuses lists every status.
var QuestionStatuses = []QuestionStatus{Pending, Answered, TimedOut, Cancelled}

// TimeoutAction is what happens at the deadline (spec §4.4).
type TimeoutAction string

// Actions at the deadline.
const (
	TakeDefault TimeoutAction = "default"
	SkipTask    TimeoutAction = "skip"
	FailTask    TimeoutAction = "fail"
	Escalate    TimeoutAction = "escalate"
)

var timeoutActions = []string{string(TakeDefault), string(SkipTask), string(FailTask), string(Escalate)}

// Risk says how much harm a wrong answer can do.
type Risk string

// Risks, from least to most.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

var risks = []string{string(RiskLow), string(RiskMedium), string(RiskHigh), string(RiskCritical)}

// Question is what a task asks people. What was asked is frozen when it opens.
type Question struct {
	ID          string           `json:"id"`
	WorkspaceID string           `json:"workspace_id"`
	TaskID      string           `json:"task_id"`
	RunID       string           `json:"run_id,omitempty"`
	Project     string           `json:"project"`
	Type        QuestionType     `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Status      QuestionStatus   `json:"status" enum:"pending,answered,timed_out,cancelled"`
	Title       string           `json:"title"`
	Body        string           `json:"body,omitempty" doc:"Markdown"`
	Items       []Item           `json:"items"`
	Context     *QuestionContext `json:"context,omitempty"`
	// Action is, byte for byte, what will run when an approval is given.
	Action json.RawMessage `json:"action,omitempty"`
	// ActionHash is the SHA-256 of the action's bytes in hex. An answer to an
	// approval names the hash that the person saw.
	ActionHash string   `json:"action_hash,omitempty"`
	Assignees  []string `json:"assignees,omitempty" doc:"handles, group:NAME, role:NAME; empty: any member who may answer"`
	Approvals  *Quorum  `json:"approvals,omitempty"`
	Timeout    Timeout  `json:"timeout"`
	// Deadline is the instant that decides; nil waits for ever.
	Deadline   *time.Time        `json:"deadline,omitempty"`
	OnTimeout  TimeoutAction     `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
	Escalation []EscalationLevel `json:"escalation,omitempty"`
	// Channels are where it is sent at once, by name or kind, before its route.
	Channels []string `json:"channels,omitempty" doc:"channels, by name or kind, that it is sent over at once"`
	// Unreached says why nobody is told of the question over any channel: it is
	// in the inbox only. Empty where somebody is, and where nothing is urgent.
	Unreached string `json:"unreached,omitempty" doc:"why nobody is told of it over any channel; absent where somebody is"`
	// Reminders are when people are reminded, counted from asking; RemindEvery is how
	// often after the last of them, for as long as the question is open.
	Reminders   []string `json:"reminders,omitempty" doc:"durations after asking"`
	RemindEvery Timeout  `json:"remind_every,omitempty" doc:"how often people are reminded after the last of the reminders"`
	// ShareContext lets the context be shown in public places.
	ShareContext    bool   `json:"share_context,omitempty" doc:"lets its context be shown where people who may not read the project see it"`
	EscalationLevel int    `json:"escalation_level,omitempty" doc:"how many levels were reached"`
	Priority        int    `json:"priority"`
	Confidence      *int   `json:"confidence,omitempty"`
	Risk            Risk   `json:"risk" enum:"low,medium,high,critical"`
	IdempotencyKey  string `json:"idempotency_key,omitempty"`
	DedupeKey       string `json:"dedupe_key,omitempty"`
	// CallbackURL is where the outcome is posted when the question closes.
	CallbackURL string `json:"callback_url,omitempty"`
	// State is the asker's own, opaque, and given back as it came.
	State    json.RawMessage   `json:"state,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// LeastAssurance is how strongly a person must be known to answer, by the
	// policy when the question was asked; empty asks for nothing.
	LeastAssurance Assurance `json:"least_assurance,omitempty" enum:"channel,session,passkey" doc:"how strongly a person must be known to answer"`
	// AskCount counts how often the same thing was asked while it was open.
	AskCount   int         `json:"ask_count"`
	Votes      []Vote      `json:"votes,omitempty"`
	AskedBy    Actor       `json:"asked_by"`
	CreatedAt  time.Time   `json:"created_at"`
	Resolution *Resolution `json:"resolution,omitempty"`
	// Held is an answer that its author can still take back.
	Held *Held `json:"held,omitempty"`

	// The rest is for the person who reads the question; agents do not get it.

	TaskTitle string `json:"task_title,omitempty"`
	// Answerable reports whether the reader may answer it.
	Answerable bool `json:"may_answer,omitempty"`
	// NeedsSignature reports whether the reader signs the answer with a passkey.
	NeedsSignature bool `json:"needs_signature,omitempty" doc:"an answer is signed with a passkey: POST /v1/questions/{id}/decision prepares it"`
	// Waiting says what stands still until it is answered; while it is pending.
	Waiting *Waiting `json:"waiting,omitempty"`
	// SnoozedUntil is until when the reader put it off for themself.
	SnoozedUntil *time.Time `json:"snoozed_until,omitempty"`

	// Fingerprint tells two requests with one idempotency key apart; it is
	// empty without a key.
	Fingerprint string `json:"-"`
	// Discounted are the ids of members whose approval does not count any more: they are gone, or may not answer today.
	Discounted map[string]bool `json:"-"`
	// HandedTo is the run that was handed the resolution.
	HandedTo string `json:"-"`
	Version  int64  `json:"-"`
}

// Quorum says how many people an approval needs.
type Quorum struct {
	// Required is the number of distinct people who must approve.
	Required int `json:"required,omitempty" minimum:"1" maximum:"50"`
	// Self lets the member who started the task approve.
	Self bool `json:"self,omitempty"`
	// Reject says when it is rejected: at the first rejection (default), or
	// when a majority of the required number rejects.
	Reject string `json:"reject,omitempty" enum:"first,majority"`
}

// EscalationLevel is where an unanswered question goes next, with a clock of
// its own.
type EscalationLevel struct {
	Assignees []string `json:"assignees,omitempty"`
	// Channels are where those of this level hear of it at once.
	Channels  []string      `json:"channels,omitempty" doc:"channels, by name or kind, that it is sent over when it gets here"`
	Timeout   Timeout       `json:"timeout"`
	OnTimeout TimeoutAction `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
}

// Vote is what one person said on a question that needs several.
type Vote struct {
	By      Actor  `json:"by"`
	Value   string `json:"value" enum:"approve,reject"`
	Comment string `json:"comment,omitempty"`
	// Assurance is how strongly the person was known.
	Assurance Assurance `json:"assurance,omitempty"`
	At        time.Time `json:"at"`
	// Signed is what the person's passkey signed; nil without one.
	Signed *SignedDecision `json:"signed,omitempty"`
}

// Resolution is how a question ended.
type Resolution struct {
	Status QuestionStatus `json:"status" enum:"answered,timed_out,cancelled"`
	// DecidedBy says what kind of party decided. Time and rules never look
	// like a person.
	DecidedBy  ActorKind      `json:"decided_by" enum:"human,agent,system,policy,timeout"`
	AnsweredBy *Actor         `json:"answered_by,omitempty"`
	At         time.Time      `json:"at"`
	Answer     any            `json:"answer,omitempty" doc:"the value, where there is one item"`
	Answers    map[string]any `json:"answers,omitempty" doc:"the values by item key"`
	Comment    string         `json:"comment,omitempty"`
	Channel    string         `json:"channel,omitempty"`
	Assurance  Assurance      `json:"assurance,omitempty"`
	// Signed is what the passkey of the person who answered signed; nil without one.
	Signed *SignedDecision `json:"signed,omitempty"`
	// DecideYourself marks a cancelled question whose task a person resumed without
	// an answer: the agent is told that nobody will answer and that it should choose.
	DecideYourself bool `json:"decide_yourself,omitempty" doc:"a person let the task go on without an answer: the agent decides"`
	// TaskEnded is how the task ended whose end closed the question, unless a person withdrew both.
	TaskEnded TaskState `json:"task_ended,omitempty" enum:"done,failed,skipped" doc:"the task ended so, and its end closed the question; nobody withdrew it"`
	// Outcome is what a timeout did: default, skip or fail.
	Outcome TimeoutAction `json:"outcome,omitempty" enum:"default,skip,fail"`
	// Action is the edited action, when it was approved with edits.
	Action     json.RawMessage `json:"action,omitempty"`
	ActionHash string          `json:"action_hash,omitempty"`
	// Late holds what a person answered after the end.
	Late []Late `json:"late,omitempty"`
	// Overtaken is an answer that its author could still take back when something else
	// closed the question. It did not count: people read it, and agents do not.
	Overtaken *Held `json:"overtaken,omitempty" doc:"an answer that could still be taken back when something else closed the question; it did not count, and only people read it"`
}

// Late is an answer that came when the question was closed by time.
type Late struct {
	By      Actor          `json:"by"`
	At      time.Time      `json:"at"`
	Answers map[string]any `json:"answers"`
	Comment string         `json:"comment,omitempty"`
	// Restarted reports whether the task went on with this answer.
	Restarted bool `json:"restarted,omitempty"`
	// Signed is what the person's passkey signed; nil without one.
	Signed *SignedDecision `json:"signed,omitempty"`
}

// ActionHashOr returns the hash of the edited action. If the action was not edited, it returns the hash of the one that was
// asked for.
func (r *Resolution) ActionHashOr(asked string) string {
	if len(r.Action) > 0 {
		return r.ActionHash
	}
	return asked
}

// Approved reports whether the question is an approval that people gave.
func (r *Resolution) Approved() bool {
	return r != nil && r.Status == Answered && r.Answer == Approve
}

// SaysNo reports whether the question was answered with a no: an approval that was not
// given, or a question of one item that is answered by yes or no.
func (r *Resolution) SaysNo(t QuestionType) bool {
	if r == nil || r.Status != Answered {
		return false
	}
	return t == Approval && r.Answer != Approve || r.Answer == false
}

// Item returns the item with the key.
func (q *Question) Item(key string) *Item {
	for i := range q.Items {
		if q.Items[i].Key == key {
			return &q.Items[i]
		}
	}
	return nil
}

// Defaults returns the default answers, and false when a required item has
// none.
func (q *Question) Defaults() (map[string]any, bool) {
	answers := make(map[string]any, len(q.Items))
	for i := range q.Items {
		it := &q.Items[i]
		switch {
		case it.Default != nil:
			answers[it.Key] = it.Default
		case it.IsRequired():
			return nil, false
		}
	}
	return answers, len(answers) > 0
}

// picksDanger reports whether one of the answers picks an option that is
// marked as dangerous.
func (q *Question) picksDanger(answers map[string]any) bool {
	for i := range q.Items {
		it := &q.Items[i]
		values, ok := asStrings(answers[it.Key])
		if s, isText := answers[it.Key].(string); isText {
			values, ok = []string{s}, true
		}
		if !ok {
			continue
		}
		for _, v := range values {
			if o, found := it.Option(v); found && o.Danger {
				return true
			}
		}
	}
	return false
}

// close settles the question. The caller has found out that it is pending. An answer
// that it still holds does not count, and is kept for people.
func (q *Question) close(r Resolution) {
	r.Overtaken = q.Held
	q.Status, q.Held = r.Status, nil
	if len(q.Items) == 1 && r.Answers != nil {
		r.Answer = r.Answers[q.Items[0].Key]
	}
	q.Resolution = &r
}

// IsOverdue reports whether the deadline has passed. The instant decides, not the
// moment at which somebody looks.
func (q *Question) IsOverdue(now time.Time) bool {
	return q.Status == Pending && q.Deadline != nil && !now.Before(*q.Deadline)
}
