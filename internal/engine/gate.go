package engine

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Gate decides whether a tool call may run. A matching rule decides. Otherwise
// the call becomes an approval for exactly this call, in the thread of the task
// or of the session. If people were asked about the same call before, that
// result counts: an approval lets the call run once, and a refusal denies it.
// An allowed call writes nothing, unless its rule limits the number of calls.
func (e *Engine) Gate(ctx context.Context, c fermata.Caller, call fermata.GateCall) (*fermata.GateReply, error) {
	if err := c.CheckPermission(fermata.ToGate, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if err := call.Check(); err != nil {
		return nil, err
	}
	// Every rule applies to the call, also the rules that the caller may not read.
	r := e.db.Reader(ctx, c.WorkspaceID)
	call.Project = c.ProjectOr(call.Project)
	if call.TaskID != "" {
		id, err := e.taskID(ctx, c, call.TaskID)
		if err != nil {
			return nil, err
		}
		call.TaskID = id
	}
	now, err := e.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	g, err := e.newGateCase(r, c, call, now)
	if err != nil {
		return nil, err
	}
	if call.DryRun || g.ruling.Decision == fermata.GateAllow && (g.ruling.Rule == nil || !g.ruling.Rule.IsLimited()) {
		return g.verdict(), nil
	}
	return write(ctx, e, c, fermata.ToGate, func(tx *store.Tx) (*fermata.GateReply, error) { return e.gate(tx, c, call) })
}

// gateCase is one call with the ruling on it.
type gateCase struct {
	call   fermata.GateCall
	by     fermata.Actor
	task   *fermata.Task
	ruling fermata.Ruling
}

// taskReader is the part of a reader, or of a transaction with read-ahead, that rules need.
type taskReader interface {
	taskGetter
	sessionReader
	GateRules() ([]*fermata.GateRule, error)
}

func (e *Engine) newGateCase(r store.Reader, c fermata.Caller, call fermata.GateCall, now time.Time) (*gateCase, error) {
	g := &gateCase{call: call, by: c.Actor()}
	t, err := gateTask(r, c, call)
	if err != nil {
		return nil, err
	}
	g.task = t
	run, err := actingRun(r, t, call.RunID)
	if err != nil {
		return nil, err
	}
	return g, e.applyRules(g, r, r, run, now)
}

// runReader is the part of a reader, or of a transaction with read-ahead, that finds runs.
type runReader interface {
	Run(id string) (*fermata.Run, error)
}

// actingRun returns the run that acts for a task: the run that the caller
// named, or else the task's last run. It returns nil if there is none.
func actingRun(r runReader, t *fermata.Task, runID string) (*fermata.Run, error) {
	if runID == "" && t != nil {
		runID = t.RunID
	}
	if runID == "" {
		return nil, nil
	}
	run, err := r.Run(runID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, nil
	}
	return run, err
}

// applyRules applies the rules to the call, unless nothing more may run for the task.
func (e *Engine) applyRules(g *gateCase, tr taskReader, r store.Reader, run *fermata.Run, now time.Time) error {
	if g.task != nil {
		if why := g.task.HaltReason(g.call.RunID, run, now); why != "" {
			g.ruling = fermata.Ruling{Decision: fermata.GateDeny, HaltReason: why}
			return nil
		}
	}
	policy, err := e.policy(r)
	if err != nil {
		return err
	}
	rules, err := tr.GateRules()
	if err != nil {
		return err
	}
	from := fermata.GateOrigin{Project: g.call.Project, TaskID: g.call.TaskID, SessionKey: g.call.SessionKey, SessionOwner: g.by}
	if from.Project == "" {
		from.Project = fermata.DefaultProject
	}
	if g.task != nil {
		from = fermata.OriginOf(g.task)
	}
	g.ruling = fermata.JudgeCall(&g.call, from, rules, policy, readShell, now)
	return nil
}

// gateTask returns the task of a call, or nil for a session without a task. A session keeps its cancelled task, so
// that it stays stopped until a person reopens the task.
func gateTask(r taskReader, c fermata.Caller, call fermata.GateCall) (*fermata.Task, error) {
	switch {
	case call.TaskID != "":
		t, err := r.Task(call.TaskID)
		if err != nil {
			return nil, err
		}
		if err := checkTaskPermission(r, c, fermata.ToGate, t); err != nil {
			return nil, err
		}
		if t.SessionKey != "" && !isOwnSession(c, t) && !call.DryRun {
			return nil, fermata.Errorf(fermata.CodeForbidden, "the task is a session of %s, for whom its calls are approved", t.CreatedBy.DisplayName()).
				WithHint("ask in a session of your own: session_key")
		}
		return t, nil
	case call.SessionKey != "":
		t, err := taskOfSession(r, c, fermata.ToGate, call.SessionKey)
		if fermata.CodeOf(err) != fermata.CodeNotFound {
			return t, err
		}
		if t, err = cancelledTask(r, c, call.SessionKey); err != nil {
			return nil, err
		}
		if t != nil {
			return t, c.CheckPermission(fermata.ToGate, fermata.InTask(t))
		}
	}
	return nil, c.CheckPermission(fermata.ToGate, fermata.InProject(call.Project))
}

// verdict returns the reply for the decision of the rules.
func (g *gateCase) verdict() *fermata.GateReply {
	v := &fermata.GateReply{Decision: g.ruling.Decision, Rule: g.ruling.Rule, DecidedBy: fermata.ActorPolicy}
	if g.task != nil {
		v.TaskID = g.task.ID
	}
	if g.ruling.HaltReason != "" {
		v.DecidedBy = fermata.ActorSystem
		v.Reason = "stop: " + g.ruling.HaltReason + "; nothing more may run for it"
		return v
	}
	switch v.Decision {
	case fermata.GateAllow:
		v.Reason = "allowed: " + g.ruling.Explain()
	case fermata.GateDeny:
		v.Reason = "denied by a rule, not by a person: " + g.ruling.Explain()
	case fermata.GateAsk:
		v.DecidedBy = ""
		v.Reason = "a person must approve: " + g.ruling.Explain()
	}
	return v
}

// gate decides a call in a transaction.
func (e *Engine) gate(tx *store.Tx, c fermata.Caller, call fermata.GateCall) (*fermata.GateReply, error) {
	t, err := gateTask(tx, c, call)
	if err != nil {
		return nil, err
	}
	run, err := actingRun(tx, t, call.RunID)
	if err != nil {
		return nil, err
	}
	g := &gateCase{call: call, by: c.Actor(), task: t}
	if err := e.applyRules(g, tx, tx.Reader, run, tx.Now()); err != nil {
		return nil, err
	}
	switch g.ruling.Decision {
	case fermata.GateDeny:
		v := g.verdict()
		appendGateDecided(tx, g, v, c.Actor())
		return v, nil
	case fermata.GateAllow:
		v := g.verdict()
		if g.ruling.Rule != nil && g.ruling.Rule.IsLimited() {
			tx.UseGateRule(g.ruling.Rule)
			appendGateDecided(tx, g, v, c.Actor())
		}
		return v, nil
	default:
		return e.askAboutCall(tx, g, c)
	}
}

// askAboutCall returns the verdict of an earlier question about the call, or asks a new one.
func (e *Engine) askAboutCall(tx *store.Tx, g *gateCase, c fermata.Caller) (*fermata.GateReply, error) {
	if g.task != nil {
		v, err := e.findEarlierVerdict(tx, g, c)
		if v != nil || err != nil {
			return v, err
		}
	} else {
		t, err := e.createSessionTask(tx, g.call, c.Actor())
		if err != nil {
			return nil, err
		}
		g.task = t
	}
	if err := e.expirePending(tx, g); err != nil {
		return nil, err
	}
	q, err := e.ask(tx, g.task, "", g.call.Ask(g.ruling.Rule), c.Actor())
	if fermata.CodeOf(err) == fermata.CodePendingQuestionExists {
		return g.busyVerdict(tx)
	}
	if err != nil {
		return nil, err
	}
	v := g.askedVerdict(q)
	appendGateDecided(tx, g, v, c.Actor())
	return v, nil
}

// expirePending settles the task's pending question if it is overdue, so that
// it does not block the new one.
func (e *Engine) expirePending(tx *store.Tx, g *gateCase) error {
	if g.task.PendingQuestionID == "" {
		return nil
	}
	_, t, err := e.loadAndSettleIfDue(tx, g.task.PendingQuestionID)
	if err == nil {
		g.task = t
	}
	return err
}

// createSessionTask creates the task for the questions of a session.
func (e *Engine) createSessionTask(tx *store.Tx, call fermata.GateCall, by fermata.Actor) (*fermata.Task, error) {
	title := strings.TrimSpace(call.Runner + " session")
	if call.Dir != "" {
		title += " in " + path.Base(strings.ReplaceAll(call.Dir, `\`, "/"))
	}
	return e.createTask(tx, fermata.NewTask{
		Title: firstRunes(title, fermata.MaxTaskTitle), Project: call.Project, Runner: fermata.RunnerExternal, SessionKey: call.SessionKey,
	}, by)
}

func firstRunes(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(n, len(runes))])
}

// busyVerdict denies a call while another question of the task is pending, because a
// task has at most one.
func (g *gateCase) busyVerdict(tx *store.Tx) (*fermata.GateReply, error) {
	pending, err := tx.Question(g.task.PendingQuestionID)
	if err != nil {
		return nil, err
	}
	return &fermata.GateReply{
		Decision: fermata.GateDeny, TaskID: g.task.ID, QuestionID: pending.ID, Status: pending.Status, DecidedBy: fermata.ActorSystem,
		Reason: fmt.Sprintf("nobody was asked about this call: the task waits for an answer to %s already (%s). "+
			"Make one call that needs approval at a time, and this one again after that", pending.ID, pending.Title),
	}, nil
}

// askedVerdict returns the verdict that people are asked about the call.
func (g *gateCase) askedVerdict(q *fermata.Question) *fermata.GateReply {
	v := &fermata.GateReply{Decision: fermata.GateAsk, TaskID: q.TaskID, QuestionID: q.ID, Status: q.Status, Rule: g.ruling.Rule}
	v.Reason = fmt.Sprintf("waiting for a person to approve this call (%s); %s", q.ID, g.ruling.Explain())
	return v
}

// maxEarlierQuestions is how many of a task's newest approvals are searched for one about the call.
const maxEarlierQuestions = 50

// findEarlierVerdict returns the verdict of an earlier question about the call, or nil
// if people must be asked.
func (e *Engine) findEarlierVerdict(tx *store.Tx, g *gateCase, c fermata.Caller) (*fermata.GateReply, error) {
	recent, err := tx.Questions(store.QuestionFilter{TaskID: g.task.ID, Type: string(fermata.Approval), Limit: maxEarlierQuestions})
	if err != nil {
		return nil, err
	}
	hashes := fermata.ActionHashes(g.call.Action())
	if err := e.voidChangedCall(tx, g, recent, hashes, c); err != nil {
		return nil, err
	}
	matching := slices.DeleteFunc(recent, func(q *fermata.Question) bool { return !g.call.IsSubjectOf(q, hashes) })
	used, err := tx.GrantsUsed(idsOf(matching))
	if err != nil {
		return nil, err
	}
	for _, q := range matching {
		if q.IsDecided(tx.Now()) {
			// A deadline or held answer that is due decides first, whether or not a sweep has run.
			if q, g.task, err = e.loadAndSettleIfDue(tx, q.ID); err != nil {
				return nil, err
			}
		}
		outdated, err := e.isOutdated(tx, q)
		if err != nil {
			return nil, err
		}
		if outdated {
			continue
		}
		v, err := g.verdictFromQuestion(tx, q, hashes, used[q.ID], c)
		if v != nil || err != nil {
			return v, err
		}
	}
	return nil, nil
}

// voidChangedCall withdraws questions and approvals under the same call id for
// other arguments. The call was changed, so the consent to it is void.
func (e *Engine) voidChangedCall(tx *store.Tx, g *gateCase, recent []*fermata.Question, hashes []string, c fermata.Caller) error {
	for _, q := range recent {
		if g.call.CallID == "" || q.Metadata[fermata.GateCallKey] != g.call.CallID || g.call.IsSubjectOf(q, hashes) {
			continue
		}
		if q.Status == fermata.Pending && !q.IsOverdue(tx.Now()) {
			if _, err := q.Cancel(c.Actor(), "the call was changed", tx.Now()); err != nil {
				return err
			}
			if err := e.settle(tx, g.task, q, c.Actor()); err != nil {
				return err
			}
			continue
		}
		used, err := tx.GrantsUsed([]string{q.ID})
		if err != nil {
			return err
		}
		if q.Resolution.IsApproved() && !used[q.ID] {
			tx.UseGrant(q.ID, g.call.CallID, c.Actor())
		}
	}
	return nil
}

func idsOf(questions []*fermata.Question) []string {
	out := make([]string, 0, len(questions))
	for _, q := range questions {
		out = append(out, q.ID)
	}
	return out
}

// verdictFromQuestion returns the verdict that follows from an earlier question about the
// call, or nil if none follows.
func (g *gateCase) verdictFromQuestion(tx *store.Tx, q *fermata.Question, hashes []string, used bool, c fermata.Caller) (*fermata.GateReply, error) {
	sameCall := g.call.CallID != "" && q.Metadata[fermata.GateCallKey] == g.call.CallID
	switch {
	case q.Status == fermata.Pending && (sameCall || g.call.CallID == ""):
		return g.askedVerdict(q), nil
	case q.Status == fermata.Pending:
		// Another call asks for the same action: asking again counts the ask and opens no second question.
		return nil, nil
	case q.Resolution.IsApproved():
		grant, ok := q.Grant()
		if !ok || used || !tx.Now().Before(grant.ExpiresAt) {
			return nil, nil
		}
		return g.allowByGrant(tx, q, grant, hashes, c)
	case sameCall || q.Resolution.DecideYourself && q.HandedTo != "" && q.HandedTo == g.task.RunID:
		// The person told this run to decide for itself, so the same action does not suspend it again.
		v := &fermata.GateReply{
			Decision: fermata.GateDeny, TaskID: q.TaskID, QuestionID: q.ID, Status: q.Status, DecidedBy: q.Resolution.DecidedBy,
			Reason: q.Refusal(),
		}
		return v, nil
	default:
		return nil, nil
	}
}

// allowByGrant lets an approved call run, once.
func (g *gateCase) allowByGrant(tx *store.Tx, q *fermata.Question, grant fermata.Grant, hashes []string, c fermata.Caller) (*fermata.GateReply, error) {
	v := &fermata.GateReply{
		Decision: fermata.GateAllow, TaskID: q.TaskID, QuestionID: q.ID, Status: q.Status, DecidedBy: q.Resolution.DecidedBy,
		Reason: "approved: " + q.Resolution.Sentence(),
	}
	if !slices.Contains(hashes, grant.ActionHash) {
		input, err := g.call.EditedInput(q.Resolution.Action)
		if err != nil {
			v.Decision, v.Reason = fermata.GateDeny, "the approval cannot be used: "+err.Error()
			return v, nil //nolint:nilerr // a refusal is a verdict, not a failure
		}
		v.Input, v.Reason = input, v.Reason+"; only the edited arguments were approved"
	}
	return v, useGrant(tx, grant, g.call.CallID, c)
}

// gateDecidedData is the data of the event gate.decided.
type gateDecidedData struct {
	Tool       string               `json:"tool"`
	Decision   fermata.GateDecision `json:"decision"`
	ActionHash string               `json:"action_hash"`
	CallID     string               `json:"call_id,omitempty"`
	RuleID     string               `json:"rule_id,omitempty"`
	Runner     string               `json:"runner,omitempty"`
}

func appendGateDecided(tx *store.Tx, g *gateCase, v *fermata.GateReply, by fermata.Actor) {
	d := gateDecidedData{
		Tool: g.call.Tool, Decision: v.Decision, ActionHash: fermata.HashAction(g.call.Action()), CallID: g.call.CallID,
		Runner: g.call.Runner,
	}
	if v.Rule != nil {
		d.RuleID = v.Rule.ID
	}
	tx.Append(&fermata.Event{Type: fermata.EventGateDecided, TaskID: v.TaskID, QuestionID: v.QuestionID, Actor: by, Data: encodeData(d)})
}
