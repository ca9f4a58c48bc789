package github

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata/internal/notice"
)

// arrived is a comment or a review that a person wrote.
type arrived struct {
	Comment
	at Place
	// edited reports whether the comment had been changed before it was first
	// read. A person with write access to the repository can change the
	// comments of others.
	edited bool
	// kind is empty for a comment on an issue or pull request. verdict reports
	// whether it is a review that approves or requests changes.
	kind    string
	verdict bool
}

func (a *arrived) key() string {
	if a.kind != "" {
		return fmt.Sprintf("%s/%d", a.kind, a.ID)
	}
	return fmt.Sprintf("comment/%d", a.ID)
}

// read passes an answer on and tells its author what became of it. A comment
// that answers nothing is left alone. It returns an error if the comment must
// be read again.
func (c *Channel) read(ctx context.Context, hear notice.Hear, a arrived) error {
	if c.done.has(a.key()) || a.byProgram() || firstWords(a.Body) == "" {
		return nil
	}
	if _, known, err := c.knownSince(ctx, a.at); err != nil || !known {
		return err
	}
	if ours, err := c.isOwnComment(ctx, a); ours || err != nil {
		return c.tolerate(ctx, err)
	}
	defer c.lock(a.at)()
	if c.done.has(a.key()) {
		return nil
	}
	seen, err := c.lookFor(ctx, a)
	if err != nil {
		return c.tolerate(ctx, err)
	}
	if err := c.answer(ctx, hear, a, seen); err != nil {
		return err
	}
	c.done.add(a.key())
	return nil
}

// isOwnComment reports whether the channel itself wrote the comment.
func (c *Channel) isOwnComment(ctx context.Context, a arrived) (bool, error) {
	if _, marked := readMark(a.Body); !marked {
		return false, nil
	}
	self, err := c.client.Self(ctx)
	return self.ID == a.User.ID, err
}

func (c *Channel) answer(ctx context.Context, hear notice.Hear, a arrived, seen *written) error {
	stood := seen.standingAt(a.CreatedAt)
	picked, ok := stood.pick(a.Body, time.Now())
	if a.verdict {
		picked, ok = stood.findReviewed(a.Body)
	}
	switch {
	case !ok:
		return nil
	case a.User.ID == seen.self.ID:
		return c.tell(ctx, a, seen, verdict{words: "this account is the one that Fermata writes with, so its comments do not count. Please answer with your own."})
	case a.edited:
		return c.edited(ctx, a, seen, picked)
	case picked.problem != "":
		return c.tell(ctx, a, seen, verdict{words: picked.problem, about: picked.HTMLURL})
	}
	denied, err := c.client.DenialReason(ctx, a.at, a.User)
	if err != nil {
		return err
	}
	where, err := json.Marshal(ref{Place: a.at, Comment: a.ID})
	if err != nil {
		return err
	}
	in := notice.Inbound{
		ID: a.key(), Question: picked.mark.question, Text: picked.text, Context: where, At: a.CreatedAt,
		From: notice.Identity{Kind: Kind, ID: fmt.Sprint(a.User.ID), Name: a.User.Login, Denied: denied},
	}
	if err := vouch(ctx, hear, &in, picked.mark.action); err != nil {
		return err
	}
	v, err := hear(ctx, &in)
	if err != nil {
		return err
	}
	return c.tell(ctx, a, seen, verdict{counted: v.Counted, words: escapeText(v.Words), about: picked.HTMLURL})
}

// vouch binds an answer to the action that the comment shows. It uses the hash
// in the mark of that comment, even if the server has sent a newer one since.
func vouch(ctx context.Context, hear notice.Hear, in *notice.Inbound, action string) error {
	if action == "" {
		return nil
	}
	look := *in
	look.ID, look.Text = "", ""
	v, err := hear(ctx, &look)
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

// edited tells the author that a changed comment does not count, unless the
// author has already been told what became of it.
func (c *Channel) edited(ctx context.Context, a arrived, seen *written, picked pick) error {
	told, err := false, error(nil)
	if a.kind == "" {
		told, err = c.client.reacted(ctx, a.at, a.ID)
	}
	if err != nil || told {
		return c.tolerate(ctx, err)
	}
	return c.tell(ctx, a, seen, verdict{about: picked.HTMLURL, words: "this comment was changed before it was read, so it does not count. Please write a new one."})
}

// escapeText writes words that may contain text of other people.
func escapeText(words string) string {
	if !strings.Contains(strings.TrimSpace(words), "\n") {
		return escapeVisible(words)
	}
	if strings.ContainsFunc(words, notice.Hidden) {
		words = notice.Clean(words)
	}
	return "\n\n" + quote(words)
}

// verdict is the message to the author of a comment. words are Markdown, and
// about is the address of the question.
type verdict struct {
	counted bool
	words   string
	about   string
}

const (
	// mostReplies is how many replies in words one person gets within an hour
	// on an issue. Anybody can comment, and a reply notifies everybody on the
	// issue.
	mostReplies = 5
	hour        = time.Hour
)

// lastReply announces the limit in the last reply before it.
const lastReply = "This is the last reply to you here for an hour. A comment of yours that does not count still gets 😕, and one that counts 👍; " +
	"what becomes of a review is added here. " +
	"The question's page says how to answer."

// tell adds a reaction to the comment. If the comment did not count, it also
// says why.
func (c *Channel) tell(ctx context.Context, a arrived, seen *written, v verdict) error {
	reaction := "confused"
	if v.counted {
		reaction = "+1"
	}
	if err := c.tolerate(ctx, c.react(ctx, a, reaction)); err != nil || v.counted {
		return err
	}
	replies := 0
	var latest *ownComment
	for i := range seen.comments {
		o := &seen.comments[i]
		if o.mark.reply == a.ID {
			return nil
		}
		if o.mark.to == a.User.ID && time.Since(o.CreatedAt) < hour {
			latest = o
			replies++
		}
	}
	if replies >= mostReplies {
		return c.tellBelow(ctx, a, latest, v)
	}
	if replies == mostReplies-1 {
		v.words += "\n\n" + lastReply
	}
	to := "To this comment: "
	if owner.MatchString(a.User.Login) {
		to = "@" + a.User.Login + ": "
	}
	if link := address(v.about); link != "" {
		v.words += "\n\n([the question](" + link + "))"
	}
	defer c.looks.forget(a.at)
	_, err := c.client.Comment(ctx, a.at, to+v.words+"\n\n"+mark{reply: a.ID, to: a.User.ID}.String())
	return c.tolerate(ctx, err)
}
