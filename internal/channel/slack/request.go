package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// reply is the response to one request of Slack, over HTTP or Socket Mode.
type reply struct {
	status  int
	payload any
	// afterResponse is called after Slack has received the response.
	afterResponse func(ctx context.Context)
}

var (
	replyAccepted    = reply{status: http.StatusOK}
	replyUnavailable = reply{status: http.StatusServiceUnavailable}
	replyMalformed   = reply{status: http.StatusBadRequest}
)

// withoutWork returns the response to a repeated request, which repeats no
// work.
func (r reply) withoutWork() reply { return reply{status: r.status, payload: r.payload} }

// isAcknowledgement reports whether the response confirms the request. Without that,
// Slack sends an event again, and tells a person that a click failed.
func (r reply) isAcknowledgement() bool { return r.status < http.StatusBadRequest }

// Slack waits three seconds for a response. The channel waits for the outcome of a click for at most patience before it
// acknowledges. If the process dies in that time, Slack tells the person that the click failed. Work that takes longer
// is acknowledged and shown in the message as not counted yet. It continues for at most longestWork.
const (
	patience    = 1500 * time.Millisecond
	longestWork = 45 * time.Second
)

// handleInteraction processes a click or a form.
func (c *Channel) handleInteraction(ctx context.Context, cb *api.InteractionCallback, hear notice.InboundHandler) reply {
	if cb.User.ID == "" || cb.TriggerID == "" {
		return replyMalformed
	}
	id := cb.TriggerID + " " + cb.ActionTs
	return c.requests.do(ctx, "interaction "+id, func() (reply, bool) {
		switch cb.Type {
		case api.InteractionTypeBlockActions:
			return c.handleClick(ctx, cb, id, hear)
		case api.InteractionTypeViewSubmission:
			if cb.View.CallbackID == formCallback {
				return c.handleForm(ctx, cb, id, hear)
			}
		default:
		}
		return replyAccepted, true
	})
}

func (c *Channel) handleClick(ctx context.Context, cb *api.InteractionCallback, id string, hear notice.InboundHandler) (reply, bool) {
	if len(cb.ActionCallback.BlockActions) == 0 {
		return replyAccepted, true
	}
	a := cb.ActionCallback.BlockActions[0]
	name, _, _ := strings.Cut(a.ActionID, ":")
	if name != actionAnswer && name != actionSend && name != actionForm {
		return replyAccepted, true // a menu was opened, or a link was followed
	}
	t := &interaction{
		c: c, hear: hear, user: cb.User.ID, name: cb.User.Name,
		responder: privateResponder{respond: cb.ResponseURL, channel: cb.Channel.ID, thread: cb.Message.ThreadTimestamp, user: cb.User.ID},
		in:        &notice.Inbound{ID: id, At: parseStamp(a.ActionTs)},
	}
	p, ok := readButtonValue(a.Value)
	if !ok {
		return reply{status: http.StatusOK, afterResponse: t.tellFunc("This button cannot be read any more. Open the question in Fermata.")}, true
	}
	t.setQuestion(p)
	if name == actionForm {
		data := formData{buttonValue: p, Channel: cb.Channel.ID, Message: cb.Message.Timestamp, Respond: cb.ResponseURL}
		return reply{status: http.StatusOK, afterResponse: t.showFormFunc(cb.TriggerID, data)}, true
	}
	t.message = &cb.Message
	if name == actionSend {
		picks, ok := readSentPick(cb, nil)
		if !ok {
			// The pick is known only by its position. The question is needed to
			// find the value.
			t.complete = func(q *fermata.Question) bool {
				v, ok := readSentPick(cb, q.Item(p.Key))
				t.setAnswer(p, v)
				return ok
			}
		}
		if ok && picks == nil {
			return reply{status: http.StatusOK, afterResponse: t.tellFunc("Nothing is picked yet. Choose above, then press “Send answer”.")}, true
		}
		p.Value = picks
	}
	t.setAnswer(p, p.Value)
	return t.run(ctx, t.afterClick)
}

// handleForm processes a submitted form.
func (c *Channel) handleForm(ctx context.Context, cb *api.InteractionCallback, id string, hear notice.InboundHandler) (reply, bool) {
	var data formData
	if err := json.Unmarshal([]byte(cb.View.PrivateMetadata), &data); err != nil || data.Question == "" {
		return replyMalformed, true
	}
	t := &interaction{
		c: c, hear: hear, user: cb.User.ID, name: cb.User.Name,
		responder: privateResponder{respond: data.Respond, channel: data.Channel, user: cb.User.ID},
		in:        &notice.Inbound{ID: id, At: time.Now()},
	}
	t.setQuestion(data.buttonValue)
	answer, ok := readForm(&cb.View, data.Hash, nil)
	if !ok {
		t.complete = func(q *fermata.Question) bool {
			answer, ok := readForm(&cb.View, data.Hash, q)
			t.in.Answer = &answer
			return ok
		}
	}
	t.in.Answer = &answer
	return t.run(ctx, t.afterForm(&cb.View))
}

// handleCommand processes the command /answer.
func (c *Channel) handleCommand(ctx context.Context, cmd *api.SlashCommand, hear notice.InboundHandler) reply {
	if cmd.UserID == "" || cmd.TriggerID == "" {
		return replyMalformed
	}
	return c.requests.do(ctx, "command "+cmd.TriggerID, func() (reply, bool) {
		question, text, _ := strings.Cut(strings.TrimSpace(unescapeText(cmd.Text)), " ")
		t := &interaction{
			c: c, hear: hear, user: cmd.UserID, name: cmd.UserName,
			responder: privateResponder{respond: cmd.ResponseURL, channel: cmd.ChannelID, user: cmd.UserID},
			in:        &notice.Inbound{ID: cmd.TriggerID, Question: question, Text: strings.TrimSpace(text), At: time.Now()},
		}
		switch {
		case question == "" || question == "help":
			return reply{status: http.StatusOK, payload: newEphemeral(c.usage(cmd.Command))}, true
		case t.in.Text == "":
			return reply{status: http.StatusOK, afterResponse: t.showFormFunc(cmd.TriggerID, formData{buttonValue: buttonValue{Question: question}, Respond: cmd.ResponseURL, Channel: cmd.ChannelID})}, true
		}
		t.trigger = cmd.TriggerID
		return t.run(ctx, t.afterCommand)
	})
}

func (c *Channel) usage(command string) string {
	if command == "" {
		command = "/answer"
	}
	s := "Write “" + command + " <id> <answer>”: a letter or value of an option, yes or no, approve, reject: reason, or a text. “" +
		command + " <id>” opens a form. The id stands below each question; its end is enough."
	if c.env.PublicURL != "" {
		s += " What waits for you is in the inbox: " + c.env.PublicURL
	}
	return s
}

// handleEvent processes an event. Only replies in the threads of questions count.
func (c *Channel) handleEvent(ctx context.Context, e *slackevents.EventsAPIEvent, hear notice.InboundHandler) reply {
	m, isMessage := e.InnerEvent.Data.(*slackevents.MessageEvent)
	outer, hasID := e.Data.(*slackevents.EventsAPICallbackEvent)
	if !isMessage || !hasID || outer.EventID == "" || !isNewPersonMessage(m, outer) {
		return replyAccepted
	}
	if m.ThreadTimeStamp == "" || m.ThreadTimeStamp == m.TimeStamp {
		if m.ChannelType != slackevents.ChannelTypeIM {
			return replyAccepted
		}
		return c.requests.do(ctx, "event "+outer.EventID, func() (reply, bool) {
			t := &interaction{c: c, responder: privateResponder{channel: m.Channel, user: m.User}}
			return reply{status: http.StatusOK, afterResponse: t.tellFunc("This did not count: answer in the thread of a question. " + c.usage(""))}, true
		})
	}
	return c.requests.do(ctx, "event "+outer.EventID, func() (reply, bool) {
		root, ok, err := c.findThreadQuestion(ctx, m, outer)
		if err != nil {
			c.env.Log.WarnContext(ctx, "slack: the message that a reply belongs to could not be read", "error", err)
			var f *notice.SendError
			if errors.As(err, &f) && f.Final {
				return replyAccepted, true
			}
			return replyUnavailable, false
		}
		if !ok {
			return replyAccepted, true
		}
		t := &interaction{
			c: c, hear: hear, user: m.User, thread: true,
			responder: privateResponder{channel: m.Channel, thread: m.ThreadTimeStamp, user: m.User},
			in: &notice.Inbound{
				ID: outer.EventID, Question: root.question, Delivery: root.delivery, Reply: root.reply,
				Text: unescapeText(m.Text), InSharedPlace: m.ChannelType != "im", At: parseStamp(m.TimeStamp),
			},
		}
		switch root.stage {
		case stageOpen:
			return reply{status: http.StatusOK, afterResponse: t.tellFunc("This question is decided in Fermata: open it there. What you wrote here did not count.")}, true
		case stageMoved:
			return reply{status: http.StatusOK, afterResponse: t.tellFunc("This question was sent again: answer there. What you wrote here did not count.")}, true
		case stageDecide, stageClosed:
		}
		return t.run(ctx, t.afterReply)
	})
}

// isNewPersonMessage reports whether a person has just written the message. Edits, bots
// and messages of Slack itself do not count.
func isNewPersonMessage(m *slackevents.MessageEvent, outer *slackevents.EventsAPICallbackEvent) bool {
	switch m.SubType {
	case "", "thread_broadcast", "file_share":
	default:
		return false
	}
	// The library's type has neither of these fields.
	var more struct {
		AppID  string          `json:"app_id"`
		Edited json.RawMessage `json:"edited"`
	}
	if outer.InnerEvent == nil || json.Unmarshal(*outer.InnerEvent, &more) != nil || more.AppID != "" || len(more.Edited) > 0 {
		return false
	}
	return m.BotID == "" && m.User != "" && strings.TrimSpace(m.Text) != ""
}

// findThreadQuestion finds the question in the message that began the thread. Only a message
// of the app itself can contain one.
func (c *Channel) findThreadQuestion(ctx context.Context, m *slackevents.MessageEvent, outer *slackevents.EventsAPICallbackEvent) (address, bool, error) {
	me, err := c.people.appIdentity(ctx, c)
	if err != nil {
		return address{}, false, err
	}
	var by struct {
		Parent string `json:"parent_user_id"`
	}
	if outer.InnerEvent != nil {
		if err := json.Unmarshal(*outer.InnerEvent, &by); err == nil && by.Parent != "" && by.Parent != me.UserID {
			return address{}, false, nil
		}
	}
	messages, _, _, err := c.api.GetConversationRepliesContext(ctx, &api.GetConversationRepliesParameters{
		ChannelID: m.Channel, Timestamp: m.ThreadTimeStamp, Latest: m.ThreadTimeStamp, Inclusive: true, Limit: 1,
	})
	if err != nil {
		return address{}, false, callFailure("read a thread", err)
	}
	for i := range messages {
		if messages[i].Timestamp == m.ThreadTimeStamp && c.isOwnMessage(ctx, &messages[i]) {
			a, ok := findAddress(messages[i].Blocks)
			return a, ok, nil
		}
	}
	return address{}, false, nil
}

// mayRespond reports whether an address for responses is Slack's own.
func (c *Channel) mayRespond(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return false
	}
	if c.APIURL != "" {
		own, err := url.Parse(c.APIURL)
		return err == nil && u.Scheme == own.Scheme && u.Host == own.Host
	}
	return u.Scheme == "https" && (u.Host == "hooks.slack.com" || u.Host == "hooks.slack-gov.com")
}
