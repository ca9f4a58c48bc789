package fermata

import (
	"crypto/rand"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// RunState is the state of one attempt at a task.
type RunState string

// States of a run.
const (
	RunRunning  RunState = "running"
	RunFinished RunState = "finished"
	// RunLost means that the lease of the run ended. Its later calls are refused.
	RunLost RunState = "lost"
	// RunReleased means that the worker handed the task back before the run had a result. It does not count as a
	// failed attempt.
	RunReleased RunState = "released"
)

// RunStates lists every state of a run.
var RunStates = []RunState{RunRunning, RunFinished, RunLost, RunReleased}

// Summaries of runs that ended without a result because their worker and the server could not reach each other. The
// summary of another lost or released run is empty.
const (
	// ServerWasAway is the summary of a lost run whose lease ended while no server was running.
	ServerWasAway = "the server was away when the lease ended"
	// ServerWasUnreachable is the summary of a run that its worker gave up because it could not renew the lease.
	ServerWasUnreachable = "the server could not be reached before the lease ended"
)

// Result is the result of a run (docs/inside/contract.md#runs-leases-and-resume).
type Result string

// Results of a run.
const (
	ResultCompleted  Result = "completed"
	ResultFailed     Result = "failed"
	ResultBlocked    Result = "blocked"
	ResultNeedsInput Result = "needs_input"
)

// Limits of leases.
const (
	DefaultLease = 60 * time.Second
	MinLease     = time.Second
	MaxLease     = time.Hour
)

// Run is one attempt at a task.
type Run struct {
	ID          string   `json:"id"`
	WorkspaceID string   `json:"workspace_id"`
	TaskID      string   `json:"task_id"`
	Attempt     int      `json:"attempt" doc:"1 for the task's first run"`
	State       RunState `json:"state" enum:"running,finished,lost,released"`
	Worker      string   `json:"worker,omitempty"`
	Runner      string   `json:"runner,omitempty"`
	// Token is the fencing token. It is random, belongs to this run only, and
	// is given only to the worker that claims the run. A call with another
	// token is refused with stale_run.
	Token      int64     `json:"token,omitempty" doc:"fencing token; only in the reply to the claim"`
	LeaseUntil time.Time `json:"lease_until"`
	// Lease is the length of the lease, counted from the last heartbeat.
	Lease       time.Duration   `json:"-"`
	ClaimedFrom TaskState       `json:"claimed_from"`
	Result      Result          `json:"result,omitempty" enum:"completed,failed,blocked,needs_input"`
	Summary     string          `json:"summary,omitempty"`
	Details     json.RawMessage `json:"details,omitempty"`
	QuestionID  string          `json:"question_id,omitempty"`
	StartedAt   time.Time       `json:"started_at"`
	EndedAt     *time.Time      `json:"ended_at,omitempty"`
	// HandedCount counts the messages and closed questions that the run was handed.
	HandedCount int `json:"-"`
}

// Limits of fencing tokens. Every token is larger than any attempt number, so
// that no attempt number passes for a token. It is small enough to be exact as
// a JSON number.
const (
	minFencingToken = 1 << 40
	maxFencingToken = 1 << 53
)

// NewFencingToken returns a token that nobody can guess.
func NewFencingToken() int64 {
	n, err := rand.Int(rand.Reader, big.NewInt(maxFencingToken-minFencingToken))
	if err != nil {
		panic("fermata: no random numbers: " + err.Error())
	}
	return minFencingToken + n.Int64()
}

// PublicView returns the run without the fencing token, which lets its holder
// act. Everybody may read the result. It returns nil for a nil run.
func (r *Run) PublicView() *Run {
	if r == nil {
		return nil
	}
	seen := *r
	seen.Token = 0
	return &seen
}

// ClaimRequest says which tasks a worker can take.
type ClaimRequest struct {
	Worker   string   `json:"worker" minLength:"1" maxLength:"128"`
	Runners  []string `json:"runners,omitempty" maxItems:"32" doc:"what it drives; shell: it runs the commands of tasks; empty claims tasks that name no runner only"`
	Projects []string `json:"projects,omitempty" doc:"empty: any"`
	Agents   []string `json:"agents,omitempty" doc:"roles; empty: any"`
	// Isolates reports whether the worker keeps its agents in a sandbox, so
	// that it may take isolated tasks.
	Isolates bool `json:"isolates,omitempty" doc:"it keeps its agents in a sandbox; without it, tasks that must be isolated are not for it"`
	// LeaseSeconds is how long the worker keeps the task without a heartbeat.
	LeaseSeconds int `json:"lease_seconds,omitempty" minimum:"0" maximum:"3600" doc:"default 60"`
	// WaitSeconds is how long the call waits for a claimable task.
	WaitSeconds int `json:"wait_seconds,omitempty" minimum:"0" maximum:"60"`
	// AgentTokenID is the id of the token that the worker gives its agents. It
	// is empty if there is none.
	AgentTokenID string `json:"-"`
	// Visible are the projects that the worker and its agents may see. A claim
	// takes only tasks of these projects.
	Visible ProjectSet `json:"-"`
}

// DrivesAgents reports whether the worker takes tasks that name no runner. A worker that only runs the commands of
// tasks, or only moves workflows on, takes none of them.
func (r ClaimRequest) DrivesAgents() bool {
	if len(r.Runners) == 0 {
		return true
	}
	return slices.ContainsFunc(r.Runners, func(name string) bool { return name != RunnerShell && name != RunnerWorkflow })
}

// TakenRunners returns the runners whose tasks the request takes, each once and sorted. "" stands for tasks without a
// runner.
func (r ClaimRequest) TakenRunners() []string {
	runners := slices.Clone(r.Runners)
	if r.DrivesAgents() {
		runners = append(runners, "")
	}
	slices.Sort(runners)
	return slices.Compact(runners)
}

// TakesAnyProjectAndAgent reports whether the request takes tasks of all projects and for all roles.
func (r ClaimRequest) TakesAnyProjectAndAgent() bool {
	return len(r.Projects) == 0 && len(r.Agents) == 0 && r.Visible.HasAll()
}

// Takes reports whether the request takes tasks of the kind.
func (r ClaimRequest) Takes(k TaskKind) bool {
	w := r.ClaimingWorker()
	return w.takesRunner(k.Runner) && (w.Isolates || !k.Isolated) && w.takesProject(k.Project) && w.takesRole(k.Agent)
}

// Check returns an error that lists every problem of the request.
func (r ClaimRequest) Check() error {
	if ps := r.problems(); len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

func (r ClaimRequest) problems() problems {
	var ps problems
	ps.checkText("worker", r.Worker, 1, 128)
	ps.checkNames("runners", r.Runners)
	ps.checkNames("projects", r.Projects)
	ps.checkNames("agents", r.Agents)
	if slices.Contains(r.Runners, RunnerExternal) || slices.Contains(r.Runners, RunnerWorkflow) {
		ps.add("runners", "tasks of the runners external and workflow are not for workers")
	}
	return ps
}

// Lease returns the requested length of the lease, within the limits of leases.
func (r ClaimRequest) Lease() time.Duration {
	if r.LeaseSeconds == 0 {
		return DefaultLease
	}
	longest := int(MaxLease / time.Second)
	return max(time.Duration(min(r.LeaseSeconds, longest))*time.Second, MinLease)
}

// Claim is a claimed task, with its new run and its resume context.
type Claim struct {
	Task    *Task          `json:"task"`
	Run     *Run           `json:"run"`
	Context *ResumeContext `json:"context"`
}

// Renew starts the lease again at the instant now.
func (r *Run) Renew(lease time.Duration, now time.Time) {
	r.Lease, r.LeaseUntil = lease, now.Add(lease)
}

// Heartbeat is a request to extend a lease. The reply carries the answers and
// messages that arrived since the last heartbeat.
type Heartbeat struct {
	Token int64 `json:"token"`
	// LeaseSeconds is the length of the lease from now on. 0 means the default.
	LeaseSeconds int      `json:"lease_seconds,omitempty" minimum:"0" maximum:"3600"`
	Session      *Session `json:"session,omitempty"`
	// Received holds the ids of the answers and messages that reached the worker in this run. A worker sends them
	// after a heartbeat whose reply was lost. Items that the run was handed but that are missing here are handed over
	// again.
	Received *[]string `json:"received,omitempty"`
}

// HeartbeatReply is the reply to a heartbeat, with the news for the running agent.
type HeartbeatReply struct {
	LeaseUntil time.Time `json:"lease_until"`
	// Context holds answers and messages that were not handed over before.
	Context *ResumeContext `json:"context,omitempty"`
}

// Finish is a request to end a run with a result.
type Finish struct {
	Token   int64           `json:"token"`
	Result  Result          `json:"result" enum:"completed,failed,blocked,needs_input"`
	Summary string          `json:"summary,omitempty" maxLength:"4096"`
	Details json.RawMessage `json:"details,omitempty"`
	// Reason becomes the reason of the failed task. It is empty unless the worker stopped the run.
	Reason string `json:"reason,omitempty" enum:"run_timeout" doc:"of a failed run: run_timeout if its worker stopped it at its time limit"`
	// Question is the question of the task, for needs_input only. It is not
	// needed if a question of this run is pending. If there is neither, the
	// summary becomes the question.
	Question *Ask `json:"question,omitempty"`
	// BlockedBy names the tasks that a blocked run waits for. If empty, the run
	// waits for the task's own unfinished children.
	BlockedBy  []string        `json:"blocked_by,omitempty"`
	Session    *Session        `json:"session,omitempty"`
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
	// Heard holds the ids of the messages and closed questions that reached the agent. Everything else that the run
	// was handed is handed to the next run. If Heard is nil, everything reached the agent.
	Heard *[]string `json:"heard,omitempty" doc:"ids of the messages and closed questions that the agent was told; what else this run was handed is handed to the next one; without it: all"`
	// Claim asks for the worker's next task, which is claimed in the same transaction. It does not wait for a task.
	Claim *ClaimRequest `json:"claim,omitempty" doc:"also claim the next task, if there is one now"`
}

// FinishReply is the reply to the result of a run: its task, and the claim that the result asked for.
type FinishReply struct {
	*Task
	// Next is nil if no claim was asked for, or if no task can be claimed now.
	Next *Claim `json:"next,omitempty" doc:"the claim that the result asked for; absent if no task can be claimed now"`
}

// Check returns an error that lists every problem of the request itself.
func (f Finish) Check() error {
	var ps problems
	ps.checkOneOf("result", string(f.Result), []string{"completed", "failed", "blocked", "needs_input"})
	if f.Result == "" {
		ps.add("result", "must not be empty")
	}
	ps.checkText("summary", f.Summary, 0, 4096)
	if f.Question != nil && f.Result != ResultNeedsInput {
		ps.add("question", "is allowed only with the result needs_input")
	}
	ps.checkOneOf("reason", f.Reason, []string{ReasonRunTimeout})
	if f.Reason != "" && f.Result != ResultFailed {
		ps.add("reason", "is allowed only with the result failed")
	}
	ps.checkJSON("details", f.Details)
	ps.checkJSON("checkpoint", f.Checkpoint)
	if len(f.BlockedBy) > 0 && f.Result != ResultBlocked {
		ps.add("blocked_by", "is allowed only with the result blocked")
	}
	if f.Claim != nil {
		ps.addWithin("claim", f.Claim.problems())
		if f.Claim.WaitSeconds != 0 {
			ps.add("claim.wait_seconds", "must be 0: the reply to a result does not wait for a task")
		}
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// SummaryQuestion returns the question of a run that needs input but gives only
// a summary. It returns nil if the summary is empty.
func (f Finish) SummaryQuestion() *Ask {
	summary := strings.TrimSpace(f.Summary)
	switch {
	case summary == "":
		return nil
	case utf8.RuneCountInString(summary) > MaxPrompt:
		return &Ask{Question: firstLine(summary, MaxPrompt), Body: summary}
	default:
		return &Ask{Question: summary}
	}
}

// WasCutOff reports whether the worker of a running run could not renew the lease. A worker renews it before two thirds
// have passed, and gives it up in the last quarter.
func (r *Run) WasCutOff(now time.Time) bool {
	const renewedBy = 2.0 / 3
	return now.Sub(r.RenewedAt()).Seconds() > renewedBy*r.Lease.Seconds()
}

// RenewedAt returns when the lease was renewed last.
func (r *Run) RenewedAt() time.Time { return r.LeaseUntil.Add(-r.Lease) }

// CheckHolder returns [CodeStaleRun] unless the caller holds the run (fencing).
// The token must match, the run must be the task's running one, and its lease
// must not have ended.
func (r *Run) CheckHolder(t *Task, token int64, now time.Time) error {
	switch {
	case r.Token != token:
		return Errorf(CodeStaleRun, "the fencing token is not that of run %s", r.ID)
	case r.State != RunRunning || t.RunID != r.ID:
		return Errorf(CodeStaleRun, "run %s is %s", r.ID, r.State).
			WithHint("stop: the task went on without this run")
	case !now.Before(r.LeaseUntil):
		return Errorf(CodeStaleRun, "the lease of run %s ended at %s", r.ID, r.LeaseUntil.Format(time.RFC3339)).
			WithHint("send heartbeats more often, or ask for a longer lease")
	}
	return nil
}

// CountsLate reports whether the result of a run counts although its lease has
// ended. It does if the worker could not reach the server in time and no other
// run has begun.
func (r *Run) CountsLate(t *Task, token int64, now time.Time) bool {
	if r.Token != token || t.RunID != r.ID {
		return false
	}
	isWaiting := t.State.IsClaimable() || t.State == TaskFailed && t.Reason == ReasonAttemptsUsedUp
	return r.State == RunLost && isWaiting || r.State == RunRunning && !now.Before(r.LeaseUntil)
}

// Progress is a report on the work that needs no answer.
type Progress struct {
	Message string  `json:"message" minLength:"1" maxLength:"2000"`
	Step    string  `json:"step,omitempty" maxLength:"200"`
	Current float64 `json:"current,omitempty"`
	Total   float64 `json:"total,omitempty"`
	// Token is the fencing token, if a run reports the progress.
	Token int64 `json:"token,omitempty"`
}

// Check returns an error that lists every problem of the update.
func (p Progress) Check() error {
	var ps problems
	ps.checkText("message", p.Message, 1, 2000)
	ps.checkText("step", p.Step, 0, 200)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// LogChunk is a piece of a run's output.
type LogChunk struct {
	Offset int64     `json:"offset" doc:"of the first byte in the run's log"`
	Text   string    `json:"text"`
	At     time.Time `json:"at"`
}
