package engine

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

// attentionLook is how often all runs of a waiting call are looked at without
// a wake-up: it finds what no event tells, such as a lease that ends.
const attentionLook = time.Second

// Attention waits until one of a worker's runs has news: words of people that it
// was not handed, a reason to stop, a new deadline. It returns at once when one
// has some already, and an empty list when the wait is over. A wake-up reads the
// runs of the tasks that changed, and nothing else.
func (e *Engine) Attention(ctx context.Context, c fermata.Caller, r fermata.AttentionRequest) (*fermata.Attention, error) {
	if err := c.May(fermata.ToAttend, fermata.Somewhere); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	a := &attention{e: e, ctx: ctx, c: c, runs: map[string]fermata.AttentionRun{}, of: map[string][]string{}}
	for _, run := range r.Runs {
		a.runs[run.RunID] = run
		a.all = append(a.all, run.RunID)
	}
	// The first look learns whose tasks the runs are.
	if err := a.look(a.all, true); err != nil || len(a.news) > 0 || r.WaitSeconds <= 0 {
		return a.result(), err
	}
	err := a.wait(time.Duration(r.WaitSeconds) * time.Second)
	return a.result(), err
}

// attention is one call that waits for news.
type attention struct {
	e    *Engine
	ctx  context.Context //nolint:containedctx // the value lives as long as the call
	c    fermata.Caller
	runs map[string]fermata.AttentionRun
	all  []string
	// of are the runs of a topic.
	of   map[string][]string
	news []fermata.News
}

func (a *attention) result() *fermata.Attention {
	if a.news == nil {
		a.news = []fermata.News{}
	}
	return &fermata.Attention{Runs: a.news}
}

// wait looks again whenever something changed, until there is news.
func (a *attention) wait(longest time.Duration) error {
	limit := time.NewTimer(longest)
	defer limit.Stop()
	again := time.NewTicker(attentionLook)
	defer again.Stop()
	topics := make([]string, 0, len(a.of))
	for topic := range a.of {
		topics = append(topics, topic)
	}
	w, _ := a.e.hub.register(topics...)
	defer a.e.hub.unregister(w)
	// Registered before the look: a change in between is not lost.
	for changed := a.all; ; {
		c, err := renewCaller(a.ctx, a.c)
		if err != nil {
			return err
		}
		a.c = c
		if err := a.look(changed, false); err != nil || len(a.news) > 0 {
			return err
		}
		select {
		case <-w.woken:
			changed = a.runsOf(a.e.hub.takeTopics(w))
		case <-again.C:
			changed = a.all
		case <-limit.C:
			return nil
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
	}
}

// runsOf are the runs of the topics.
func (a *attention) runsOf(topics []string) []string {
	var runs []string
	for _, topic := range topics {
		runs = append(runs, a.of[topic]...)
	}
	return runs
}

// look reads the runs and notes their news. The first one also notes their
// topics.
func (a *attention) look(runs []string, first bool) error {
	now, err := a.e.db.Now(a.ctx)
	if err != nil {
		return err
	}
	watched, err := a.e.reads(a.ctx, a.c).Watched(runs)
	if err != nil {
		return err
	}
	for _, w := range watched {
		if first {
			topic := taskTopic(w.Task.ID)
			a.of[topic] = append(a.of[topic], w.Run.ID)
		}
		if n, has := w.News(a.runs[w.Run.ID], now); has {
			a.news = append(a.news, n)
		}
	}
	for _, id := range runs {
		if !slices.ContainsFunc(watched, func(w *fermata.Watched) bool { return w.Run.ID == id }) {
			a.news = append(a.news, fermata.News{RunID: id, Stop: fermata.StopLost})
		}
	}
	return nil
}

// taskTopic is the topic of what a run of the task should know.
func taskTopic(taskID string) string { return "task:" + taskID }

// concernsRun reports whether a run of the event's task should know of it.
func concernsRun(e *fermata.Event) bool {
	switch e.Type {
	case fermata.EventMessagePosted, fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled,
		fermata.EventQuestionAnsweredLate, fermata.EventQuestionExtended, fermata.EventTaskEnded, fermata.EventTaskStateChanged,
		fermata.EventRunFinished, fermata.EventRunLost:
		return e.TaskID != ""
	default:
		return false
	}
}
