package engine

import (
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// remembered is the stored result of a call with an idempotency key. A result
// with a row of its own is stored by its id. A replay then returns the present
// state of the row, which a caller that was cut off wants to know, and which
// costs little space.
type remembered struct {
	Task     string          `json:"t,omitempty"`
	Question string          `json:"q,omitempty"`
	Run      string          `json:"r,omitempty"`
	Value    json.RawMessage `json:"v,omitempty"`
	// About is the id of the task that the value is about.
	About string `json:"a,omitempty"`
}

func remember(tx *store.Tx, caller string, once idempotency, v any) error {
	var kept remembered
	switch v := v.(type) {
	case *fermata.Task:
		kept.Task = v.ID
	case *fermata.Question:
		kept.Question = v.ID
	case *fermata.Claim:
		kept.Run = v.Run.ID
	case *fermata.HeartbeatReply:
		if v.Context == nil {
			// Nothing was handed over, so the next heartbeat returns the same
			// reply.
			return nil
		}
		kept.Value = encodeExact(v)
	default:
		kept.Value, kept.About = encodeExact(v), taskOf(v)
	}
	tx.Remember(caller, once.key, store.Replay{Fingerprint: once.fingerprint, Result: string(encodeExact(kept))})
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
func replay[T any](tx *store.Tx, c fermata.Caller, v fermata.Verb, caller string, once idempotency) (T, bool, error) {
	var out T
	earlier, found, err := tx.Replay(caller, once.key)
	if err != nil || !found {
		return out, false, err
	}
	if earlier.Fingerprint != once.fingerprint {
		return out, false, fermata.Errorf(fermata.CodeIdempotencyConflict, "the idempotency key %q was used for another request", once.key).
			WithHint("use a new key for a new request")
	}
	var kept remembered
	if err := json.Unmarshal([]byte(earlier.Result), &kept); err != nil {
		return out, false, fermata.Internal("read what an earlier call came to", err)
	}
	switch into := any(&out).(type) {
	case **fermata.Task:
		*into, err = tx.Task(kept.Task)
	case **fermata.Question:
		*into, err = tx.Question(kept.Question)
	case **fermata.Claim:
		*into, err = claimAgain(tx, kept.Run)
	default:
		err = json.Unmarshal(kept.Value, &out)
	}
	if err == nil {
		err = mayReplay(tx, c, v, kept, out)
	}
	return out, err == nil, err
}

// mayReplay refuses a caller that may not do the earlier write again. The
// permission is checked at every replay.
func mayReplay(tx *store.Tx, c fermata.Caller, v fermata.Verb, kept remembered, out any) error {
	if v.OfPersons() {
		return c.May(v, c.OwnPlace())
	}
	about := kept.About
	switch out := out.(type) {
	case *fermata.Task:
		return mayTask(tx, c, v, out)
	case *fermata.Question:
		about = out.TaskID
	case *fermata.Claim:
		return mayTask(tx, c, v, out.Task)
	case *fermata.Grant:
		return grantsTask(tx, c, *out, "")
	}
	if about == "" {
		return c.May(v, fermata.Somewhere)
	}
	t, err := tx.Task(about)
	if err != nil {
		return err
	}
	return mayTask(tx, c, v, t)
}

// taskOf returns the id of the task that a reply is about, or "" if it is about
// none.
func taskOf(v any) string {
	switch v := v.(type) {
	case *fermata.Message:
		return v.TaskID
	case *fermata.GateVerdict:
		return v.TaskID
	case *fermata.Grant:
		return v.TaskID
	}
	return ""
}

// claimAgain returns a claim whose reply was lost, with all that its run was
// handed.
func claimAgain(tx *store.Tx, runID string) (*fermata.Claim, error) {
	run, err := tx.Run(runID)
	if err != nil {
		return nil, err
	}
	t, err := tx.Task(run.TaskID)
	if err != nil {
		return nil, err
	}
	questions, err := tx.ClosedUnhanded(t.ID, run.ID)
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
	before, err := runBefore(tx.Reader, run)
	if err != nil {
		return nil, err
	}
	rc := fermata.NewResumeContext(t, before, questions, messages, pending)
	if err := addGrants(rc, questions, tx.Reader, tx.GrantKey); err != nil {
		return nil, err
	}
	return &fermata.Claim{Task: t, Run: run, Context: rc}, nil
}

// runBefore returns the run of the task before this one, or nil if this is the
// first.
func runBefore(r store.Reader, run *fermata.Run) (*fermata.LastRun, error) {
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
