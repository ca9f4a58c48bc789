package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// These are the kinds of text that people write on a pull request, besides
// comments on it.
const (
	kindReview        = "review"
	kindReviewComment = "review_comment"
)

// Review is a submitted review of a pull request.
type Review struct {
	ID          int64     `json:"id"`
	User        Account   `json:"user"`
	Body        string    `json:"body"`
	State       string    `json:"state"`
	SubmittedAt time.Time `json:"submitted_at"`
	HTMLURL     string    `json:"html_url"`
}

// verdict returns what a review answers to an approval, by GitHub's own Approve
// and Request changes. It is empty for a review that only comments, or that was
// dismissed.
func (r *Review) verdict() string {
	switch strings.ToLower(r.State) {
	case "approved":
		return fermata.Approve
	case "changes_requested":
		return fermata.Reject
	default:
		return ""
	}
}

// arrived returns the review as a comment: the verdict, and below it the
// person's words. A review that only comments is read like any comment.
func (r *Review) arrived(at Place) arrived {
	a := arrived{at: at, kind: kindReview, verdict: r.verdict() != "", Comment: Comment{
		ID: r.ID, User: r.User, Body: r.Body, CreatedAt: r.SubmittedAt, UpdatedAt: r.SubmittedAt, HTMLURL: r.HTMLURL,
	}}
	if a.verdict {
		a.Body = strings.TrimSpace("/" + r.verdict() + "\n" + r.Body)
	}
	return a
}

// findReviewed finds the approval that a review answers. Reviews are also about
// the code. So if no approval is open on the pull request, the review is left
// alone.
func (w *written) findReviewed(text string) (pick, bool) {
	var open []ownComment
	for _, o := range w.open() {
		if o.mark.takes("/" + fermata.Approve) {
			open = append(open, o)
		}
	}
	switch len(open) {
	case 0:
		return pick{}, false
	case 1:
		return w.pickUnnamed(open[0], text), true
	default:
		return pick{problem: whichOne(open)}, true
	}
}

// react adds a reaction to a comment. GitHub has no reactions for reviews.
func (c *Channel) react(ctx context.Context, a arrived, content string) error {
	switch a.kind {
	case kindReview:
		return nil
	case kindReviewComment:
		return c.client.ReactToReviewComment(ctx, a.at, a.ID, content)
	default:
		return c.client.React(ctx, a.at, a.ID, content)
	}
}

// longestTold is how many bytes a reply may have and still be extended.
const longestTold = 50_000

// noneCounts ends a reply that is not extended further.
const noneCounts = "for the reasons above. The question's page says how to answer."

// tellBelow adds to the last reply that a review does not count. There is no
// new reply beyond the limit, and GitHub has no reactions for reviews.
func (c *Channel) tellBelow(ctx context.Context, a arrived, latest *ownComment, v verdict) error {
	link := address(a.HTMLURL)
	if a.kind != kindReview || link != "" && strings.Contains(latest.Body, "]("+link+")") {
		return nil
	}
	words := "a later review"
	if link != "" {
		words = "[" + words + "](" + link + ")"
	}
	said := strings.TrimSpace(strings.TrimSuffix(latest.Body, latest.mark.String()))
	if len(said) > longestTold {
		if strings.HasSuffix(said, noneCounts) {
			return nil
		}
		words, v.words = "any other review of yours until then", noneCounts
	}
	defer c.looks.forget(a.at)
	body := said + "\n\nNor does " + words + ": " + strings.TrimSpace(v.words) + "\n\n" + latest.mark.String()
	return c.tolerate(ctx, c.client.Edit(ctx, a.at, latest.ID, body))
}

// ReactToReviewComment adds a reaction to a comment on the code of a pull
// request.
func (c *Client) ReactToReviewComment(ctx context.Context, at Place, id int64, content string) error {
	_, _, err := c.api.Reactions.CreatePullRequestCommentReaction(ctx, at.Owner, at.Repo, id, content)
	return apiFailure("react to a comment on "+at.String(), err)
}

// reviewSubmitted processes the webhook of a review.
func (c *Channel) reviewSubmitted(ctx context.Context, hear notice.Hear, id string, e *event) (int, string) {
	e.Issue.Number = e.Pull.Number
	_, _, named := cutRepository(e.Repository.FullName)
	var ignored string
	switch {
	case e.Action != "submitted":
		ignored = "only submitted reviews are heard"
	case e.Review.ID <= 0 || e.Pull.Number <= 0 || !named:
		ignored = "it names no review"
	case e.Review.User.ID <= 0 || e.Sender.ID != e.Review.User.ID:
		ignored = "the sender did not write the review"
	default:
		ignored = c.ignoresPlace(e, "the review", e.Review.SubmittedAt)
	}
	if ignored != "" {
		return http.StatusOK, "ignored: " + ignored
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookTime)
	defer cancel()
	return c.finishDelivery(ctx, id, c.read(ctx, hear, e.Review.arrived(e.place())), "review", e.Review.ID)
}

// reviewCommented processes the webhook of a comment on the code of a pull
// request.
func (c *Channel) reviewCommented(ctx context.Context, hear notice.Hear, id string, e *event) (int, string) {
	e.Issue.Number, e.kind = e.Pull.Number, kindReviewComment
	return c.handleHappening(ctx, hear, id, e)
}

// pullGlance is one entry of a list of pull requests.
type pullGlance struct {
	Number    int       `json:"number"`
	UpdatedAt time.Time `json:"updated_at"`
}

// reviewPoller reads the reviews of one repository, and the comments on its
// code. It reads only pull requests on which a question was asked.
type reviewPoller struct {
	c          *Channel
	hear       notice.Hear
	repository string
	seen       glance
	// latest is the last list of pull requests that was read. The next round
	// reads these pull requests again, if again is set. GitHub gives times in
	// whole seconds. So a review later in the second of a change does not
	// change the list.
	latest []pullGlance
	again  bool
}

func (p *reviewPoller) key() string { return "reviews/" + p.repository }

// round reads the pull requests that changed since the last round. GitHub has
// no list of all reviews of a repository.
func (p *reviewPoller) round(ctx context.Context) error {
	pos, err := p.c.position(ctx, p.key())
	if err != nil {
		return err
	}
	path := fmt.Sprintf("repos/%s/pulls?state=all&sort=updated&direction=desc&per_page=%d", p.repository, perPage)
	var pulls []pullGlance
	_, changed, err := p.seen.get(ctx, p.c.client, path, &pulls)
	if err != nil {
		return apiFailure("read the pull requests in "+p.repository, err)
	}
	if changed {
		p.latest = pulls
	} else if !p.again {
		return nil
	}
	p.again = changed
	if err := p.take(ctx, pos, p.latest); err != nil {
		// The next round reads all of them again.
		p.seen = glance{}
		return err
	}
	pos.markRead()
	return p.c.savePosition(ctx, p.key(), pos)
}

func (p *reviewPoller) take(ctx context.Context, pos *position, pulls []pullGlance) error {
	since := pos.Done.Add(-overlap)
	for _, one := range pulls {
		if one.UpdatedAt.Before(since) {
			break
		}
		at := Place{Number: one.Number}
		at.Owner, at.Repo, _ = cutRepository(p.repository)
		_, known, err := p.c.knownSince(ctx, at)
		if err == nil && known {
			err = p.pull(ctx, pos, at, since)
		}
		if err != nil {
			return err
		}
		if one.UpdatedAt.After(pos.Since) {
			pos.Since = one.UpdatedAt
		}
	}
	return nil
}

// pull reads the new reviews and comments on one pull request.
func (p *reviewPoller) pull(ctx context.Context, pos *position, at Place, since time.Time) error {
	reviews, err := p.c.client.Reviews(ctx, at)
	if err != nil {
		return err
	}
	var fresh []arrived
	for i := range reviews {
		fresh = append(fresh, reviews[i].arrived(at))
	}
	comments, err := p.c.client.ReviewComments(ctx, at, since)
	if err != nil {
		return err
	}
	for _, one := range comments {
		fresh = append(fresh, arrived{Comment: one, at: at, kind: kindReviewComment, edited: one.UpdatedAt.After(one.CreatedAt)})
	}
	for _, a := range fresh {
		if _, seen := pos.Seen[a.ID]; seen || a.CreatedAt.Before(since) {
			continue
		}
		if err := p.c.read(ctx, p.hear, a); err != nil {
			return err
		}
		pos.Seen[a.ID] = a.CreatedAt
	}
	return nil
}

// Reviews lists the reviews of a pull request, oldest first.
func (c *Client) Reviews(ctx context.Context, at Place) ([]Review, error) {
	return pages[Review](ctx, c, "read the reviews of "+at.String(), fmt.Sprintf("repos/%s/pulls/%d/reviews?per_page=%d", at.repository(), at.Number, perPage))
}

// ReviewComments lists the comments on the code of a pull request that changed
// after since.
func (c *Client) ReviewComments(ctx context.Context, at Place, since time.Time) ([]Comment, error) {
	return pages[Comment](ctx, c, "read the comments on the code of "+at.String(),
		fmt.Sprintf("repos/%s/pulls/%d/comments?since=%s&per_page=%d", at.repository(), at.Number, since.UTC().Format(time.RFC3339), perPage))
}

// pages reads every page of a list.
func pages[T any](ctx context.Context, c *Client, act, path string) ([]T, error) {
	var all []T
	for n := 1; n <= mostPages; n++ {
		var page []T
		_, err := c.do(ctx, act, http.MethodGet, fmt.Sprintf("%s&page=%d", path, n), nil, &page)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(page) < perPage {
			break
		}
	}
	return all, nil
}
