package github

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
)

// issueView is everything that the channel's own account has written on an issue.
type issueView struct {
	self Account
	// at is the time at which the view was read. asOf is the time that the view shows, see [issueView.viewAt].
	at, asOf time.Time
	comments []ownComment
}

type ownComment struct {
	Comment
	mark mark
}

// readView reads the channel's own comments on an issue, oldest first. GitHub is the only place that stores them, so a
// crash loses nothing.
func (c *Channel) readView(ctx context.Context, at Place) (*issueView, error) {
	began := time.Now()
	self, err := c.client.Self(ctx)
	if err != nil {
		return nil, err
	}
	since, _, err := c.knownSince(ctx, at)
	if err != nil {
		return nil, err
	}
	comments, err := c.client.Comments(ctx, at, since)
	if err != nil {
		return nil, err
	}
	w := &issueView{self: self, at: began}
	for _, one := range comments {
		if m, ok := readMark(one.Body); ok && one.User.ID == self.ID {
			w.comments = append(w.comments, ownComment{one, m})
		}
	}
	return w, nil
}

// findSent finds the comment that an earlier attempt wrote. For a question, it also finds the comment that was written
// for another person, because everybody on the issue sees it.
func (v *issueView) findSent(n *notice.Notice) *Comment {
	for i := range v.comments {
		m := v.comments[i].mark
		again := m.delivery != "" && m.delivery == n.Delivery
		shared := n.Purpose == notice.Asked && n.Question != nil && m.question == n.Question.ID && m.state != stateClosed
		if again || shared {
			return &v.comments[i].Comment
		}
	}
	return nil
}

// viewAt returns the part of the view that existed at an earlier time. A comment cannot answer a question that was
// asked after it.
func (v *issueView) viewAt(at time.Time) *issueView {
	view := &issueView{self: v.self, at: v.at, asOf: at}
	for _, one := range v.comments {
		if !one.CreatedAt.After(at) {
			view.comments = append(view.comments, one)
		}
	}
	return view
}

// openQuestions lists the questions that are open on the issue, each of them once.
func (v *issueView) openQuestions() []ownComment {
	var list []ownComment
	for _, one := range v.comments {
		same := func(o ownComment) bool { return o.mark.question == one.mark.question }
		if one.mark.question != "" && one.mark.state != stateClosed && !slices.ContainsFunc(list, same) {
			list = append(list, one)
		}
	}
	return list
}

// viewCache caches what was read from issues, so that many comments that arrived between two rounds need only one request.
type viewCache struct {
	mu      sync.Mutex
	byPlace map[Place]*issueView
}

const (
	// maxViews is how many issues are cached.
	maxViews = 100
	// clocksDiffer is the largest expected difference between the clocks of the server and GitHub.
	clocksDiffer = time.Minute
)

// viewFor returns a view that contains everything that the author of a comment could see. A cached view is good enough
// if it was read after the comment was written.
func (c *Channel) viewFor(ctx context.Context, a inboundComment) (*issueView, error) {
	c.views.mu.Lock()
	kept := c.views.byPlace[a.place]
	c.views.mu.Unlock()
	if kept != nil && kept.at.Add(-clocksDiffer).After(a.CreatedAt) {
		return kept, nil
	}
	w, err := c.readView(ctx, a.place)
	if err != nil {
		return nil, err
	}
	c.views.mu.Lock()
	defer c.views.mu.Unlock()
	if c.views.byPlace == nil || len(c.views.byPlace) >= maxViews {
		c.views.byPlace = map[Place]*issueView{}
	}
	c.views.byPlace[a.place] = w
	return w, nil
}

// forget drops the cached view of an issue after the channel has written on it.
func (c *viewCache) forget(at Place) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byPlace, at)
}
