package engine

import (
	"encoding/json"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// remembered is what is kept of a call with an idempotency key. What has a row
// of its own is kept by its id: a replay then says how it stands now, which is
// what a caller who was cut off wants to know, and costs little.
type remembered struct {
	Task     string          `json:"t,omitempty"`
	Question string          `json:"q,omitempty"`
	Run      string          `json:"r,omitempty"`
	Value    json.RawMessage `json:"v,omitempty"`
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
			// Nothing was handed over: the next heartbeat says the same.
			return nil
		}
		kept.Value = data(v)
	default:
		value, err := json.Marshal(v)
		if err != nil {
			return fermata.Internal("keep what a call came to", err)
		}
		kept.Value = value
	}
	tx.Remember(caller, once.key, store.Replay{Fingerprint: once.fingerprint, Result: string(data(kept))})
	return nil
}

// replay returns what an earlier call with the key came to, and false when
// there was none.
func replay[T any](tx *store.Tx, caller string, once idempotency) (T, bool, error) {
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
	return out, err == nil, err
}

// claimAgain returns the claim whose reply was lost on the way, with all that
// its run was handed.
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
	rc := fermata.NewResumeContext(t, questions, messages, pending)
	rc.Resumed = run.Attempt > 1 || rc.Resumed && len(questions) > 0
	if err := addGrants(rc, questions, tx.Reader, tx.GrantKey); err != nil {
		return nil, err
	}
	return &fermata.Claim{Task: t, Run: run, Context: rc}, nil
}
