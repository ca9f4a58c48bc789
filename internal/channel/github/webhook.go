package github

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

const (
	// largestEvent is the largest body that is read, in bytes.
	largestEvent = 1 << 20
	// oldestEvent is how old a comment in a webhook may be. GitHub can redeliver a webhook for three days. Because of
	// the limit, a captured request has no effect after that.
	oldestEvent = 72 * time.Hour
	// webhookTime is the time limit for one delivery. GitHub gives up after ten
	// seconds.
	webhookTime = 9 * time.Second
)

// deliveryID matches GitHub's delivery ids.
var deliveryID = lazyregexp.New(`^[0-9a-fA-F-]{8,64}$`)

// event is the part of a webhook's body that is read: a comment, a label, a
// review or a deployment.
type event struct {
	Action     string      `json:"action"`
	Issue      labelIssue  `json:"issue"`
	Comment    Comment     `json:"comment"`
	Label      label       `json:"label"`
	Review     Review      `json:"review"`
	Pull       pullSummary `json:"pull_request"`
	Sender     Account     `json:"sender"`
	Repository struct {
		FullName string `json:"full_name"`
		HTMLURL  string `json:"html_url"`
	} `json:"repository"`
	// Environment, Deployment, Event (which started the run) and CallbackURL
	// describe a deployment that waits.
	Environment  string     `json:"environment"`
	Deployment   deployment `json:"deployment"`
	Event        string     `json:"event"`
	CallbackURL  string     `json:"deployment_callback_url"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	// kind is the kind of the comment.
	kind string
}

// place returns the issue or pull request that an event is about.
func (e *event) place() Place {
	at := Place{Number: e.Issue.Number}
	at.Owner, at.Repo, _ = cutRepository(e.Repository.FullName)
	return at
}

// Handler processes GitHub's webhooks. It accepts only bodies that are signed
// with the secret. It reads new comments, newly submitted reviews, newly added
// labels, and deployments that wait.
func (c *Channel) Handler(hear notice.InboundHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, words := c.receive(r, hear)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, words+"\n") //nolint:gosec // the words are Fermata's own, and plain text
	})
}

// receive returns the HTTP status, and the text that GitHub shows in its list
// of deliveries.
func (c *Channel) receive(r *http.Request, hear notice.InboundHandler) (int, string) {
	if c.settings.WebhookSecret == "" {
		return http.StatusNotFound, "this channel has no webhook_secret"
	}
	if r.Method != http.MethodPost {
		return http.StatusMethodNotAllowed, "webhooks are sent with POST"
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "set the webhook's content type to application/json"
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, largestEvent+1))
	if err != nil || len(body) > largestEvent {
		return http.StatusRequestEntityTooLarge, "the event is too large"
	}
	if !c.isSigned(r.Header, body) {
		return http.StatusUnauthorized, "the signature is missing or wrong: the secret must be the same at GitHub and in the channel"
	}
	id := r.Header.Get(gh.DeliveryIDHeader)
	if !deliveryID().MatchString(id) {
		return http.StatusBadRequest, gh.DeliveryIDHeader + " is missing"
	}
	if c.processed.has("delivery/" + id) {
		return http.StatusOK, "was delivered before"
	}
	handle := c.handleComment
	switch r.Header.Get(gh.EventTypeHeader) {
	case "issue_comment":
	case "issues":
		handle = c.handleLabel
	case "pull_request_review":
		handle = c.handleReview
	case "pull_request_review_comment":
		handle = c.handleReviewComment
	case "deployment_protection_rule":
		handle = c.handleDeployment
	default:
		return http.StatusOK, "ignored: only issue_comment, issues, pull_request_review, pull_request_review_comment and deployment_protection_rule are heard"
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return http.StatusBadRequest, "the event is no valid JSON"
	}
	return handle(r.Context(), hear, id, &e)
}

// isSigned reports whether the raw body is signed with the secret. Older,
// weaker signature schemes do not count.
func (c *Channel) isSigned(h http.Header, body []byte) bool {
	signatures := h.Values(gh.SHA256SignatureHeader)
	return len(signatures) == 1 && strings.HasPrefix(signatures[0], "sha256=") &&
		gh.ValidateSignature(signatures[0], body, []byte(c.settings.WebhookSecret)) == nil
}

func (c *Channel) handleComment(ctx context.Context, hear notice.InboundHandler, id string, e *event) (int, string) {
	if ignored := c.commentIgnoreReason(e); ignored != "" {
		return http.StatusOK, "ignored: " + ignored
	}
	// GitHub closes the connection if it waits too long. That must not stop the
	// processing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookTime)
	defer cancel()
	err := c.readComment(ctx, hear, inboundComment{Comment: e.Comment, place: e.place(), kind: e.kind, edited: e.Comment.UpdatedAt.After(e.Comment.CreatedAt)})
	return c.finishDelivery(ctx, id, err, "comment", e.Comment.ID)
}

// finishDelivery ends a webhook delivery. If it failed, the log names the object of the event. Then a redelivery at
// GitHub or the poller can bring the event again.
func (c *Channel) finishDelivery(ctx context.Context, id string, err error, kind string, number any) (int, string) {
	if err != nil {
		c.env.Log.WarnContext(ctx, "a webhook of GitHub is not heard yet", "channel", c.env.Name, kind, number, "error", err)
		return http.StatusServiceUnavailable, "not now: deliver it again, or it is fetched later"
	}
	c.processed.add("delivery/" + id)
	return http.StatusOK, "heard"
}

// commentIgnoreReason returns why an event is not a new comment in a place of this channel, or "" if it is one.
func (c *Channel) commentIgnoreReason(e *event) string {
	_, _, named := cutRepository(e.Repository.FullName)
	switch {
	case e.Action != "created":
		return "only created comments are heard"
	case e.Comment.ID <= 0 || e.Issue.Number <= 0 || !named:
		return "it names no comment"
	case e.Comment.User.ID <= 0 || e.Sender.ID != e.Comment.User.ID:
		return "the sender did not write the comment"
	}
	return c.placeIgnoreReason(e, "the comment", e.Comment.CreatedAt)
}

// placeIgnoreReason returns why an event is not from a place of this channel, or that it is too old. It returns "" for
// any other event.
func (c *Channel) placeIgnoreReason(e *event, what string, since time.Time) string {
	at := Place{Number: e.Issue.Number}
	at.Owner, at.Repo, _ = strings.Cut(e.Repository.FullName, "/")
	switch {
	case c.settings.AppID != 0 && e.Installation.ID != c.settings.InstallationID:
		return "it is of another installation"
	case !c.settings.Allows(at):
		return "the channel does not know this repository"
	case time.Since(since) > oldestEvent:
		return what + " is too old"
	}
	return ""
}
