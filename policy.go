package fermata

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Policy limits what agents may ask for in a workspace, and sets how people answer.
type Policy struct {
	// MinTimeout and MaxTimeout limit a question's timeout.
	MinTimeout Timeout `json:"min_timeout" doc:"default 5m"`
	MaxTimeout Timeout `json:"max_timeout" doc:"default 24h"`
	// AllowNever allows a question without a deadline. AllowLonger allows one
	// beyond MaxTimeout. Both are allowed by default.
	AllowNever  bool `json:"allow_never"`
	AllowLonger bool `json:"allow_longer"`
	// AllowShorter allows a question with a timeout below MinTimeout.
	AllowShorter bool `json:"allow_shorter"`
	// DefaultTimeout replaces the default timeouts by question type (docs/inside/contract.md#question-types). It
	// applies to askers that wait in a process: scripts, external sessions and workflows.
	DefaultTimeout map[QuestionType]Timeout `json:"default_timeout,omitempty" doc:"by type, of questions whose asker waits: scripts, external sessions, workflows; default 30m, approvals 15m, error_recovery 10m, non_blocking never"`
	// ResumedTimeout is the default timeout of questions whose session Fermata
	// itself resumes, by question type. The default for a missing type is
	// never.
	ResumedTimeout map[QuestionType]Timeout `json:"resumed_timeout,omitempty" doc:"by type, of questions whose session Fermata resumes; default never"`
	// Reminders are the times after which people are reminded of a question,
	// counted from asking. They apply to questions whose session Fermata
	// resumes and that set no reminders. If nil, they are 1h and 1d.
	// RemindEvery is the interval after the last of them. If empty, it is 7d;
	// never means no more reminders.
	Reminders   []string `json:"reminders,omitzero" required:"false" maxItems:"10" doc:"of questions whose session Fermata resumes, counted from asking; default 1h and 1d, empty for none"`
	RemindEvery Timeout  `json:"remind_every,omitempty" doc:"of the same questions, again and again after the last reminder; default 7d, never for not at all"`
	// AutoConfidence is the minimum confidence at which the agent's own default
	// is taken. If nil, no default is taken.
	AutoConfidence *int `json:"auto_confidence,omitempty" minimum:"0" maximum:"100"`
	// AskConfidence is the confidence below which the task is skipped for
	// manual work. If nil, no task is skipped.
	AskConfidence *int `json:"ask_confidence,omitempty" minimum:"0" maximum:"100"`
	// GateDefault decides tool calls that match no rule. If empty, people are asked.
	GateDefault GateDecision `json:"gate_default,omitempty" enum:"allow,deny,ask"`
	// UndoSeconds is the time for which a person can take back an answer that
	// was given with undo. If nil, it is 5; if 0, no answer is held.
	UndoSeconds *int `json:"undo_seconds,omitempty" minimum:"0" maximum:"300"`
	// LeastAssurance is the assurance that a person needs to answer, by risk:
	// channel, session or passkey. It applies to questions that are asked after
	// it is set. If a risk is missing, a question of high risk needs a session,
	// and a critical one needs a passkey or two people.
	LeastAssurance map[Risk]Assurance `json:"least_assurance,omitempty" doc:"by risk: channel, session or passkey; default session for high, passkey for critical, nothing for the rest"`
	// AdminAssurance is the assurance that a person needs to use the scope admin, to change the rules of gates and to
	// configure MCP servers. If it is empty, a token is enough.
	AdminAssurance Assurance `json:"admin_assurance,omitempty" enum:"channel,session,passkey" doc:"how strongly a person must be known to administer and to change the rules of gates; default channel: a token is enough"`
	// LeastRisk and ProjectRisk are the minimum risk of a question, by its type
	// and by its project. The asker may raise the risk but never lower it. If
	// LeastRisk does not name approvals, their minimum risk is medium.
	LeastRisk   map[QuestionType]Risk `json:"least_risk,omitempty" doc:"by type: the least risk of a question, whatever the asker says; default medium for approvals, low for the rest"`
	ProjectRisk map[string]Risk       `json:"project_risk,omitempty" doc:"by project: the least risk of its questions, whatever the asker says"`
	// LinkAnswers is the highest risk of a question that a person may answer by
	// a link in a message, without signing in. If empty, it is low.
	LinkAnswers LinkAnswers `json:"link_answers,omitempty" enum:"off,low,medium" doc:"up to which risk a link in a message is enough to answer; default low"`
	// KeepTasks is how long a task is kept after its end, with its questions, messages, runs and events. KeepLogs is how long
	// the log of a run is kept after its end, and KeepDeliveries how long a message is kept that was sent. If one is empty
	// or never, they are kept for ever.
	KeepTasks      Timeout `json:"keep_tasks,omitempty" doc:"how long ended tasks are kept, with all that belongs to them; at least 1d, default never removes them"`
	KeepLogs       Timeout `json:"keep_logs,omitempty" doc:"how long the logs of ended runs are kept; at least 1d, default never removes them"`
	KeepDeliveries Timeout `json:"keep_deliveries,omitempty" doc:"how long sent messages are kept; at least 1d, default never removes them"`
}

// defaultAssurance is the assurance that people need if the policy sets none. An agent that runs under a person's
// user account can reach the person's terminal and token. So decisions that can do much harm belong in the browser.
var defaultAssurance = map[Risk]Assurance{RiskHigh: AssuranceSession, RiskCritical: AssurancePasskey}

// LeastAssuranceFor returns the assurance that a person needs to answer the question. If
// two different people must approve, a session of each is as good as a passkey
// of one.
func (p Policy) LeastAssuranceFor(q *Question) Assurance {
	least, set := p.LeastAssurance[q.Risk]
	if !set {
		least = defaultAssurance[q.Risk]
	}
	if least == AssurancePasskey && q.Approvals != nil && q.Approvals.Required > 1 {
		return AssuranceSession
	}
	return least
}

// RiskFloor returns the minimum risk of the question, by its type and project.
func (p Policy) RiskFloor(q *Question) Risk {
	least, set := p.LeastRisk[q.Type]
	if !set && q.Type == Approval {
		least = RiskMedium
	}
	return HigherRisk(least, p.ProjectRisk[q.Project])
}

// HigherRisk returns the higher of two risks. An empty risk is the lowest.
func HigherRisk(a, b Risk) Risk {
	if slices.Index(risks, string(a)) >= slices.Index(risks, string(b)) {
		return a
	}
	return b
}

// DefaultGateDecision returns the decision on tool calls that match no rule.
func (p Policy) DefaultGateDecision() GateDecision {
	if p.GateDefault == "" {
		return GateAsk
	}
	return p.GateDefault
}

// DefaultPolicy returns the policy of a new workspace.
func DefaultPolicy() Policy {
	return Policy{MinTimeout: "5m", MaxTimeout: "24h", AllowNever: true, AllowLonger: true}
}

// Check returns an error that lists every problem of the policy.
func (p Policy) Check() error {
	var ps problems
	least, errLeast := p.MinTimeout.Duration()
	maximum, errMaximum := p.MaxTimeout.Duration()
	if errLeast != nil {
		ps.addError("min_timeout", errLeast)
	}
	if errMaximum != nil {
		ps.addError("max_timeout", errMaximum)
	}
	if errLeast == nil && errMaximum == nil && least > maximum {
		ps.add("min_timeout", "is above max_timeout")
	}
	ps.checkTimeouts("default_timeout", p.DefaultTimeout)
	ps.checkTimeouts("resumed_timeout", p.ResumedTimeout)
	if _, set := p.ResumedTimeout[NonBlocking]; set {
		ps.add("resumed_timeout."+string(NonBlocking), "stops no session that could be resumed")
	}
	ps.checkReminders(p.Reminders)
	ps.checkRemindEvery(p.RemindEvery)
	for _, risk := range slices.Sorted(maps.Keys(p.LeastAssurance)) {
		ps.checkOneOf("least_assurance", string(risk), risks)
		if least := p.LeastAssurance[risk]; least == AssuranceLink || !slices.Contains(Assurances, least) {
			ps.add("least_assurance."+string(risk), "is %q, must be one of channel, session, passkey", least)
		}
	}
	if least := p.AdminAssurance; least != "" && (least == AssuranceLink || !slices.Contains(Assurances, least)) {
		ps.add("admin_assurance", "is %q, must be one of channel, session, passkey", least)
	}
	ps.checkLeastRisks(p)
	ps.checkKeepTime("keep_tasks", p.KeepTasks)
	ps.checkKeepTime("keep_logs", p.KeepLogs)
	ps.checkKeepTime("keep_deliveries", p.KeepDeliveries)
	if p.AutoConfidence != nil {
		ps.checkRange("auto_confidence", *p.AutoConfidence, 0, 100)
	}
	if p.AskConfidence != nil {
		ps.checkRange("ask_confidence", *p.AskConfidence, 0, 100)
	}
	if p.AutoConfidence != nil && p.AskConfidence != nil && *p.AskConfidence > *p.AutoConfidence {
		ps.add("ask_confidence", "is above auto_confidence")
	}
	if p.UndoSeconds != nil {
		ps.checkRange("undo_seconds", *p.UndoSeconds, 0, MaxUndoSeconds)
	}
	ps.checkOneOf("link_answers", string(p.LinkAnswers), linkAnswerSettings)
	ps.checkOneOf("gate_default", string(p.GateDefault), []string{string(GateAllow), string(GateDeny), string(GateAsk)})
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// checkLeastRisks checks the minimum risks by type and by project.
func (ps *problems) checkLeastRisks(p Policy) {
	check := func(field string, risk Risk) {
		if !slices.Contains(risks, string(risk)) {
			ps.add(field, "is %q, must be one of low, medium, high, critical", risk)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(p.LeastRisk)) {
		if !slices.Contains(QuestionTypes, typ) {
			ps.add("least_risk."+string(typ), "names no type of question")
		}
		check("least_risk."+string(typ), p.LeastRisk[typ])
	}
	if len(p.ProjectRisk) > MaxProjectRoles {
		ps.add("project_risk", "has %d projects, may have at most %d", len(p.ProjectRisk), MaxProjectRoles)
	}
	for _, project := range slices.Sorted(maps.Keys(p.ProjectRisk)) {
		ps.checkName("project_risk", project)
		check("project_risk."+project, p.ProjectRisk[project])
	}
}

// checkTimeouts checks timeouts by the type of question.
func (ps *problems) checkTimeouts(field string, byType map[QuestionType]Timeout) {
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		if !slices.Contains(QuestionTypes, typ) {
			ps.add(field+"."+string(typ), "names no type of question")
		}
		if _, err := byType[typ].Duration(); byType[typ] != Never && err != nil {
			ps.addError(field+"."+string(typ), err)
		}
	}
}

// timeoutOf returns the timeout of a question that sets none. It is the policy's own timeout for the type, or the
// default one, moved into the policy's limits. So a question without a timeout is never refused because of its
// timeout.
func (p Policy) timeoutOf(t QuestionType, kind askerKind) Timeout {
	configured, fallback := p.DefaultTimeout[t], t.DefaultTimeout()
	if kind == resumedAsker && t.Suspends() {
		configured, fallback = p.ResumedTimeout[t], Never
	}
	return p.clampTimeout(cmp.Or(configured, fallback))
}

// clampTimeout returns the timeout, or the nearest one that the policy allows.
func (p Policy) clampTimeout(t Timeout) Timeout {
	if t == Never {
		if p.AllowNever {
			return Never
		}
		return p.MaxTimeout
	}
	d, err := t.Duration()
	if err != nil {
		return t
	}
	if minimum, err := p.MinTimeout.Duration(); err == nil && d < minimum && !p.AllowShorter {
		return p.MinTimeout
	}
	if maximum, err := p.MaxTimeout.Duration(); err == nil && d > maximum && !p.AllowLonger {
		return p.MaxTimeout
	}
	return t
}

// CheckTimeout returns an error if the policy does not allow the timeout. The
// argument field is the name of the timeout in the error.
func (p Policy) CheckTimeout(field string, t Timeout) error {
	if t == Never {
		if p.AllowNever {
			return nil
		}
		return p.violationError(field, "the policy allows no question without a deadline")
	}
	d, err := t.DurationOfField(field)
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.WithHint("%s", refusal.Hint+`, or "never"`)
	}
	if minimum, err := p.MinTimeout.Duration(); err == nil && d < minimum && !p.AllowShorter {
		return p.violationError(field, fmt.Sprintf("%s is below the policy's shortest timeout, %s", t, p.MinTimeout))
	}
	if maximum, err := p.MaxTimeout.Duration(); err == nil && d > maximum && !p.AllowLonger {
		return p.violationError(field, fmt.Sprintf("%s is above the policy's longest timeout, %s", t, p.MaxTimeout))
	}
	if d > 10*365*24*time.Hour {
		return Invalid(Problem{Field: field, Message: "is longer than ten years"})
	}
	return nil
}

func (p Policy) violationError(field, message string) error {
	return (&Error{
		Code: CodePolicyViolation, Message: field + ": " + message,
		Problems: []Problem{{Field: field, Message: message}},
	}).WithHint("an admin can change the workspace's policy")
}

// Thresholds are confidence limits that override the policy's (docs/inside/contract.md#confidence). A
// nil limit keeps that of the policy.
type Thresholds struct {
	Auto, Ask *int
}

// ApplyTo returns the policy with these limits.
func (t Thresholds) ApplyTo(p Policy) Policy {
	if t.Auto != nil {
		p.AutoConfidence = t.Auto
	}
	if t.Ask != nil {
		p.AskConfidence = t.Ask
	}
	return p
}

// ConfidenceDecision is the decision of the policy about an agent's confidence in its own
// default answer.
type ConfidenceDecision int

// Decisions about an agent's confidence (docs/inside/contract.md#confidence).
const (
	AskPerson ConfidenceDecision = iota
	TakeGuess
	SkipForPerson
)

// DecideByConfidence returns the decision on a question that is about to open. Approvals and
// dangerous defaults always go to a person.
func (p Policy) DecideByConfidence(q *Question) ConfidenceDecision {
	if q.Confidence == nil || q.Type == Approval {
		return AskPerson
	}
	answers, ok := q.Defaults()
	if q.PicksDangerousOption(answers) {
		return AskPerson
	}
	switch {
	case p.AutoConfidence != nil && *q.Confidence >= *p.AutoConfidence && ok:
		return TakeGuess
	case p.AskConfidence != nil && *q.Confidence < *p.AskConfidence && q.Type.Suspends():
		return SkipForPerson
	default:
		return AskPerson
	}
}

// AnswerByPolicy closes a question with its own default. The resolution names
// the policy as the decider.
func (q *Question) AnswerByPolicy(now time.Time) {
	answers, _ := q.Defaults()
	q.close(Resolution{Status: Answered, DecidedBy: ActorPolicy, At: now, Answers: answers})
}
