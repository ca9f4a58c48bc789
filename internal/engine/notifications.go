package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// notificationWindow is the number of events in one window of a search; maxNotificationWindows is
// the largest number of windows in one search.
const (
	notificationWindow     = 500
	maxNotificationWindows = 10
)

// notificationSearch searches the events backward for those that concern a person.
type notificationSearch struct {
	r store.Reader
	c fermata.Caller
	// before is where the search continues, after is where it ends. Both are
	// exclusive.
	before, after int64
	// readUpTo is the number of the last event that the person has marked as read. If onlyUnread is set, read notifications
	// are left out.
	readUpTo   int64
	onlyUnread bool
	// member is the person, as a member. Events from before they joined do not
	// count.
	member fermata.Member
	found  []fermata.Notification
}

// collect collects up to want notifications. It reports whether there may be more.
func (n *notificationSearch) collect(want int) (bool, error) {
	for range maxNotificationWindows {
		if n.before <= n.after+1 {
			return false, nil
		}
		events, err := n.r.Events(store.EventFilter{
			After: max(n.after, n.before-1-notificationWindow), Before: n.before, Types: notifiedEventTypes, Newest: true, Limit: notificationWindow,
		})
		if err != nil {
			return false, err
		}
		full, err := n.collectWindow(events, want)
		if full || err != nil {
			return true, err
		}
		n.before -= notificationWindow
	}
	return n.before > n.after+1, nil
}

var notifiedEventTypes = func() (types []string) {
	for _, t := range fermata.NotificationTypes {
		types = append(types, string(t))
	}
	return types
}()

// collectWindow collects the events of a window that concern the person. If there are
// more than want, it reports true and leaves the rest for the next search.
func (n *notificationSearch) collectWindow(events []*fermata.Event, want int) (bool, error) {
	subjects, err := n.loadSubjects(events)
	if err != nil {
		return false, err
	}
	for _, event := range events {
		if event.At.Before(n.member.CreatedAt) {
			n.before = n.after
			return false, nil
		}
		t, q := subjects.tasks[event.TaskID], subjects.questions[event.QuestionID]
		if t == nil || !event.Concerns(n.c, t, q, subjects.tookPart[event.TaskID]) {
			continue
		}
		unread := event.IsUnread(n.c, q, n.readUpTo)
		if n.onlyUnread && !unread {
			continue
		}
		if len(n.found) == want {
			n.before = n.found[want-1].Seq
			return true, nil
		}
		n.found = append(n.found, fermata.Notification{
			Seq: event.Seq, Type: event.Type, At: event.At, Actor: event.Actor, Unread: unread, Question: q,
			Task: fermata.TaskBrief{ID: t.ID, Title: t.Title, State: t.State},
		})
	}
	return false, nil
}

// eventSubjects holds the tasks and questions of some events, and the tasks in
// which the person took part.
type eventSubjects struct {
	tasks     map[string]*fermata.Task
	questions map[string]*fermata.Question
	tookPart  map[string]bool
}

func (n *notificationSearch) loadSubjects(events []*fermata.Event) (eventSubjects, error) {
	out := eventSubjects{tasks: map[string]*fermata.Task{}, questions: map[string]*fermata.Question{}}
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
	out.tookPart, err = n.r.ParticipatedTasks(ended, n.c.Actor())
	return out, err
}

// Notifications returns the events that concern the caller, newest first, and
// how many are unread.
func (e *Engine) Notifications(ctx context.Context, c fermata.Caller, limit int, cursorText string) (fermata.Notifications, error) {
	out := fermata.Notifications{Items: []fermata.Notification{}}
	if err := c.CheckPermission(fermata.ToReadOwn, c.OwnResource()); err != nil {
		return out, err
	}
	list := cursorOf("notifications", cursorText, c.MemberID)
	var before int64
	if err := list.read(&before); err != nil {
		return out, err
	}
	n, head, err := e.newNotificationSearch(ctx, c)
	if err != nil {
		return out, err
	}
	if out.ReadUpTo, err = n.r.ReadMark(c.MemberID); err != nil {
		return out, err
	}
	n.readUpTo = out.ReadUpTo
	unread := *n
	unread.after, unread.onlyUnread = out.ReadUpTo, true
	if _, err := unread.collect(fermata.MaxUnread); err != nil {
		return out, err
	}
	out.Unread = len(unread.found)
	if n.before = head + 1; before > 0 {
		n.before = before
	}
	more, err := n.collect(pageSize(limit))
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
	return out, fillQuestions(n.r, c, questions)
}

// newNotificationSearch returns a search that begins at the newest event, and the number of that
// event.
func (e *Engine) newNotificationSearch(ctx context.Context, c fermata.Caller) (*notificationSearch, int64, error) {
	r := e.listReader(ctx, c)
	m, err := r.Member(c.MemberID)
	if err != nil {
		return nil, 0, err
	}
	head, err := r.Head()
	return &notificationSearch{r: r, c: c, before: head.Seq + 1, member: *m}, head.Seq, err
}

// MarkNotificationsRead records the number of the last event that the caller has
// read.
func (e *Engine) MarkNotificationsRead(ctx context.Context, c fermata.Caller, upTo int64) (fermata.Notifications, error) {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return fermata.Notifications{}, err
	}
	if upTo < 0 {
		return fermata.Notifications{}, fermata.Invalid(fermata.Problem{Field: "up_to", Message: "is no number of an event"})
	}
	head, err := e.reader(ctx, c).Head()
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
