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

// decision returns the answer of a review to an approval: approve for GitHub's
// Approve, and reject for Request changes. It is empty for a review that only
// comments, or that was dismissed.
func (r *Review) decision() string {
	switch strings.ToLower(r.State) {
	case "approved":
		return fermata.Approve
	case "changes_requested":
		return fermata.Reject
	default:
		return ""
	}
}

// toInbound returns the review as a comment: the decision, and below it the
// person's words. A review that only comments is read like any comment.
func (r *Review) toInbound(at Place) inboundComment {
	a := inboundComment{place: at, kind: kindReview, isDecision: r.decision() != "", Comment: Comment{
		ID: r.ID, User: r.User, Body: r.Body, CreatedAt: r.SubmittedAt, UpdatedAt: r.SubmittedAt, HTMLURL: r.HTMLURL,
	}}
	if a.isDecision {
		a.Body = strings.TrimSpace("/" + r.decision() + "\n" + r.Body)
	}
	return a
}

// findReviewTarget finds the approval that a review answers. Reviews are also
// about the code. So if no approval is open on the pull request, the review is
// ignored.
func (v *issueView) findReviewTarget(text string) (answerTarget, bool) {
	var open []ownComment
	for _, o := range v.openQuestions() {
		if o.mark.hasWord("/" + fermata.Approve) {
			open = append(open, o)
		}
	}
	switch len(open) {
	case 0:
		return answerTarget{}, false
	case 1:
		return v.targetUnnamed(open[0], text), true
	default:
		return answerTarget{problem: askWhichQuestion(open)}, true
	}
}

// react adds a reaction to a comment. GitHub has no reactions for reviews.
func (c *Channel) react(ctx context.Context, a inboundComment, content string) error {
	switch a.kind {
	case kindReview:
		return nil
	case kindReviewComment:
		return c.client.ReactToReviewComment(ctx, a.place, a.ID, content)
	default:
		return c.client.React(ctx, a.place, a.ID, content)
	}
}

// maxExtendedReply is how many bytes a reply may have and still be extended.
const maxExtendedReply = 50_000

// furtherReviewsText ends a reply that is not extended further.
const furtherReviewsText = "for the reasons above. The question's page says how to answer."

// extendLastReply extends the last reply by the text that a review does not
// count, and why. Beyond the limit there is no new reply, and GitHub has no
// reactions for reviews.
func (c *Channel) extendLastReply(ctx context.Context, a inboundComment, latest *ownComment, v feedback) error {
	link := address(a.HTMLURL)
	if a.kind != kindReview || link != "" && strings.Contains(latest.Body, "]("+link+")") {
		return nil
	}
	words := "a later review"
	if link != "" {
		words = "[" + words + "](" + link + ")"
	}
	text := strings.TrimSpace(strings.TrimSuffix(latest.Body, latest.mark.String()))
	if len(text) > maxExtendedReply {
		if strings.HasSuffix(text, furtherReviewsText) {
			return nil
		}
		words, v.words = "any other review of yours until then", furtherReviewsText
	}
	defer c.views.forget(a.place)
	body := text + "\n\nNor does " + words + ": " + strings.TrimSpace(v.words) + "\n\n" + latest.mark.String()
	return c.tolerateRefusal(ctx, c.client.Edit(ctx, a.place, latest.ID, body))
}

// ReactToReviewComment adds a reaction to a comment on the code of a pull
// request.
func (c *Client) ReactToReviewComment(ctx context.Context, at Place, id int64, content string) error {
	_, _, err := c.api.Reactions.CreatePullRequestCommentReaction(ctx, at.Owner, at.Repo, id, content)
	return apiFailure("react to a comment on "+at.String(), err)
}

// handleReview processes the webhook of a review.
func (c *Channel) handleReview(ctx context.Context, hear notice.InboundHandler, id string, e *event) (int, string) {
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
		ignored = c.placeIgnoreReason(e, "the review", e.Review.SubmittedAt)
	}
	if ignored != "" {
		return http.StatusOK, "ignored: " + ignored
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookTime)
	defer cancel()
	return c.finishDelivery(ctx, id, c.readComment(ctx, hear, e.Review.toInbound(e.place())), "review", e.Review.ID)
}

// handleReviewComment processes the webhook of a comment on the code of a pull
// request.
func (c *Channel) handleReviewComment(ctx context.Context, hear notice.InboundHandler, id string, e *event) (int, string) {
	e.Issue.Number, e.kind = e.Pull.Number, kindReviewComment
	return c.handleComment(ctx, hear, id, e)
}

// pullSummary is one entry of a list of pull requests.
type pullSummary struct {
	Number    int       `json:"number"`
	UpdatedAt time.Time `json:"updated_at"`
}

// reviewPoller reads the reviews of one repository, and the comments on its
// code. It reads only pull requests on which a question was asked.
type reviewPoller struct {
	c          *Channel
	hear       notice.InboundHandler
	repository string
	seen       etagCache
	// latest is the last list of pull requests that was read. The next round
	// reads these pull requests again if rereadLatest is set. GitHub gives
	// times in whole seconds. So a second change within the same second does
	// not change the list.
	latest       []pullSummary
	rereadLatest bool
}

func (p *reviewPoller) key() string { return "reviews/" + p.repository }

// pollOnce reads the pull requests that changed since the last round. GitHub has
// no list of all reviews of a repository.
func (p *reviewPoller) pollOnce(ctx context.Context) error {
	pos, err := p.c.loadPosition(ctx, p.key())
	if err != nil {
		return err
	}
	path := fmt.Sprintf("repos/%s/pulls?state=all&sort=updated&direction=desc&per_page=%d", p.repository, perPage)
	var pulls []pullSummary
	_, changed, err := p.seen.get(ctx, p.c.client, path, &pulls)
	if err != nil {
		return apiFailure("read the pull requests in "+p.repository, err)
	}
	if changed {
		p.latest = pulls
	} else if !p.rereadLatest {
		return nil
	}
	p.rereadLatest = changed
	if err := p.readPulls(ctx, pos, p.latest); err != nil {
		// The next round reads all of them again.
		p.seen = etagCache{}
		return err
	}
	pos.markRead()
	return p.c.savePosition(ctx, p.key(), pos)
}

func (p *reviewPoller) readPulls(ctx context.Context, pos *position, pulls []pullSummary) error {
	since := pos.Done.Add(-overlap)
	for _, one := range pulls {
		if one.UpdatedAt.Before(since) {
			break
		}
		at := Place{Number: one.Number}
		at.Owner, at.Repo, _ = cutRepository(p.repository)
		_, known, err := p.c.knownSince(ctx, at)
		if err == nil && known {
			err = p.readPull(ctx, pos, at, since)
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

// readPull reads the new reviews and comments on one pull request.
func (p *reviewPoller) readPull(ctx context.Context, pos *position, at Place, since time.Time) error {
	reviews, err := p.c.client.Reviews(ctx, at)
	if err != nil {
		return err
	}
	var fresh []inboundComment
	for i := range reviews {
		fresh = append(fresh, reviews[i].toInbound(at))
	}
	comments, err := p.c.client.ReviewComments(ctx, at, since)
	if err != nil {
		return err
	}
	for _, one := range comments {
		fresh = append(fresh, inboundComment{Comment: one, place: at, kind: kindReviewComment, edited: one.UpdatedAt.After(one.CreatedAt)})
	}
	for _, a := range fresh {
		if _, seen := pos.Seen[a.ID]; seen || a.CreatedAt.Before(since) {
			continue
		}
		if err := p.c.readComment(ctx, p.hear, a); err != nil {
			return err
		}
		pos.Seen[a.ID] = a.CreatedAt
	}
	return nil
}

// Reviews lists the reviews of a pull request, oldest first.
func (c *Client) Reviews(ctx context.Context, at Place) ([]Review, error) {
	return pages[Review](ctx, c, "read the reviews of "+at.String(), fmt.Sprintf("repos/%s/pulls/%d/reviews?per_page=%d", at.Repository(), at.Number, perPage))
}

// ReviewComments lists the comments on the code of a pull request that changed
// after since.
func (c *Client) ReviewComments(ctx context.Context, at Place, since time.Time) ([]Comment, error) {
	return pages[Comment](ctx, c, "read the comments on the code of "+at.String(),
		fmt.Sprintf("repos/%s/pulls/%d/comments?since=%s&per_page=%d", at.Repository(), at.Number, since.UTC().Format(time.RFC3339), perPage))
}

// pages reads every page of a list.
func pages[T any](ctx context.Context, c *Client, act, path string) ([]T, error) {
	var all []T
	for n := 1; n <= maxPages; n++ {
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
