package fermata

import (
	"encoding/json"
	"time"
)

// QuestionType says what a question is for (docs/inside/contract.md#question-types).
type QuestionType string

// Types of questions.
const (
	Blocking      QuestionType = "blocking"
	NonBlocking   QuestionType = "non_blocking"
	Approval      QuestionType = "approval"
	ErrorRecovery QuestionType = "error_recovery"
)

// QuestionTypes lists every type of question.
var QuestionTypes = []QuestionType{Blocking, NonBlocking, Approval, ErrorRecovery}

// Suspends reports whether the task stops until the question closes.
func (t QuestionType) Suspends() bool { return t != NonBlocking }

// AwaitingState returns the state of a task that the question suspends.
func (t QuestionType) AwaitingState() TaskState {
	if t == Approval {
		return TaskAwaitingApproval
	}
	return TaskAwaitingInput
}

// DefaultTimeout returns the timeout of a question that sets none, if the
// policy sets none either.
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

// QuestionStatus says whether a question is open, and otherwise how it closed (docs/inside/contract.md#one-end-of-a-question).
type QuestionStatus string

// Statuses of a question.
const (
	Pending   QuestionStatus = "pending"
	Answered  QuestionStatus = "answered"
	TimedOut  QuestionStatus = "timed_out"
	Cancelled QuestionStatus = "cancelled"
)

// QuestionStatuses lists every status of a question.
var QuestionStatuses = []QuestionStatus{Pending, Answered, TimedOut, Cancelled}

// TimeoutAction is the action at the deadline of a question (docs/inside/contract.md#deadlines).
type TimeoutAction string

// Actions at the deadline.
const (
	TakeDefault TimeoutAction = "default"
	SkipTask    TimeoutAction = "skip"
	FailTask    TimeoutAction = "fail"
	Escalate    TimeoutAction = "escalate"
)

var timeoutActions = []string{string(TakeDefault), string(SkipTask), string(FailTask), string(Escalate)}

// Risk is how much harm a wrong answer can do.
type Risk string

// Risks, from least to most.
const (
	RiskLow      Risk = "low"
	RiskMedium   Risk = "medium"
	RiskHigh     Risk = "high"
	RiskCritical Risk = "critical"
)

var risks = []string{string(RiskLow), string(RiskMedium), string(RiskHigh), string(RiskCritical)}

// Question is a question of a task to people. Its content is frozen when it opens.
type Question struct {
	ID          string         `json:"id"`
	WorkspaceID string         `json:"workspace_id"`
	TaskID      string         `json:"task_id"`
	RunID       string         `json:"run_id,omitempty"`
	Project     string         `json:"project"`
	Type        QuestionType   `json:"type" enum:"blocking,non_blocking,approval,error_recovery"`
	Status      QuestionStatus `json:"status" enum:"pending,answered,timed_out,cancelled"`
	Title       string         `json:"title"`
	Asked
	Assignees []string `json:"assignees,omitempty" doc:"handles, group:NAME, role:NAME; empty: any member who may answer"`
	// Deadline is the instant at which OnTimeout applies. If nil, the question waits for ever.
	Deadline *time.Time `json:"deadline,omitempty"`
	// UnreachedReason is the reason why no channel sends the question to anybody. People then find the question in
	// the inbox only. UnreachedReason is empty if a channel sends it, or if the question is not urgent.
	UnreachedReason string `json:"unreached,omitempty" doc:"why nobody is notified of it over any channel; absent where somebody is"`
	EscalationLevel int    `json:"escalation_level,omitempty" doc:"how many levels were reached"`
	Priority        int    `json:"priority"`
	IdempotencyKey  string `json:"idempotency_key,omitempty"`
	DedupeKey       string `json:"dedupe_key,omitempty"`
	// AskCount counts how often the same question was asked while it was open.
	AskCount   int         `json:"ask_count"`
	Votes      []Vote      `json:"votes,omitempty"`
	CreatedAt  time.Time   `json:"created_at"`
	Resolution *Resolution `json:"resolution,omitempty"`
	// HeldAnswer is an answer that its author can still take back.
	HeldAnswer *HeldAnswer `json:"held,omitempty"`

	// The following fields are for the person who reads the question. Agents do
	// not get them.

	TaskTitle string `json:"task_title,omitempty"`
	// TaskAgent is the role for which the question's task is, if it names one.
	TaskAgent string `json:"agent,omitempty" doc:"the role that its task is for"`
	// Section is set only in a list in the order of the inbox.
	Section InboxSection `json:"section,omitempty" enum:"due_soon,high_risk,long_wait,rest" doc:"its section of the inbox, in a list with sort=inbox"`
	// Answerable reports whether the reader may answer the question, now or late. It is nil if nobody may any more.
	Answerable *bool `json:"may_answer,omitempty" doc:"whether the reader may answer it; absent if nobody may any more"`
	// NeedsSignature reports whether the reader must sign the answer with a passkey.
	NeedsSignature bool `json:"needs_signature,omitempty" doc:"an answer is signed with a passkey: POST /v1/questions/{id}/decision prepares it"`
	// WaitingWork describes the work that waits for the answer. It is set only
	// while the question is pending.
	WaitingWork *WaitingWork `json:"waiting,omitempty"`
	// SnoozedUntil is the instant until which the reader snoozed the question.
	SnoozedUntil *time.Time `json:"snoozed_until,omitempty"`

	// Fingerprint distinguishes two requests with the same idempotency key. It
	// is empty without a key.
	Fingerprint string `json:"-"`
	// DiscountedMembers are the ids of members whose approval does not count today,
	// because they left or may not answer.
	DiscountedMembers map[string]bool `json:"-"`
	// HandedTo is the run that was handed the resolution.
	HandedTo string `json:"-"`
	Version  int64  `json:"-"`
}

// Asked is the part of a question that never changes after it was asked.
type Asked struct {
	Body    string           `json:"body,omitempty" doc:"Markdown"`
	Items   []Item           `json:"items"`
	Context *QuestionContext `json:"context,omitempty"`
	// Action is the exact bytes of the action that runs when the approval is given.
	Action json.RawMessage `json:"action,omitempty"`
	// ActionHash is the SHA-256 of the action's bytes in hex. An answer to an
	// approval names the hash that the person saw.
	ActionHash string            `json:"action_hash,omitempty"`
	Approvals  *Quorum           `json:"approvals,omitempty"`
	Timeout    Timeout           `json:"timeout"`
	OnTimeout  TimeoutAction     `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
	Escalation []EscalationLevel `json:"escalation,omitempty"`
	// Channels are the channels that send the question at once, before its
	// route. Each is a name or a kind.
	Channels []string `json:"channels,omitempty" doc:"channels, by name or kind, that it is sent over at once"`
	// Reminders are the times of reminders, counted from asking. RemindEvery is the interval of further reminders
	// while the question is open.
	Reminders   []string `json:"reminders,omitempty" doc:"durations after asking"`
	RemindEvery Timeout  `json:"remind_every,omitempty" doc:"how often people are reminded after the last of the reminders"`
	// ShareContext allows the context in public places.
	ShareContext bool `json:"share_context,omitempty" doc:"lets its context be shown where people who may not read the project see it"`
	Confidence   *int `json:"confidence,omitempty"`
	Risk         Risk `json:"risk" enum:"low,medium,high,critical"`
	// CallbackURL is the address to which the outcome is posted when the question closes.
	CallbackURL string `json:"callback_url,omitempty"`
	// State is opaque data of the asker. It is returned unchanged.
	State    json.RawMessage   `json:"state,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	// LeastAssurance is the assurance that a person needs to answer, by the
	// policy at the time of asking. If empty, any assurance is enough.
	LeastAssurance Assurance `json:"least_assurance,omitempty" enum:"channel,session,passkey" doc:"how strongly a person must be known to answer"`
	AskedBy        Actor     `json:"asked_by"`
}

// Quorum says how many people must approve.
type Quorum struct {
	// Required is the number of distinct people who must approve.
	Required int `json:"required,omitempty" minimum:"1" maximum:"50"`
	// Self allows the member who asked the question to approve it.
	Self bool `json:"self,omitempty"`
	// Reject says when the question is rejected: at the first rejection (first,
	// the default), or when a majority of the required number rejects
	// (majority).
	Reject string `json:"reject,omitempty" enum:"first,majority"`
}

// EscalationLevel is one step of an escalation. It adds people and sets a
// timeout of its own.
type EscalationLevel struct {
	Assignees []string `json:"assignees,omitempty"`
	// Channels are the channels that send the question at once when it reaches this level.
	Channels  []string      `json:"channels,omitempty" doc:"channels, by name or kind, that it is sent over when it gets here"`
	Timeout   Timeout       `json:"timeout"`
	OnTimeout TimeoutAction `json:"on_timeout,omitempty" enum:"default,skip,fail,escalate"`
}

// Vote is one person's vote on a question that needs several people.
type Vote struct {
	By      Actor  `json:"by"`
	Value   string `json:"value" enum:"approve,reject"`
	Comment string `json:"comment,omitempty"`
	// Assurance is how strongly the person proved their identity.
	Assurance Assurance `json:"assurance,omitempty"`
	At        time.Time `json:"at"`
	// Signed is the content that the person's passkey signed. It is nil without
	// a signature.
	Signed *SignedDecision `json:"signed,omitempty"`
}

// Resolution records how a question ended, by whom and when.
type Resolution struct {
	Status QuestionStatus `json:"status" enum:"answered,timed_out,cancelled"`
	// DecidedBy is the kind of party that decided. Time and rules never look like a person.
	DecidedBy  ActorKind      `json:"decided_by" enum:"human,agent,system,policy,timeout"`
	AnsweredBy *Actor         `json:"answered_by,omitempty"`
	At         time.Time      `json:"at"`
	Answer     any            `json:"answer,omitempty" doc:"the value, where there is one item"`
	Answers    map[string]any `json:"answers,omitempty" doc:"the values by item key"`
	Comment    string         `json:"comment,omitempty"`
	Channel    string         `json:"channel,omitempty"`
	Assurance  Assurance      `json:"assurance,omitempty"`
	// Signed is the content that the answering person's passkey signed. It is
	// nil without a signature.
	Signed *SignedDecision `json:"signed,omitempty"`
	// DecideYourself marks a cancelled question whose task a person resumed
	// without an answer. The agent is told that nobody will answer and that it
	// should choose.
	DecideYourself bool `json:"decide_yourself,omitempty" doc:"a person let the task go on without an answer: the agent decides"`
	// TaskEnded is how the task ended, if its end closed the question. It is
	// empty if the task was cancelled, because the question then counts as
	// withdrawn.
	TaskEnded TaskState `json:"task_ended,omitempty" enum:"done,failed,skipped" doc:"the task ended so, and its end closed the question; nobody withdrew it"`
	// Outcome is the action of a timeout: default, skip or fail.
	Outcome TimeoutAction `json:"outcome,omitempty" enum:"default,skip,fail"`
	// Action is the edited action, if it was approved with edits.
	Action     json.RawMessage `json:"action,omitempty"`
	ActionHash string          `json:"action_hash,omitempty"`
	// LateAnswers holds answers that people gave after the deadline.
	LateAnswers []LateAnswer `json:"late,omitempty"`
	// OvertakenAnswer is an answer that its author could still take back when something else closed the question. It did
	// not count. People may read it, but agents may not.
	OvertakenAnswer *HeldAnswer `json:"overtaken,omitempty" doc:"an answer that could still be taken back when something else closed the question; it did not count, and only people read it"`
}

// LateAnswer is an answer that came after the question timed out.
type LateAnswer struct {
	By      Actor          `json:"by"`
	At      time.Time      `json:"at"`
	Answers map[string]any `json:"answers"`
	Comment string         `json:"comment,omitempty"`
	// Restarted reports whether the task went on with this answer.
	Restarted bool `json:"restarted,omitempty"`
	// Signed is the content that the person's passkey signed. It is nil without
	// a signature.
	Signed *SignedDecision `json:"signed,omitempty"`
}

// ActionHashOr returns the hash of the edited action. If the action was not edited, it returns asked, the hash of the
// action in the question.
func (r *Resolution) ActionHashOr(asked string) string {
	if len(r.Action) > 0 {
		return r.ActionHash
	}
	return asked
}

// IsApproved reports whether the question was answered with approve. The
// resolution may be nil.
func (r *Resolution) IsApproved() bool {
	return r != nil && r.Status == Answered && r.Answer == Approve
}

// SaysNo reports whether the answer is a no: an approval that was not given, or a no to a question with one item that
// takes yes or no. The resolution may be nil.
func (r *Resolution) SaysNo(t QuestionType) bool {
	if r == nil || r.Status != Answered {
		return false
	}
	return t == Approval && r.Answer != Approve || r.Answer == false
}

// Item returns the item with the key, or nil if there is none.
func (q *Question) Item(key string) *Item {
	for i := range q.Items {
		if q.Items[i].Key == key {
			return &q.Items[i]
		}
	}
	return nil
}

// Defaults returns the default answers. It returns false if a required item has
// no default, or if there are no defaults at all.
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

// PicksDangerousOption reports whether one of the answers picks an option that is marked
// as dangerous.
func (q *Question) PicksDangerousOption(answers map[string]any) bool {
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

// close sets the resolution of the question. The caller must have checked that the question is pending. A held answer
// does not count, and is stored for people to read.
func (q *Question) close(r Resolution) {
	r.OvertakenAnswer = q.HeldAnswer
	q.Status, q.HeldAnswer = r.Status, nil
	if len(q.Items) == 1 && r.Answers != nil {
		r.Answer = r.Answers[q.Items[0].Key]
	}
	q.Resolution = &r
}

// IsOverdue reports whether the deadline of a pending question has passed. The
// deadline decides, and not the time of the check.
func (q *Question) IsOverdue(now time.Time) bool {
	return q.Status == Pending && q.Deadline != nil && !now.Before(*q.Deadline)
}

// decider returns the actor that decided, with a name if it is known.
func (r *Resolution) decider() Actor {
	if r.AnsweredBy != nil {
		return *r.AnsweredBy
	}
	return Actor{Kind: r.DecidedBy}
}
