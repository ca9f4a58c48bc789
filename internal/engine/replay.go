package engine

import (
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// storedResult is the stored result of a call with an idempotency key. A result
// that has its own row is stored as the id of the row, which costs little
// space. A replay returns the present state of the row, because a caller that
// did not get the first reply needs this state.
type storedResult struct {
	Task     string          `json:"t,omitempty"`
	Question string          `json:"q,omitempty"`
	Run      string          `json:"r,omitempty"`
	Value    json.RawMessage `json:"v,omitempty"`
	// ValueTaskID is the id of the task that the value is about.
	ValueTaskID string `json:"a,omitempty"`
}

func storeResult(tx *store.Tx, caller string, idem idempotency, v any) error {
	var stored storedResult
	switch v := v.(type) {
	case *fermata.Task:
		stored.Task = v.ID
	case *fermata.Question:
		stored.Question = v.ID
	case *fermata.Claim:
		stored.Run = v.Run.ID
	case *fermata.FinishReply:
		stored.Task = v.ID
		if v.Next != nil {
			stored.Run = v.Next.Run.ID
		}
	case *fermata.HeartbeatReply:
		if v.Context == nil {
			// Nothing was handed over, so the next heartbeat returns the same
			// reply.
			return nil
		}
		stored.Value = encodeExact(v)
	default:
		stored.Value, stored.ValueTaskID = encodeExact(v), taskOf(v)
	}
	tx.SaveReplay(caller, idem.key, store.Replay{Fingerprint: idem.fingerprint, Result: string(encodeExact(stored))})
	return nil
}

// encodeExact encodes the result of a call as exact JSON, because it may
// contain the bytes of an action.
func encodeExact(v any) json.RawMessage {
	b, err := fermata.ExactJSON(v)
	if err != nil {
		// The same replies are sent to the caller as JSON, so they can be
		// encoded.
		panic("engine: keep what a call came to: " + err.Error())
	}
	return b
}

// replay returns the result of an earlier call with the key, and false if there
// was none.
func replay[T any](tx *store.Tx, c fermata.Caller, v fermata.Verb, caller string, idem idempotency) (T, bool, error) {
	var out T
	earlier, found, err := tx.Replay(caller, idem.key)
	if err != nil || !found {
		return out, false, err
	}
	if earlier.Fingerprint != idem.fingerprint {
		return out, false, fermata.Errorf(fermata.CodeIdempotencyConflict, "the idempotency key %q was used for another request", idem.key).
			WithHint("use a new key for a new request")
	}
	var stored storedResult
	if err := json.Unmarshal([]byte(earlier.Result), &stored); err != nil {
		return out, false, fermata.Internal("read what an earlier call came to", err)
	}
	switch into := any(&out).(type) {
	case **fermata.Task:
		*into, err = tx.Task(stored.Task)
	case **fermata.Question:
		*into, err = tx.Question(stored.Question)
	case **fermata.Claim:
		*into, err = reloadClaim(tx, stored.Run)
	case **fermata.FinishReply:
		*into, err = reloadFinish(tx, stored)
	default:
		err = json.Unmarshal(stored.Value, &out)
	}
	if err == nil {
		err = checkReplayPermission(tx, c, v, stored, out)
	}
	return out, err == nil, err
}

// checkReplayPermission refuses a caller who no longer has the permission for the earlier call. It is called for every
// replay.
func checkReplayPermission(tx *store.Tx, c fermata.Caller, v fermata.Verb, stored storedResult, out any) error {
	if v.IsPersonal() {
		return c.CheckPermission(v, c.OwnResource())
	}
	taskID := stored.ValueTaskID
	switch out := out.(type) {
	case *fermata.Task:
		return checkTaskPermission(tx, c, v, out)
	case *fermata.Question:
		taskID = out.TaskID
	case *fermata.Claim:
		return checkTaskPermission(tx, c, v, out.Task)
	case *fermata.FinishReply:
		return checkTaskPermission(tx, c, v, out.Task)
	case *fermata.Grant:
		return checkGrantTask(tx, c, *out, "")
	}
	if taskID == "" {
		return c.CheckPermission(v, fermata.UnloadedResource)
	}
	t, err := tx.Task(taskID)
	if err != nil {
		return err
	}
	return checkTaskPermission(tx, c, v, t)
}

// taskOf returns the id of the task that a reply is about, or "" if it is about
// none.
func taskOf(v any) string {
	switch v := v.(type) {
	case *fermata.Message:
		return v.TaskID
	case *fermata.GateReply:
		return v.TaskID
	case *fermata.Grant:
		return v.TaskID
	}
	return ""
}

// reloadClaim returns a claim whose reply was lost, with all that its run was
// handed.
func reloadClaim(tx *store.Tx, runID string) (*fermata.Claim, error) {
	run, err := tx.Run(runID)
	if err != nil {
		return nil, err
	}
	t, err := tx.Task(run.TaskID)
	if err != nil {
		return nil, err
	}
	questions, err := tx.UnhandedQuestions(t.ID, run.ID)
	if err != nil {
		return nil, err
	}
	messages, err := tx.UnhandedMessages(t.ID, run.ID)
	if err != nil {
		return nil, err
	}
	pending, err := pendingQuestion(tx.Reader, t)
	if err != nil {
		return nil, err
	}
	before, err := previousRun(tx.Reader, run)
	if err != nil {
		return nil, err
	}
	rc := fermata.NewResumeContext(t, before, questions, messages, pending)
	if err := addGrants(rc, questions, tx.Reader, tx.GrantKey); err != nil {
		return nil, err
	}
	return &fermata.Claim{Task: t, Run: run, Context: rc}, nil
}

// reloadFinish returns the reply to a result that was lost.
func reloadFinish(tx *store.Tx, stored storedResult) (*fermata.FinishReply, error) {
	t, err := tx.Task(stored.Task)
	if err != nil || stored.Run == "" {
		return &fermata.FinishReply{Task: t}, err
	}
	next, err := reloadClaim(tx, stored.Run)
	return &fermata.FinishReply{Task: t, Next: next}, err
}

// previousRun returns the run of the task before this one, or nil if this is the
// first.
func previousRun(r store.Reader, run *fermata.Run) (*fermata.LastRun, error) {
	if run.Attempt == 1 {
		return nil, nil
	}
	all, err := r.Runs(run.TaskID)
	i := slices.IndexFunc(all, func(each *fermata.Run) bool { return each.Attempt == run.Attempt-1 })
	if err != nil || i < 0 {
		return nil, err
	}
	return all[i].LastRun(), nil
}
