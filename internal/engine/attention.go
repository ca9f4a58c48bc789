package engine

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

// Attention waits until one of a worker's runs has news: messages or answers
// that it was not handed, a reason to stop, or a new deadline. It returns at
// once if a run has news already, and an empty list when the time of the wait
// has passed. A wake-up reads only the runs of the tasks that changed.
func (e *Engine) Attention(ctx context.Context, c fermata.Caller, r fermata.AttentionRequest) (*fermata.Attention, error) {
	if err := c.CheckPermission(fermata.ToAttend, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	a := &attentionWait{e: e, ctx: ctx, c: c, runs: map[string]fermata.AttentionRun{}, runsByTopic: map[string][]string{}}
	for _, run := range r.Runs {
		a.runs[run.RunID] = run
		a.runIDs = append(a.runIDs, run.RunID)
	}
	// The first read finds the tasks of the runs.
	if err := a.collectNews(a.runIDs, true); err != nil || len(a.news) > 0 || r.WaitSeconds <= 0 {
		return a.result(), err
	}
	err := a.wait(time.Duration(r.WaitSeconds) * time.Second)
	return a.result(), err
}

// attentionWait is one call that waits for news.
type attentionWait struct {
	e      *Engine
	ctx    context.Context //nolint:containedctx // the value lives as long as the call
	c      fermata.Caller
	runs   map[string]fermata.AttentionRun
	runIDs []string
	// runsByTopic are the ids of the runs, by the topic that wakes them.
	runsByTopic map[string][]string
	news        []fermata.News
}

func (a *attentionWait) result() *fermata.Attention {
	if a.news == nil {
		a.news = []fermata.News{}
	}
	return &fermata.Attention{Runs: a.news}
}

// wait reads the changed runs after each wake-up, until there is news, maxWait
// has passed, or the context ends.
func (a *attentionWait) wait(maxWait time.Duration) error {
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	topics := make([]string, 0, len(a.runsByTopic))
	for topic := range a.runsByTopic {
		topics = append(topics, topic)
	}
	w, n := a.e.hub.register(topics...)
	defer a.e.hub.unregister(w)
	// This finds changes without an event, such as a lease that ends, before they are recorded.
	rescan := time.NewTicker(scaleInterval(a.e.hub.rescanInterval, n))
	defer rescan.Stop()
	// The waiter is registered before the runs are read, so that no change in
	// between is lost.
	for changed := a.runIDs; ; {
		c, err := renewCaller(a.ctx, a.c)
		if err != nil {
			return err
		}
		a.c = c
		if err := a.collectNews(changed, false); err != nil || len(a.news) > 0 {
			return err
		}
		select {
		case <-w.woken:
			changed = a.runsOf(a.e.hub.takeTopics(w))
		case <-rescan.C:
			changed = a.runIDs
		case <-limit.C:
			return nil
		case <-a.ctx.Done():
			return a.ctx.Err()
		}
	}
}

// runsOf returns the ids of the runs of the topics.
func (a *attentionWait) runsOf(topics []string) []string {
	var runs []string
	for _, topic := range topics {
		runs = append(runs, a.runsByTopic[topic]...)
	}
	return runs
}

// collectNews reads the runs and adds their news. If first is set, it also records their topics.
func (a *attentionWait) collectNews(runs []string, first bool) error {
	now, err := a.e.db.Now(a.ctx)
	if err != nil {
		return err
	}
	watched, err := a.e.reader(a.ctx, a.c).WatchedRuns(runs)
	if err != nil {
		return err
	}
	for _, w := range watched {
		if first {
			topic := taskTopic(w.Task.ID)
			a.runsByTopic[topic] = append(a.runsByTopic[topic], w.Run.ID)
		}
		if n, hasNews := w.News(a.runs[w.Run.ID], now); hasNews {
			a.news = append(a.news, n)
		}
	}
	for _, id := range runs {
		if !slices.ContainsFunc(watched, func(w *fermata.WatchedRun) bool { return w.Run.ID == id }) {
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
