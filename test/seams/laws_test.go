package seams

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

// A good case that is changed to break one law breaks this law and no other.
func TestLawsFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		law   string
		spoil func(c *Case)
	}{
		{"", func(*Case) {}},
		{"words-reach-agents", func(c *Case) { c.Processes["t"][0].handovers = nil; c.Processes["t"][1].handovers = nil }},
		{"words-arrive-at-once", func(c *Case) { c.Words[0].Run, c.Words[0].Acked = "r2", at(-60) }},
		{"words-come-first", func(c *Case) {
			l := c.Processes["t"][1]
			l.handovers = []Handover{{Run: "r2", Raw: "nothing"}, l.handovers[0]}
		}},
		{"receipts-are-true", func(c *Case) { c.Final["t"].Messages[0].HandedTo = "r1" }},
		{"no-effect-after-stop", func(c *Case) { c.Processes["t"][0].lastBeat = func() time.Time { return at(50) } }},
		{"no-leave-after-stop", func(c *Case) {
			c.Gates = []Gate{{Task: "t", End: at(9), Stopped: "the task is done", Verdict: fermata.GateReply{Decision: fermata.GateAllow}}}
		}},
		{"leave-is-used-once", func(c *Case) {
			once := Gate{Task: "t", Verdict: fermata.GateReply{Decision: fermata.GateAllow, QuestionID: "q"}}
			c.Gates = []Gate{once, once}
		}},
		{"paused-stays-paused", func(c *Case) { c.Stops = []Stop{{Task: "t", How: "pause", Acked: at(9)}} }},
		{"paused-stays-paused", func(c *Case) {
			c.Events["t"][3].Data = json.RawMessage(`{"from":"in_progress","to":"deferred","reason":"paused"}`)
		}},
		{"one-end-a-question", func(c *Case) { c.Final["t"].Questions[0].Resolution.Answer = "another" }},
		{"", func(c *Case) { askTwo(c, fermata.Approve, fermata.Approve) }},
		{"", func(c *Case) { askTwo(c, fermata.Reject) }},
		{"votes-count-once", func(c *Case) { askTwo(c, fermata.Approve) }},
		{"votes-count-once", func(c *Case) {
			askTwo(c, fermata.Approve, fermata.Approve)
			c.Votes = []Vote{{Who: "carol", Task: "t", Question: "q", Text: "word-9-"}}
		}},
		{"votes-count-once", func(c *Case) {
			askTwo(c, fermata.Approve, fermata.Approve)
			c.Final["t"].Questions[0].Votes[1].By.ID = "0"
		}},
		{"one-resume-an-answer", func(c *Case) {
			c.Processes["t"][0].handovers = append(c.Processes["t"][0].handovers, Handover{Run: "r1", Raw: "word-2-"})
		}},
		{"deciding-yourself-closes", func(c *Case) {
			c.Words = append(c.Words, &Word{Kind: wordDecision, Task: "t", Question: "q", Began: at(1), Acked: at(2)})
			c.Final["t"].Questions[0].Resolution.Status = fermata.Cancelled
			c.Final["t"].Questions[0].Resolution.DecidedBy = fermata.ActorSystem
		}},
		{"", func(c *Case) { replaceQuestion(c, fermata.ActorHuman) }},
		{"deciding-yourself-closes", func(c *Case) { replaceQuestion(c, fermata.ActorSystem) }},
		{"", func(c *Case) { cancel(c, fermata.ActorHuman) }},
		{"cancelling-names-who", func(c *Case) { cancel(c, fermata.ActorSystem) }},
		{"nobody-trespasses", func(c *Case) { c.Trespasses = []Trespass{{Task: "t", What: "a viewer cancels"}} }},
		{"nothing-fails-inside", func(c *Case) {
			c.Acts = []Act{{Step: "message", Task: "t", Err: fermata.Errorf(fermata.CodeInternal, "oops")}}
		}},
		{"events-tell-the-same", func(c *Case) { c.Final["t"].Task.State = fermata.TaskFailed }},
		{"waiting-is-actionable", func(c *Case) {
			c.Final["t"].Task.PendingQuestionID, c.Final["t"].Questions[0].Status = "", fermata.Pending
		}},
		{"work-goes-on", func(c *Case) { c.recordStuck("task A is not at rest") }},
	} {
		t.Run(tt.law, func(t *testing.T) {
			t.Parallel()
			c := goodCase()
			tt.spoil(c)
			names := []string{}
			for _, b := range c.Check() {
				names = append(names, b.Name)
			}
			if found := strings.Join(names, " "); !strings.Contains(found, tt.law) || tt.law == "" && found != "" {
				t.Errorf("broken is %q, found are %q", tt.law, found)
			}
		})
	}
}

// askTwo makes the question need two people, and adds the given votes.
func askTwo(c *Case, values ...string) {
	q := c.Final["t"].Questions[0]
	q.Approvals = &fermata.Quorum{Required: 2}
	for i, value := range values {
		id := strconv.Itoa(i)
		q.Votes = append(q.Votes, fermata.Vote{By: fermata.Actor{ID: id, Name: id}, Value: value, Comment: "word-" + id + "-"})
	}
}

// cancel makes a person cancel the task. The event of its question names an actor of the kind by.
func cancel(c *Case, by fermata.ActorKind) {
	ana := fermata.Actor{Kind: fermata.ActorHuman, ID: "mem_ana", Name: "ana"}
	end := c.Events["t"][len(c.Events["t"])-1]
	end.Actor, end.Data = ana, json.RawMessage(`{"from":"in_progress","to":"cancelled"}`)
	c.Final["t"].Task.State = fermata.TaskCancelled
	closing := *end
	closing.Type, closing.QuestionID, closing.Data, closing.Actor.Kind = fermata.EventQuestionCancelled, "open", json.RawMessage(`{}`), by
	c.Events["t"] = append(c.Events["t"], &closing)
	c.Final["t"].Questions = append(c.Final["t"].Questions, &fermata.Question{
		ID: "open", Status: fermata.Cancelled, Resolution: &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: by, AnsweredBy: &ana, At: end.At},
	})
}

// replaceQuestion makes the agent ask another question before a person resumes the task. An actor of the kind by closes
// the new question.
func replaceQuestion(c *Case, by fermata.ActorKind) {
	old := &fermata.Question{ID: "old", Resolution: &fermata.Resolution{
		Status: fermata.Cancelled, DecidedBy: fermata.ActorAgent, Comment: "replaced by next",
	}}
	next := &fermata.Question{ID: "next", Resolution: &fermata.Resolution{Status: fermata.Cancelled, DecidedBy: by}}
	c.Words = append(c.Words, &Word{Kind: wordDecision, Task: "t", Question: "old", Began: at(1), Acked: at(2)})
	c.Final["t"].Questions = append(c.Final["t"].Questions, old, next)
}

// at returns a time of the case, in seconds.
func at(seconds int) time.Time {
	return time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

// goodCase returns a case in which a task asks, gets an answer and a message, and completes.
func goodCase() *Case {
	c := &Case{Tasks: []string{"t"}, Letters: map[string]byte{"t": 'A'}, Events: map[string][]*fermata.Event{}, Processes: map[string][]*AgentProcess{}}
	for i, e := range []struct {
		typ  fermata.EventType
		run  string
		data string
	}{
		{fermata.EventTaskCreated, "", `{"to":"open"}`},
		{fermata.EventTaskClaimed, "r1", `{"from":"open","to":"in_progress"}`},
		{fermata.EventRunFinished, "r1", `{"result":"needs_input"}`},
		{fermata.EventQuestionAsked, "", `{"type":"blocking","from":"in_progress","to":"awaiting_input"}`},
		{fermata.EventQuestionAnswered, "", `{"answers":{"a":"word-2-"},"from":"awaiting_input","to":"input_received"}`},
		{fermata.EventMessagePosted, "", `{"message_id":"m"}`},
		{fermata.EventTaskClaimed, "r2", `{"from":"input_received","to":"in_progress"}`},
		{fermata.EventRunFinished, "r2", `{"result":"completed"}`},
		{fermata.EventTaskEnded, "r2", `{"from":"in_progress","to":"done"}`},
	} {
		q := ""
		if e.typ.IsOneOf([]string{"question"}) {
			q = "q"
		}
		c.Events["t"] = append(c.Events["t"], &fermata.Event{
			Seq: int64(i + 1), Type: e.typ, TaskID: "t", RunID: e.run, QuestionID: q, At: at(min(i, 7)),
			Actor: fermata.Actor{Kind: fermata.ActorAgent}, Data: json.RawMessage(e.data),
		})
	}
	c.Words = []*Word{
		{Kind: wordMessage, Who: "alice", Task: "t", Text: "word-1-", Acked: at(5)},
		{Kind: wordAnswer, Who: "alice", Task: "t", Text: "word-2-", Question: "q", Acked: at(4)},
	}
	told := Handover{Run: "r2", At: at(6), Raw: "m word-1- word-2-", Messages: []string{"m"}, Questions: []string{"q"}}
	for _, l := range []*AgentProcess{{Run: "r1"}, {Run: "r2", handovers: []Handover{told}}} {
		l.Task, l.gone, l.toldToEnd, l.lastBeat = "t", make(chan struct{}), at(7), func() time.Time { return at(2) }
		c.Processes["t"] = append(c.Processes["t"], l)
	}
	c.Final = map[string]*Snapshot{"t": {
		Seq: 9, Task: &fermata.Task{ID: "t", State: fermata.TaskDone},
		Runs: []*fermata.Run{{ID: "r1", State: fermata.RunFinished}, {ID: "r2", State: fermata.RunFinished}},
		Questions: []*fermata.Question{{
			ID: "q", Type: fermata.Blocking, Status: fermata.Answered,
			Resolution: &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorHuman, Answer: "word-2-"},
		}},
		Messages: []*fermata.Message{{ID: "m", Body: "word-1-", Author: fermata.Actor{Kind: fermata.ActorHuman}, HandedTo: "r2"}},
	}}
	return c
}

// A printed sequence can be parsed again.
func TestSequencesAreReadAgain(t *testing.T) {
	t.Parallel()
	for kind, all := range Corpus {
		for _, text := range all {
			q, err := ParseSequence(text)
			if err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			if q.String() != text {
				t.Errorf("%q is read as %q", text, q)
			}
		}
	}
	for _, wrong := range []string{"", "create A;; cancel A", "sing A", "create AB", "create A soon"} {
		if q, err := ParseSequence(wrong); err == nil {
			t.Errorf("%q is read as %q", wrong, q)
		}
	}
}
