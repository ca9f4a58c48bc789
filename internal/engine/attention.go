package engine

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

// attentionLook is how often a waiting call reads all its runs without a
// wake-up. This finds changes without an event, such as a lease that ends.
const attentionLook = time.Second

// Attention waits until one of a worker's runs has news: messages or answers
// that it was not handed, a reason to stop, or a new deadline. It returns at
// once if a run has news already, and an empty list when the wait is over. A
// wake-up reads only the runs of the tasks that changed.
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
	// The first look finds the tasks of the runs.
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
	// of are the ids of the runs of each topic.
	of   map[string][]string
	news []fermata.News
}

func (a *attention) result() *fermata.Attention {
	if a.news == nil {
		a.news = []fermata.News{}
	}
	return &fermata.Attention{Runs: a.news}
}

// wait looks again after each change until there is news, the time is over, or
// the context ends.
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
	// The waiter is registered before the look, so that no change in between is
	// lost.
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

// runsOf returns the ids of the runs of the topics.
func (a *attention) runsOf(topics []string) []string {
	var runs []string
	for _, topic := range topics {
		runs = append(runs, a.of[topic]...)
	}
	return runs
}

// look reads the runs and adds their news. The first look also records their
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

// taskTopic returns the topic of changes that a run of the task should know
// about.
func taskTopic(taskID string) string { return "task:" + taskID }

// concernsRun reports whether a run of the event's task should know about the
// event.
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
