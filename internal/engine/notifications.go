package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// newsWindow is the number of events in one window of a search; newsWindows is
// the largest number of windows in one search.
const (
	newsWindow  = 500
	newsWindows = 10
)

// news searches the events backward for those that concern a person.
type news struct {
	r store.Reader
	c fermata.Caller
	// before is where the search continues, after is where it ends. Both are
	// exclusive.
	before, after int64
	// since is the person, as a member. Events from before they joined do not
	// count.
	since fermata.Member
	found []fermata.Notification
}

// look collects up to want notifications. It reports whether there may be more.
func (n *news) look(want int) (bool, error) {
	for range newsWindows {
		if n.before <= n.after+1 {
			return false, nil
		}
		events, err := n.r.Events(store.EventFilter{
			After: max(n.after, n.before-1-newsWindow), Before: n.before, Types: notifiedOf, Newest: true, Limit: newsWindow,
		})
		if err != nil {
			return false, err
		}
		full, err := n.take(events, want)
		if full || err != nil {
			return true, err
		}
		n.before -= newsWindow
	}
	return n.before > n.after+1, nil
}

var notifiedOf = func() (types []string) {
	for _, t := range fermata.NotifiedOf {
		types = append(types, string(t))
	}
	return types
}()

// take collects the events of a window that concern the person. If there are
// more than want, it reports true and leaves the rest for the next search.
func (n *news) take(events []*fermata.Event, want int) (bool, error) {
	around, err := n.loadSubjects(events)
	if err != nil {
		return false, err
	}
	for _, event := range events {
		if event.At.Before(n.since.CreatedAt) {
			n.before = n.after
			return false, nil
		}
		t, q := around.tasks[event.TaskID], around.questions[event.QuestionID]
		if t == nil || !event.Concerns(n.c, t, q, around.tookPart[event.TaskID]) {
			continue
		}
		if len(n.found) == want {
			n.before = n.found[want-1].Seq
			return true, nil
		}
		n.found = append(n.found, fermata.Notification{
			Seq: event.Seq, Type: event.Type, At: event.At, Actor: event.Actor, Question: q,
			Task: fermata.TaskBrief{ID: t.ID, Title: t.Title, State: t.State},
		})
	}
	return false, nil
}

// aroundEvents holds the tasks and questions of some events, and the tasks in
// which the person took part.
type aroundEvents struct {
	tasks     map[string]*fermata.Task
	questions map[string]*fermata.Question
	tookPart  map[string]bool
}

func (n *news) loadSubjects(events []*fermata.Event) (aroundEvents, error) {
	out := aroundEvents{tasks: map[string]*fermata.Task{}, questions: map[string]*fermata.Question{}}
	var taskIDs, questionIDs, ended []string
	for _, event := range events {
		taskIDs = append(taskIDs, event.TaskID)
		if event.QuestionID != "" {
			questionIDs = append(questionIDs, event.QuestionID)
		}
		if event.Type == fermata.EventTaskEnded {
			ended = append(ended, event.TaskID)
		}
	}
	tasks, err := n.r.TasksByID(taskIDs)
	if err != nil {
		return out, err
	}
	for _, t := range tasks {
		out.tasks[t.ID] = t
	}
	questions, err := n.r.QuestionsByID(questionIDs)
	if err != nil {
		return out, err
	}
	for _, q := range questions {
		out.questions[q.ID] = q
	}
	out.tookPart, err = n.r.TookPart(ended, n.c.Actor())
	return out, err
}

// Notifications returns the events that concern the caller, newest first, and
// how many are unread.
func (e *Engine) Notifications(ctx context.Context, c fermata.Caller, limit int, given string) (fermata.Notifications, error) {
	out := fermata.Notifications{Items: []fermata.Notification{}}
	if err := c.May(fermata.ToReadOwn, c.OwnPlace()); err != nil {
		return out, err
	}
	list := cursorOf("notifications", given, c.MemberID)
	var before int64
	if err := list.read(&before); err != nil {
		return out, err
	}
	n, head, err := e.news(ctx, c)
	if err != nil {
		return out, err
	}
	if out.ReadUpTo, err = n.r.ReadMark(c.MemberID); err != nil {
		return out, err
	}
	unread := *n
	unread.after = out.ReadUpTo
	if _, err := unread.look(fermata.MaxUnread); err != nil {
		return out, err
	}
	out.Unread = len(unread.found)
	if n.before = head + 1; before > 0 {
		n.before = before
	}
	more, err := n.look(pageSize(limit))
	if err != nil {
		return out, err
	}
	out.Items = append(out.Items, n.found...)
	if more {
		out.NextCursor = list.write(n.before)
	}
	var questions []*fermata.Question
	for _, item := range n.found {
		if item.Question != nil {
			questions = append(questions, item.Question)
		}
	}
	return out, view(n.r, c, questions)
}

// news returns a search that begins at the newest event, and the number of that
// event.
func (e *Engine) news(ctx context.Context, c fermata.Caller) (*news, int64, error) {
	r := e.reads(ctx, c)
	m, err := r.Member(c.MemberID)
	if err != nil {
		return nil, 0, err
	}
	head, err := r.Head()
	return &news{r: r, c: c, before: head.Seq + 1, since: *m}, head.Seq, err
}

// ReadNotifications records the number of the last event that the caller has
// read.
func (e *Engine) ReadNotifications(ctx context.Context, c fermata.Caller, upTo int64) (fermata.Notifications, error) {
	if err := c.May(fermata.ToChangeOwn, c.OwnPlace()); err != nil {
		return fermata.Notifications{}, err
	}
	if upTo < 0 {
		return fermata.Notifications{}, fermata.Invalid(fermata.Problem{Field: "up_to", Message: "is no number of an event"})
	}
	head, err := e.reads(ctx, c).Head()
	if err != nil {
		return fermata.Notifications{}, err
	}
	_, err = write(ctx, e, c, fermata.ToChangeOwn, func(tx *store.Tx) (struct{}, error) {
		tx.SetReadMark(c.MemberID, min(upTo, head.Seq))
		return struct{}{}, nil
	})
	if err != nil {
		return fermata.Notifications{}, err
	}
	return e.Notifications(ctx, c, 1, "")
}
