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

// RunState is where one attempt at a task stands.
type RunState string

// States of a run.
const (
	RunRunning  RunState = "running"
	RunFinished RunState = "finished"
	// RunLost is a run whose lease ended: what it says later is refused.
	RunLost RunState = "lost"
	// RunReleased is a run whose worker handed the task back unharmed.
	RunReleased RunState = "released"
)

// RunStates lists every state.
var RunStates = []RunState{RunRunning, RunFinished, RunLost, RunReleased}

// Result is what a run came to (spec §3.3).
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
	DefaultLease  = 60 * time.Second
	ShortestLease = time.Second
	LongestLease  = time.Hour
)

// Run is one attempt to execute a task.
type Run struct {
	ID          string   `json:"id"`
	WorkspaceID string   `json:"workspace_id"`
	TaskID      string   `json:"task_id"`
	Attempt     int      `json:"attempt" doc:"1 for the task's first run"`
	State       RunState `json:"state" enum:"running,finished,lost,released"`
	Worker      string   `json:"worker,omitempty"`
	Runner      string   `json:"runner,omitempty"`
	// Token is the fencing token: random, of this run alone, and told to who
	// claims it only. A call that names another one is refused with stale_run.
	Token      int64     `json:"token,omitempty" doc:"fencing token; only in the reply to the claim"`
	LeaseUntil time.Time `json:"lease_until"`
	// Lease is how long the lease runs from the last heartbeat.
	Lease       time.Duration   `json:"-"`
	ClaimedFrom TaskState       `json:"claimed_from"`
	Result      Result          `json:"result,omitempty" enum:"completed,failed,blocked,needs_input"`
	Summary     string          `json:"summary,omitempty"`
	Details     json.RawMessage `json:"details,omitempty"`
	QuestionID  string          `json:"question_id,omitempty"`
	StartedAt   time.Time       `json:"started_at"`
	EndedAt     *time.Time      `json:"ended_at,omitempty"`
	// Handed counts the messages and closed questions that the run was handed.
	Handed int `json:"-"`
}

// Limits of fencing tokens: none is as small as the number of a run, and all
// survive as numbers of JSON.
const (
	leastFencing = 1 << 40
	mostFencing  = 1 << 53
)

// NewFencingToken returns a token that nobody can guess.
func NewFencingToken() int64 {
	n, err := rand.Int(rand.Reader, big.NewInt(mostFencing-leastFencing))
	if err != nil {
		panic("fermata: no random numbers: " + err.Error())
	}
	return leastFencing + n.Int64()
}

// PublicView returns the run as everybody may read it: without the fencing token,
// with which its holder acts.
func (r *Run) PublicView() *Run {
	if r == nil {
		return nil
	}
	seen := *r
	seen.Token = 0
	return &seen
}

// ClaimRequest says what a worker can do.
type ClaimRequest struct {
	Worker   string   `json:"worker" minLength:"1" maxLength:"128"`
	Runners  []string `json:"runners,omitempty" maxItems:"32" doc:"what it drives; shell: it runs the commands of tasks; empty claims tasks that name no runner only"`
	Projects []string `json:"projects,omitempty" doc:"empty: any"`
	Agents   []string `json:"agents,omitempty" doc:"roles; empty: any"`
	// Isolates says that the worker keeps its agents in a sandbox, so that it may take isolated tasks.
	Isolates bool `json:"isolates,omitempty" doc:"it keeps its agents in a sandbox; without it, tasks that must be isolated are not for it"`
	// LeaseSeconds is how long the task is the worker's without a heartbeat.
	LeaseSeconds int `json:"lease_seconds,omitempty" minimum:"0" maximum:"3600" doc:"default 60"`
	// WaitSeconds is how long the call waits for a task to become claimable.
	WaitSeconds int `json:"wait_seconds,omitempty" minimum:"0" maximum:"60"`
	// AgentTokenID is the token that the worker gives its agents; empty for none.
	AgentTokenID string `json:"-"`
	// Visible are the projects that the worker and its agents see. A claim takes a task of these projects only.
	Visible ProjectSet `json:"-"`
}

// DrivesAgents reports whether the worker takes tasks that name no runner. A worker that
// only runs the commands of tasks, or only moves workflows on, takes none of them.
func (r ClaimRequest) DrivesAgents() bool {
	if len(r.Runners) == 0 {
		return true
	}
	return slices.ContainsFunc(r.Runners, func(name string) bool { return name != RunnerShell && name != RunnerWorkflow })
}

// Check reports what is wrong with the request.
func (r ClaimRequest) Check() error {
	var ps problems
	ps.text("worker", r.Worker, 1, 128)
	ps.names("runners", r.Runners)
	ps.names("projects", r.Projects)
	ps.names("agents", r.Agents)
	if slices.Contains(r.Runners, RunnerExternal) || slices.Contains(r.Runners, RunnerWorkflow) {
		ps.add("runners", "tasks of the runners external and workflow are not for workers")
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// Lease returns the length of the lease that the request asks for.
func (r ClaimRequest) Lease() time.Duration {
	if r.LeaseSeconds == 0 {
		return DefaultLease
	}
	longest := int(LongestLease / time.Second)
	return max(time.Duration(min(r.LeaseSeconds, longest))*time.Second, ShortestLease)
}

// Claim is a task in a worker's hands.
type Claim struct {
	Task    *Task          `json:"task"`
	Run     *Run           `json:"run"`
	Context *ResumeContext `json:"context"`
}

// Renew begins the lease anew.
func (r *Run) Renew(lease time.Duration, now time.Time) {
	r.Lease, r.LeaseUntil = lease, now.Add(lease)
}

// Heartbeat extends a lease. The reply carries what reached the task since.
type Heartbeat struct {
	Token int64 `json:"token"`
	// LeaseSeconds is how long the lease runs from now; 0 keeps the default.
	LeaseSeconds int      `json:"lease_seconds,omitempty" minimum:"0" maximum:"3600"`
	Session      *Session `json:"session,omitempty"`
	// Received are the ids of the answers and messages that reached the worker in this
	// run. A worker names them after a heartbeat whose reply was lost: what the run was
	// handed and is not among them is handed over again.
	Received *[]string `json:"received,omitempty"`
}

// HeartbeatReply tells a running agent what happened meanwhile.
type HeartbeatReply struct {
	LeaseUntil time.Time `json:"lease_until"`
	// Context holds answers and messages that were not handed over before.
	Context *ResumeContext `json:"context,omitempty"`
}

// Finish ends a run with a result.
type Finish struct {
	Token   int64           `json:"token"`
	Result  Result          `json:"result" enum:"completed,failed,blocked,needs_input"`
	Summary string          `json:"summary,omitempty" maxLength:"4096"`
	Details json.RawMessage `json:"details,omitempty"`
	// Question is what the task needs to know; for needs_input only, and not
	// needed when a question of this run is pending already. Where neither is
	// there, the summary is asked.
	Question *Ask `json:"question,omitempty"`
	// BlockedBy names the tasks that a blocked run waits for; empty means the
	// task's own unfinished children.
	BlockedBy  []string        `json:"blocked_by,omitempty"`
	Session    *Session        `json:"session,omitempty"`
	Checkpoint json.RawMessage `json:"checkpoint,omitempty"`
	// Heard names the messages and closed questions that the agent was told. What else
	// the run was handed is handed to the next run. Without it, the agent was told all.
	Heard *[]string `json:"heard,omitempty" doc:"ids of the messages and closed questions that the agent was told; what else this run was handed is handed to the next one; without it: all"`
}

// Check reports what is wrong with the request itself.
func (f Finish) Check() error {
	var ps problems
	ps.oneOf("result", string(f.Result), []string{"completed", "failed", "blocked", "needs_input"})
	if f.Result == "" {
		ps.add("result", "must not be empty")
	}
	ps.text("summary", f.Summary, 0, 4096)
	if f.Question != nil && f.Result != ResultNeedsInput {
		ps.add("question", "goes with the result needs_input only")
	}
	ps.json("details", f.Details)
	ps.json("checkpoint", f.Checkpoint)
	if len(f.BlockedBy) > 0 && f.Result != ResultBlocked {
		ps.add("blocked_by", "goes with the result blocked only")
	}
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}

// SummaryQuestion returns the question of a run that needs input and says in
// its summary alone what it needs to know; nil where the summary is empty.
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

// CheckHolder refuses a call on a run that is over or that a newer run has
// replaced (fencing). It returns [CodeStaleRun].
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

// CountsLate reports whether the result of a run still counts though its lease has
// ended: its worker could not reach the server in time, and no other run has begun.
func (r *Run) CountsLate(t *Task, token int64, now time.Time) bool {
	if r.Token != token || t.RunID != r.ID {
		return false
	}
	waits := t.State.Claimable() || t.State == TaskFailed && t.Reason == ReasonAttemptsUsedUp
	return r.State == RunLost && waits || r.State == RunRunning && !now.Before(r.LeaseUntil)
}

// Progress is an update that asks for nothing.
type Progress struct {
	Message string  `json:"message" minLength:"1" maxLength:"2000"`
	Step    string  `json:"step,omitempty" maxLength:"200"`
	Current float64 `json:"current,omitempty"`
	Total   float64 `json:"total,omitempty"`
	// Token is the fencing token, when a run reports.
	Token int64 `json:"token,omitempty"`
}

// Check reports what is wrong with the update.
func (p Progress) Check() error {
	var ps problems
	ps.text("message", p.Message, 1, 2000)
	ps.text("step", p.Step, 0, 200)
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
