package slack

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// ref is the data by which a message is found again, and what it showed last.
type ref struct {
	Channel string    `json:"channel"`
	Message string    `json:"ts"`
	At      time.Time `json:"at,omitzero"`
	Final   bool      `json:"final,omitempty"`
	Shared  bool      `json:"shared,omitempty"`
}

func (r ref) key() string { return r.Channel + "/" + r.Message }

// Send posts a message to the member or into the conversation.
func (c *Channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	if n.Purpose == notice.Event {
		return notice.SentMessage{}, notice.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "Slack takes no events for machines").
			WithHint("send events with a channel of the kind webhook"))
	}
	conversation, readers, err := c.destination(ctx, &n.To)
	if err != nil {
		return notice.SentMessage{}, err
	}
	if readers.mentions, err = c.mentions(ctx, n); err != nil {
		return notice.SentMessage{}, err
	}
	if err := c.retireReplaced(ctx, n); err != nil {
		return notice.SentMessage{}, err
	}
	return c.post(ctx, n, conversation, readers, render(n, readers))
}

// retireReplaced removes the buttons of the message that n replaces. It runs before the new message is posted. If the
// post fails, the retry does both steps again.
func (c *Channel) retireReplaced(ctx context.Context, n *notice.Notice) error {
	if len(n.Replaces) == 0 || n.Question == nil {
		return nil
	}
	var r ref
	if err := json.Unmarshal(n.Replaces, &r); err != nil {
		return fermata.Internal("read where a Slack message is", err)
	}
	return c.messages.update(r.key(), n.At, true, func() error { return c.rewriteMessage(ctx, r, renderReplaced(n), false) })
}

func (c *Channel) post(ctx context.Context, n *notice.Notice, conversation string, readers audience, m message) (notice.SentMessage, error) {
	r := ref{Channel: conversation, At: n.At, Final: isFinal(n), Shared: readers.shared}
	var err error
	if r.Message = c.findArrived(ctx, conversation, n); r.Message != "" {
		if _, _, _, err = c.api.UpdateMessageContext(ctx, conversation, r.Message, m.options()...); err != nil {
			return notice.SentMessage{}, callFailure("bring a message up to date", err)
		}
	} else if isFinal(n) && !n.Since.IsZero() {
		return notice.SentMessage{}, notice.NothingArrived()
	} else if r.Channel, r.Message, err = c.api.PostMessageContext(ctx, conversation, m.options()...); err != nil {
		return notice.SentMessage{}, callFailure("post a message", err)
	}
	return c.sentMessage(r, m, n.Reply)
}

// findArrived returns the id of the message that an earlier attempt of this
// delivery posted, or "" if none arrived.
func (c *Channel) findArrived(ctx context.Context, conversation string, n *notice.Notice) string {
	if n.Since.IsZero() || n.Delivery == "" {
		return ""
	}
	history, err := c.api.GetConversationHistoryContext(ctx, &api.GetConversationHistoryParameters{
		ChannelID: conversation, Oldest: timestamp(n.Since.Add(-5 * time.Minute)), Limit: 200,
	})
	if err != nil {
		c.env.Log.WarnContext(ctx, "slack: whether a message arrived cannot be found out; it is sent again", "delivery", n.Delivery, "error", err)
		return ""
	}
	for i := range history.Messages {
		m := &history.Messages[i]
		if a, ok := findAddress(m.Blocks); ok && a.delivery == n.Delivery && c.isOwnMessage(ctx, m) {
			return m.Timestamp
		}
	}
	return ""
}

// Update makes a message show the current notice, unless it already shows a
// newer one.
func (c *Channel) Update(ctx context.Context, n *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error) {
	var r ref
	if len(sent.Ref) == 0 || n.Question == nil && n.Purpose != notice.Digest {
		return sent, nil
	}
	if err := json.Unmarshal(sent.Ref, &r); err != nil {
		return sent, fermata.Internal("read where a Slack message is", err)
	}
	ends := isFinal(n)
	if isOlder(r.At, r.Final, timeOr(n.At, r.At), ends) {
		return sent, nil
	}
	mentions, err := c.mentions(ctx, n)
	if err != nil {
		return sent, err
	}
	m := render(n, audience{shared: r.Shared, unknownMember: unknownName(&n.To), mentions: mentions})
	err = c.messages.update(r.key(), n.At, ends, func() error { return c.rewriteMessage(ctx, r, m, ends) })
	if err != nil {
		return sent, err
	}
	r.At, r.Final = timeOr(n.At, r.At), ends
	return c.sentMessage(r, m, n.Reply)
}

// timeOr returns at, or known if at is zero.
func timeOr(at, known time.Time) time.Time {
	if at.IsZero() {
		return known
	}
	return at
}

// rewriteMessage rewrites a message. A deleted message has no buttons, so it needs no change. If Slack refuses to
// change the message and ends is set, the outcome is posted in its thread.
func (c *Channel) rewriteMessage(ctx context.Context, r ref, m message, ends bool) error {
	_, _, _, err := c.api.UpdateMessageContext(ctx, r.Channel, r.Message, m.options()...)
	err = callFailure("update a message", err)
	switch {
	case isSlackError(err, "message_not_found"):
		return nil
	case isSlackError(err, "cant_update_message", "edit_window_closed"):
		if !ends {
			return nil
		}
		_, _, err := c.api.PostMessageContext(ctx, r.Channel, append(m.options(), api.MsgOptionTS(r.Message))...)
		return callFailure("tell the end in a thread", err)
	}
	return err
}

func isFinal(n *notice.Notice) bool {
	return n.Outcome != nil || n.Question != nil && n.Question.Status != fermata.Pending
}

// options returns the content of the message as options of a call. They turn off all features by which Slack interprets
// text.
func (m message) options() []api.MsgOption {
	return []api.MsgOption{
		api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...), api.MsgOptionDisableMarkdown(),
		api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(), api.MsgOptionParse(false), api.MsgOptionLinkNames(false),
	}
}

func (c *Channel) sentMessage(r ref, m message, secret string) (notice.SentMessage, error) {
	refJSON, err := json.Marshal(r)
	if err != nil {
		return notice.SentMessage{}, fermata.Internal("write where a Slack message is", err)
	}
	content, err := json.Marshal(m)
	if err != nil {
		return notice.SentMessage{}, fermata.Internal("write what a Slack message says", err)
	}
	kept := string(content)
	if secret != "" {
		// People can read the stored message, so the secret is removed from it.
		kept = strings.ReplaceAll(kept, secret, "…")
	}
	return notice.SentMessage{Ref: refJSON, Content: kept}, nil
}

// destination says where a message goes, and which readers it has there.
func (c *Channel) destination(ctx context.Context, to *notice.Recipient) (conversation string, readers audience, err error) {
	shared := audience{shared: !c.ShareContext, unknownMember: unknownName(to)}
	switch {
	case to.Target != "":
		return to.Target, shared, nil
	case to.Member == "" && to.ID == "":
		return c.Conversation, shared, nil
	}
	id := to.ID
	if id == "" {
		if id, err = c.people.find(ctx, c, to.Email); err != nil {
			return "", audience{}, err
		}
	}
	if id == "" {
		return "", audience{}, &notice.SendError{Final: true, UnknownPerson: true, Err: fermata.Errorf(fermata.CodeNotFound, "Slack knows nobody with the address of %s", to.Handle).
			WithHint("say who that is: fermata member identity %s slack ID", to.Handle)}
	}
	conversation, err = c.people.openDirect(ctx, c, id)
	return conversation, audience{}, err
}

// unknownName returns the name of the person for whom a message to a place is, if Slack does not know that person.
func unknownName(to *notice.Recipient) string {
	if to.Member != "" {
		return ""
	}
	return to.Name
}
