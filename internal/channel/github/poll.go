package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// overlap is how far back each round reads, because GitHub may list a comment a little later than a newer one.
const overlap = time.Minute

// initialLookback is how far back the first round reads.
const initialLookback = 10 * time.Minute

// Listen polls for comments, labels and reviews until ctx ends. It replaces a webhook, or finds the events that a
// webhook lost, because GitHub delivers each event once.
func (c *Channel) Listen(ctx context.Context, hear notice.InboundHandler) error {
	var pollers []*poller
	for _, name := range c.settings.namedRepositories() {
		pollers = append(pollers, &poller{c: c, hear: hear, repository: name, labels: labelPoller{c: c, hear: hear, repository: name}, reviews: reviewPoller{c: c, hear: hear, repository: name}})
	}
	if c.pollInterval == 0 || len(pollers) == 0 {
		<-ctx.Done()
		return nil
	}
	for {
		wait := c.pollInterval
		for _, p := range pollers {
			err := p.pollOnce(ctx)
			if err == nil {
				err = p.labels.pollOnce(ctx)
			}
			if err == nil {
				err = p.reviews.pollOnce(ctx)
			}
			wait = max(wait, p.report(ctx, err))
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// poller reads the comments of one repository.
type poller struct {
	c          *Channel
	hear       notice.InboundHandler
	repository string
	seen       etagCache
	labels     labelPoller
	reviews    reviewPoller
	// loggedCode is the code of the last error that was logged.
	loggedCode string
}

// report logs an error, unless the last logged error had the same code. It returns how long GitHub asks to wait.
func (p *poller) report(ctx context.Context, err error) time.Duration {
	if err == nil || ctx.Err() != nil {
		p.loggedCode = ""
		return 0
	}
	if code := string(asError(err).Code); code != p.loggedCode {
		p.loggedCode = code
		p.c.env.Log.WarnContext(ctx, "what is new on GitHub cannot be read", "channel", p.c.env.Name, "repository", p.repository, "error", err)
	}
	var f *notice.SendError
	if errors.As(err, &f) {
		return f.RetryAfter()
	}
	return 0
}

// position says how far a list of a repository was read, such as its comments.
type position struct {
	// Since is the change time of the last entry that was read. Done is the value that Since had at the end of the last
	// complete round.
	Since time.Time `json:"since"`
	Done  time.Time `json:"done"`
	// Seen are the entries that were read since Done, and in the overlap before it.
	Seen map[int64]time.Time `json:"seen,omitempty"`
}

func (p *poller) key() string { return "comments/" + p.repository }

func (p *poller) load(ctx context.Context) (*position, error) { return p.c.loadPosition(ctx, p.key()) }

// loadPosition returns the stored position. The first time, it returns a position
// shortly before the current time.
func (c *Channel) loadPosition(ctx context.Context, key string) (*position, error) {
	text, err := c.env.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	pos := &position{}
	if text == "" || json.Unmarshal([]byte(text), pos) != nil {
		start := time.Now().Add(-initialLookback).UTC().Truncate(time.Second)
		pos = &position{Since: start, Done: start}
	}
	if pos.Seen == nil {
		pos.Seen = map[int64]time.Time{}
	}
	return pos, nil
}

func (p *poller) save(ctx context.Context, pos *position) error {
	return p.c.savePosition(ctx, p.key(), pos)
}

func (c *Channel) savePosition(ctx context.Context, key string, pos *position) error {
	raw, err := json.Marshal(pos)
	if err != nil {
		return err
	}
	return c.env.Store(ctx, key, string(raw))
}

// pollOnce reads everything new. It continues from the change time of the last comment, not from the page number. If a
// comment changes meanwhile, it moves to the end of the list, and the comments after it move to an earlier place. By
// page number, some of them would be skipped.
func (p *poller) pollOnce(ctx context.Context) error {
	pos, err := p.load(ctx)
	if err != nil {
		return err
	}
	from, page := pos.Since.Add(-overlap), 1
	for {
		found, err := p.fetch(ctx, from, page)
		if err != nil || found == nil {
			return err
		}
		before := len(pos.Seen)
		if err := p.readComments(ctx, pos, found); err != nil {
			p.seen = etagCache{}
			return errors.Join(err, p.save(context.WithoutCancel(ctx), pos))
		}
		if len(found) < perPage {
			return p.finish(ctx, pos, len(pos.Seen) != before || pos.Done.Before(pos.Since))
		}
		if err := p.save(ctx, pos); err != nil {
			return err
		}
		if last := found[len(found)-1].UpdatedAt; last.After(from) {
			from, page = last, 1
		} else {
			page++
		}
	}
}

// finish stores that everything was read, and forgets the comments that no later round reads.
func (p *poller) finish(ctx context.Context, pos *position, changed bool) error {
	if !changed {
		return nil
	}
	pos.markRead()
	return p.save(ctx, pos)
}

// markRead records that everything was read so far, and forgets entries that no later round reads.
func (pos *position) markRead() {
	pos.Done = pos.Since
	for id, at := range pos.Seen {
		if at.Before(pos.Done.Add(-overlap)) {
			delete(pos.Seen, id)
		}
	}
}

// perPage is the largest page that GitHub returns.
const perPage = 100

// fetch returns a page of comments, the least recently changed first. It
// returns nil if nothing has changed since the last request.
func (p *poller) fetch(ctx context.Context, from time.Time, page int) ([]Comment, error) {
	query := url.Values{
		"since": {from.UTC().Format(time.RFC3339)}, "sort": {"updated"}, "direction": {"asc"},
		"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)},
	}
	found := []Comment{}
	_, changed, err := p.seen.get(ctx, p.c.client, fmt.Sprintf("repos/%s/issues/comments?%s", p.repository, query.Encode()), &found)
	if err != nil {
		return nil, apiFailure("read the comments in "+p.repository, err)
	}
	if !changed {
		return nil, nil
	}
	return found, nil
}

var issueNumber = lazyregexp.New(`/issues/([0-9]+)$`)

// readComments reads the comments in their order. It stops at the first one that must
// be read again.
func (p *poller) readComments(ctx context.Context, pos *position, found []Comment) error {
	start := pos.Done.Add(-overlap)
	for _, one := range found {
		if _, seen := pos.Seen[one.ID]; !seen && !one.CreatedAt.Before(start) {
			if err := p.c.readComment(ctx, p.hear, p.toInbound(one)); err != nil {
				return err
			}
		}
		pos.Seen[one.ID] = one.UpdatedAt
		if one.UpdatedAt.After(pos.Since) {
			pos.Since = one.UpdatedAt
		}
	}
	return nil
}

func (p *poller) toInbound(one Comment) inboundComment {
	a := inboundComment{Comment: one, edited: one.UpdatedAt.After(one.CreatedAt)}
	a.place.Owner, a.place.Repo, _ = cutRepository(p.repository)
	if m := issueNumber().FindStringSubmatch(one.IssueURL); m != nil {
		a.place.Number, _ = strconv.Atoi(m[1])
	}
	return a
}
