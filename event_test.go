package fermata_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

func newChain(n int) []*fermata.Event {
	events, prev := make([]*fermata.Event, 0, n), ""
	for i := range n {
		e := &fermata.Event{
			WorkspaceID: "main", Type: fermata.EventQuestionAnswered, TaskID: "task_1", QuestionID: fmt.Sprintf("q_%d", i), RunID: "run_1",
			Actor: fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_ann", Name: "ann"}, At: noon.Add(time.Duration(i) * time.Second),
			Data: json.RawMessage(`{"answer":"a"}`),
		}
		e.Link(int64(i+1), prev)
		prev = e.Hash
		events = append(events, e)
	}
	return events
}

// countValid returns the number of valid events before the first bad one.
func countValid(events []*fermata.Event) (int, error) {
	var c fermata.Chain
	for i, e := range events {
		if err := c.VerifyNext(e); err != nil {
			if c.Seq != int64(i) {
				return i, fmt.Errorf("the chain went on to %d with a bad event", c.Seq)
			}
			return i, err
		}
	}
	return len(events), nil
}

func TestChainHolds(t *testing.T) {
	t.Parallel()
	events := newChain(5)
	if _, err := countValid(events); err != nil {
		t.Fatal(err)
	}
	if _, err := countValid(throughJSON(t, events)); err != nil {
		t.Errorf("after JSON: %v", err)
	}
	// A part of the chain is verified from the end of the previous part.
	c := fermata.Chain{Seq: events[2].Seq, Hash: events[2].Hash}
	if err := c.VerifyNext(events[3]); err != nil {
		t.Error(err)
	}
	zone := time.FixedZone("elsewhere", 3600)
	events[0].At = events[0].At.In(zone)
	if _, err := countValid(events); err != nil {
		t.Errorf("the same instant in another zone: %v", err)
	}
}

var eventChanges = map[string]func(e *fermata.Event){
	"seq":        func(e *fermata.Event) { e.Seq += 7 },
	"workspace":  func(e *fermata.Event) { e.WorkspaceID = "other" },
	"type":       func(e *fermata.Event) { e.Type = fermata.EventQuestionTimedOut },
	"task":       func(e *fermata.Event) { e.TaskID = "" },
	"question":   func(e *fermata.Event) { e.QuestionID += "0" },
	"run":        func(e *fermata.Event) { e.RunID, e.QuestionID = e.QuestionID, e.RunID },
	"actor kind": func(e *fermata.Event) { e.Actor.Kind = fermata.ActorTimeout },
	"actor id":   func(e *fermata.Event) { e.Actor.ID = "mem_bob" },
	"actor name": func(e *fermata.Event) { e.Actor.Name = "bob" },
	"shifted":    func(e *fermata.Event) { e.Actor.ID, e.Actor.Name = e.Actor.ID+e.Actor.Name[:1], e.Actor.Name[1:] },
	"at":         func(e *fermata.Event) { e.At = e.At.Add(time.Millisecond) },
	"data":       func(e *fermata.Event) { e.Data = json.RawMessage(`{"answer":"b"}`) },
	"no data":    func(e *fermata.Event) { e.Data = nil },
	"prev hash":  func(e *fermata.Event) { e.PrevHash += "A" },
	"hash":       func(e *fermata.Event) { e.Hash = "" },
}

func TestChainFindsEveryChange(t *testing.T) {
	t.Parallel()
	for name, change := range eventChanges {
		events := newChain(4)
		change(events[2])
		if at, err := countValid(events); err == nil || at != 2 {
			t.Errorf("%s: found at %d: %v", name, at, err)
		}
		// If the event's own hash is corrected as well, the next event shows the change.
		events = newChain(4)
		change(events[2])
		if name == "seq" || name == "prev hash" || name == "hash" {
			continue
		}
		events[2].Link(events[2].Seq, events[2].PrevHash)
		if at, err := countValid(events); err == nil || at != 3 {
			t.Errorf("%s, sealed again: found at %d: %v", name, at, err)
		}
	}
}

func TestChainFindsTampering(t *testing.T) {
	t.Parallel()
	keys := make([]string, 0, len(eventChanges))
	for k := range eventChanges {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "events")
		events := newChain(n)
		i := rapid.IntRange(0, n-1).Draw(t, "at")
		first := i
		switch rapid.SampledFrom([]string{"change", "gap", "reorder", "front", "insert", "repeat"}).Draw(t, "what") {
		case "change":
			eventChanges[rapid.SampledFrom(keys).Draw(t, "field")](events[i])
		case "gap":
			if i == n-1 {
				return // a missing event at the end leaves no trace in the rest
			}
			events = slices.Delete(events, i, i+1)
		case "reorder":
			j := rapid.IntRange(0, n-1).Draw(t, "with")
			if i == j {
				return
			}
			events[i], events[j] = events[j], events[i]
			first = min(i, j)
		case "front":
			events, first = events[1:], 0
		case "insert":
			forged := *events[i]
			forged.QuestionID = "q_forged"
			forged.Link(events[i].Seq, events[i].PrevHash)
			events, first = slices.Insert(events, i, &forged), i+1
		case "repeat":
			events, first = slices.Insert(events, i, events[i]), i+1
		}
		if at, err := countValid(events); err == nil || at != first {
			t.Fatalf("found at %d, want %d: %v", at, first, err)
		}
	})
}
