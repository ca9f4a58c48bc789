package github

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
)

// inboundComment is a comment or a review that a person wrote.
type inboundComment struct {
	Comment
	place Place
	// edited reports whether the comment had been changed before it was first
	// read. A person with write access to the repository can change the
	// comments of others.
	edited bool
	// kind is empty for a comment on an issue or pull request. isDecision
	// reports whether it is a review that approves or requests changes.
	kind       string
	isDecision bool
}

func (a *inboundComment) key() string {
	if a.kind != "" {
		return fmt.Sprintf("%s/%d", a.kind, a.ID)
	}
	return fmt.Sprintf("comment/%d", a.ID)
}

// readComment passes an answer to the server, and tells its author what became
// of it. It ignores a comment that answers nothing. It returns an error if the
// comment must be read again.
func (c *Channel) readComment(ctx context.Context, hear notice.InboundHandler, a inboundComment) error {
	if c.processed.has(a.key()) || a.isByProgram() || firstWords(a.Body) == "" {
		return nil
	}
	if _, known, err := c.knownSince(ctx, a.place); err != nil || !known {
		return err
	}
	if ours, err := c.isOwnComment(ctx, a); ours || err != nil {
		return c.tolerateRefusal(ctx, err)
	}
	defer c.lock(a.place)()
	if c.processed.has(a.key()) {
		return nil
	}
	seen, err := c.viewFor(ctx, a)
	if err != nil {
		return c.tolerateRefusal(ctx, err)
	}
	if err := c.passOnAnswer(ctx, hear, a, seen); err != nil {
		return err
	}
	c.processed.add(a.key())
	return nil
}

// isOwnComment reports whether the channel itself wrote the comment.
func (c *Channel) isOwnComment(ctx context.Context, a inboundComment) (bool, error) {
	if _, marked := readMark(a.Body); !marked {
		return false, nil
	}
	self, err := c.client.Self(ctx)
	return self.ID == a.User.ID, err
}

func (c *Channel) passOnAnswer(ctx context.Context, hear notice.InboundHandler, a inboundComment, seen *issueView) error {
	view := seen.viewAt(a.CreatedAt)
	picked, ok := view.findTarget(a.Body, time.Now())
	if a.isDecision {
		picked, ok = view.findReviewTarget(a.Body)
	}
	switch {
	case !ok:
		return nil
	case a.User.ID == seen.self.ID:
		return c.tell(ctx, a, seen, feedback{words: "this account is the one that Fermata writes with, so its comments do not count. Please answer with your own."})
	case a.edited:
		return c.rejectEdited(ctx, a, seen, picked)
	case picked.problem != "":
		return c.tell(ctx, a, seen, feedback{words: picked.problem, questionURL: picked.HTMLURL})
	}
	denied, err := c.client.DenialReason(ctx, a.place, a.User)
	if err != nil {
		return err
	}
	in := notice.Inbound{
		ID: a.key(), Question: picked.mark.question, Text: picked.text, At: a.CreatedAt,
		From: notice.Identity{Kind: Kind, ID: fmt.Sprint(a.User.ID), Name: a.User.Login, DenialReason: denied},
	}
	if err := bindAction(ctx, hear, &in, picked.mark.action); err != nil {
		return err
	}
	v, err := hear(ctx, &in)
	if err != nil {
		return err
	}
	return c.tell(ctx, a, seen, feedback{counted: v.Counted, words: escapeText(v.Words), questionURL: picked.HTMLURL})
}

// bindAction binds an answer to the action that the question's comment showed.
// It uses the hash in the mark of that comment, even if the server has sent a
// newer comment since.
func bindAction(ctx context.Context, hear notice.InboundHandler, in *notice.Inbound, action string) error {
	if action == "" {
		return nil
	}
	query := *in
	query.ID, query.Text = "", ""
	v, err := hear(ctx, &query)
	if err != nil || v.Question == nil {
		return err
	}
	// The server explains an answer that cannot be read.
	if answer, err := notice.ParseReply(v.Question, in.Text); err == nil {
		answer.ActionHash = action
		in.Answer = &answer
	}
	return nil
}

// rejectEdited tells the author that a changed comment does not count. A
// reaction of the channel shows that the author was told before; then
// rejectEdited does nothing.
func (c *Channel) rejectEdited(ctx context.Context, a inboundComment, seen *issueView, picked answerTarget) error {
	alreadyTold, err := false, error(nil)
	if a.kind == "" {
		alreadyTold, err = c.client.hasReacted(ctx, a.place, a.ID)
	}
	if err != nil || alreadyTold {
		return c.tolerateRefusal(ctx, err)
	}
	return c.tell(ctx, a, seen, feedback{questionURL: picked.HTMLURL, words: "this comment was changed before it was read, so it does not count. Please write a new one."})
}

// escapeText returns words as Markdown. They may contain text of other people.
func escapeText(words string) string {
	if !strings.Contains(strings.TrimSpace(words), "\n") {
		return escapeVisible(words)
	}
	if strings.ContainsFunc(words, notice.IsHidden) {
		words = notice.Clean(words)
	}
	return "\n\n" + quote(words)
}

// feedback is the message to the author of a comment. words are Markdown, and
// questionURL is the address of the question.
type feedback struct {
	counted     bool
	words       string
	questionURL string
}

const (
	// maxReplies is how many replies in words one person gets within an hour
	// on an issue. Anybody can comment, and a reply notifies everybody on the
	// issue.
	maxReplies  = 5
	replyWindow = time.Hour
)

// lastReply announces the limit. The last reply before the limit contains it.
const lastReply = "This is the last reply to you here for an hour. A comment of yours that does not count still gets 😕, and one that counts 👍; " +
	"what becomes of a review is added here. " +
	"The question's page says how to answer."

// tell adds a reaction to the comment. If the comment did not count, tell also
// replies with the reason.
func (c *Channel) tell(ctx context.Context, a inboundComment, seen *issueView, v feedback) error {
	reaction := "confused"
	if v.counted {
		reaction = "+1"
	}
	if err := c.tolerateRefusal(ctx, c.react(ctx, a, reaction)); err != nil || v.counted {
		return err
	}
	replies := 0
	var latest *ownComment
	for i := range seen.comments {
		o := &seen.comments[i]
		if o.mark.reply == a.ID {
			return nil
		}
		if o.mark.person == a.User.ID && time.Since(o.CreatedAt) < replyWindow {
			latest = o
			replies++
		}
	}
	if replies >= maxReplies {
		return c.extendLastReply(ctx, a, latest, v)
	}
	if replies == maxReplies-1 {
		v.words += "\n\n" + lastReply
	}
	to := "To this comment: "
	if ownerPattern().MatchString(a.User.Login) {
		to = "@" + a.User.Login + ": "
	}
	if link := address(v.questionURL); link != "" {
		v.words += "\n\n([the question](" + link + "))"
	}
	defer c.views.forget(a.place)
	_, err := c.client.Comment(ctx, a.place, to+v.words+"\n\n"+mark{reply: a.ID, person: a.User.ID}.String())
	return c.tolerateRefusal(ctx, err)
}
