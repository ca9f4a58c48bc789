package story

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/test/patience"
)

// ReadEvents reads every event.
func ReadEvents(c *client.Client) ([]*fermata.Event, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience.Limit())
	defer cancel()
	var all []*fermata.Event
	for after := int64(0); ; {
		page, next, err := c.Events(ctx, client.EventQuery{After: after, Limit: 1000})
		all = append(all, page...)
		if err != nil || next == 0 {
			return all, err
		}
		after = next
	}
}

// Recheck reads every question whose end was acknowledged since the last Recheck. It fails the test if a question did not
// end as acknowledged.
func (s *Story) Recheck() {
	s.tb.Helper()
	s.mu.Lock()
	ids := s.newEnds
	s.newEnds = nil
	want := make(map[string]end, len(ids))
	for _, id := range ids {
		want[id] = s.ends[id]
	}
	s.mu.Unlock()
	for id, w := range want {
		q, err := s.admin.Question(s.ctx, id)
		if err != nil {
			s.tb.Fatalf("question %s was acknowledged and cannot be read: %v", id, err)
		}
		if got := endOf(q.Resolution); got != w {
			s.tb.Errorf("LOST: question %s was acknowledged as %v and is %v", id, w, got)
		}
	}
}

// eventSummary is the story according to the events.
type eventSummary struct {
	asked   map[string]int
	ends    map[string][]end
	task    map[string]string // of a question
	claims  map[string]string // task of a run
	claimed map[string]int    // by task
	lost    map[string]int
	closed  map[string]int
	ended   map[string]int
}

func (s *Story) summarize(events []*fermata.Event) eventSummary {
	s.tb.Helper()
	x := eventSummary{
		asked: map[string]int{}, ends: map[string][]end{}, task: map[string]string{}, claims: map[string]string{},
		claimed: map[string]int{}, lost: map[string]int{}, closed: map[string]int{}, ended: map[string]int{},
	}
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			s.tb.Fatalf("event %d stands at place %d", e.Seq, i+1)
		}
		switch e.Type {
		case fermata.EventQuestionAsked:
			x.asked[e.QuestionID]++
			x.task[e.QuestionID] = e.TaskID
		case fermata.EventQuestionAnswered, fermata.EventQuestionCancelled, fermata.EventQuestionTimedOut:
			x.ends[e.QuestionID] = append(x.ends[e.QuestionID], s.endOfEvent(e))
			x.closed[e.TaskID]++
		case fermata.EventTaskClaimed:
			x.claims[e.RunID] = e.TaskID
			x.claimed[e.TaskID]++
		case fermata.EventRunLost, fermata.EventRunReleased:
			x.lost[e.TaskID]++
		case fermata.EventTaskEnded:
			x.ended[e.TaskID]++
		default:
		}
	}
	return x
}

func (s *Story) endOfEvent(e *fermata.Event) end {
	s.tb.Helper()
	var data struct {
		Answers map[string]any `json:"answers"`
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		s.tb.Fatalf("event %d: %v", e.Seq, err)
	}
	value, _ := data.Answers["answer"].(string)
	status := map[fermata.EventType]fermata.QuestionStatus{
		fermata.EventQuestionAnswered: fermata.Answered, fermata.EventQuestionCancelled: fermata.Cancelled,
		fermata.EventQuestionTimedOut: fermata.TimedOut,
	}[e.Type]
	return end{string(status), value}
}

// compare compares the events with the log.
func (s *Story) compare(events []*fermata.Event) {
	s.tb.Helper()
	x := s.summarize(events)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compareQuestions(x)
	s.compareRuns(x)
	s.compareStream(events)
	report, err := s.admin.VerifyAudit(s.ctx)
	if err != nil || !report.OK {
		s.tb.Errorf("the audit chain does not verify: %+v, %v", report, err)
	}
	lost := 0
	for _, n := range x.lost {
		lost += n
	}
	s.tb.Logf("%d tasks, %d questions, %d runs of which %d were lost, %d events, %d acknowledgements; %d requests repeated, %d replies of 500 or more",
		len(s.tasks), len(x.asked), len(x.claims), lost, len(events), s.Acknowledged.Load(), s.balancer.Repeated.Load(), s.balancer.ServerErrors.Load())
}

// compareQuestions checks that each question was asked once and closed once, as acknowledged.
func (s *Story) compareQuestions(x eventSummary) {
	s.tb.Helper()
	for id := range s.asked {
		if x.asked[id] != 1 {
			s.tb.Errorf("question %s was acknowledged and asked %d times", id, x.asked[id])
		}
	}
	for id, n := range x.asked {
		if n != 1 || len(x.ends[id]) != 1 {
			s.tb.Errorf("question %s of task %s was asked %d times and closed %d times: %v", id, x.task[id], n, len(x.ends[id]), x.ends[id])
			continue
		}
		if want, ok := s.ends[id]; !ok || x.ends[id][0] != want {
			s.tb.Errorf("LOST: question %s ended with %v, and %v was acknowledged", id, x.ends[id][0], want)
		}
		used := 0
		for _, h := range s.handed[id] {
			if h.end != x.ends[id][0] {
				s.tb.Errorf("question %s ended with %v, and run %s was handed %v", id, x.ends[id][0], h.run, h.end)
			}
			if s.finished[h.run] {
				used++
			}
		}
		if used != 1 {
			s.tb.Errorf("the end of question %s was used by %d runs: %v", id, used, s.handed[id])
		}
	}
}

// compareRuns checks that each task ended once. It must have been claimed once at the beginning, once for each closed
// question, and once for each lost lease.
func (s *Story) compareRuns(x eventSummary) {
	s.tb.Helper()
	for id := range s.tasks {
		if x.ended[id] != 1 {
			s.tb.Errorf("task %s ended %d times", id, x.ended[id])
		}
		if want := 1 + x.closed[id] + x.lost[id]; x.claimed[id] != want {
			s.tb.Errorf("task %s was claimed %d times, not %d: %d questions closed and %d leases were lost",
				id, x.claimed[id], want, x.closed[id], x.lost[id])
		}
	}
	if len(x.ended) != len(s.tasks) {
		s.tb.Errorf("%d tasks ended, and %d were acknowledged", len(x.ended), len(s.tasks))
	}
	for run, task := range x.claims {
		if s.claims[run] != task {
			s.tb.Errorf("run %s of task %s was given to nobody", run, task)
		}
	}
	if len(x.claims) != len(s.claims) {
		s.tb.Errorf("%d runs were given to workers, and there are %d", len(s.claims), len(x.claims))
	}
}

// compareStream checks that the stream delivered every event once, in order. In a failover, PostgreSQL may show a commit
// that nobody acknowledged and that is lost. The stream must say so before it goes on.
func (s *Story) compareStream(events []*fermata.Event) {
	s.tb.Helper()
	replaced := 0
	defer func() { s.tb.Logf("the stream showed %d events that a failover replaced", replaced) }()
	for i, got := range s.seen {
		if got.seq != int64(i)+1 {
			s.tb.Fatalf("the stream brought event %d at place %d", got.seq, i+1)
		}
		if i >= len(events) || got.hash == events[i].Hash {
			continue
		}
		replaced++
		end := i
		for end < min(len(s.seen), len(events)) && s.seen[end].hash != events[end].Hash {
			end++
		}
		if !slices.Contains(s.resets, end) {
			s.tb.Fatalf("the stream brought another event %d than there is, and did not say so", got.seq)
		}
	}
}
