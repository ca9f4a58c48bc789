package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// privateResponder is a way to send a message that only one person sees.
type privateResponder struct {
	// respond is the address for responses that Slack gave with the request.
	respond               string
	channel, thread, user string
}

// ephemeralMessage is a message that only one person sees.
type ephemeralMessage struct {
	Type    string      `json:"response_type"`
	Replace bool        `json:"replace_original"`
	Text    string      `json:"text"`
	Blocks  []api.Block `json:"blocks"`
}

// newEphemeral returns a message with the words as plain text, because they may
// quote other people.
func newEphemeral(words string) ephemeralMessage {
	words = cut(notice.Clean(words), maxSection)
	return ephemeralMessage{Type: api.ResponseTypeEphemeral, Text: escapeMarkup(words), Blocks: []api.Block{api.NewSectionBlock(plainBlock(words), nil, nil)}}
}

// tell sends the words to the person, in the place of the click or in a direct message.
func (r privateResponder) tell(ctx context.Context, c *Channel, words string) {
	if strings.TrimSpace(words) == "" {
		return
	}
	s := newEphemeral(words)
	err := r.postResponse(ctx, c, s)
	if err != nil && r.channel != "" {
		options := []api.MsgOption{api.MsgOptionText(s.Text, false), api.MsgOptionBlocks(s.Blocks...), api.MsgOptionDisableMarkdown()}
		if r.thread != "" {
			options = append(options, api.MsgOptionTS(r.thread))
		}
		_, err = c.api.PostEphemeralContext(ctx, r.channel, r.user, options...)
	}
	if err != nil {
		var conversation string
		if conversation, err = c.people.openDirect(ctx, c, r.user); err == nil {
			_, _, err = c.api.PostMessageContext(ctx, conversation, message{Text: s.Text, Blocks: s.Blocks}.options()...)
		}
	}
	if err != nil {
		c.env.Log.WarnContext(ctx, "slack: a person could not be told what became of an answer", "user", r.user, "error", err)
	}
}

// postResponse posts to the address that Slack gave for responses.
func (r privateResponder) postResponse(ctx context.Context, c *Channel, s ephemeralMessage) error {
	if !c.mayRespond(r.respond) {
		return fmt.Errorf("there is no address to answer to")
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.respond, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the answer was %s", resp.Status)
	}
	return nil
}

// references matches Slack's notation for links and mentions in people's text.
var references = lazyregexp.New(`<([^<>|]*)(?:\|([^<>]*))?>`)

// unescapeText returns the text that a person wrote, without Slack's notation.
func unescapeText(s string) string {
	s = references().ReplaceAllStringFunc(s, func(ref string) string {
		parts := references().FindStringSubmatch(ref)
		target, label := parts[1], parts[2]
		switch {
		case label != "" && strings.HasPrefix(target, "#"):
			return "#" + label
		case label != "":
			return label
		default:
			return target
		}
	})
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

// parseStamp reads a time in Slack's form. It returns the current time if that
// fails.
func parseStamp(s string) time.Time {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f <= 0 {
		return time.Now()
	}
	return time.UnixMicro(int64(f * 1e6)).UTC()
}

// readSentPick reads the pick above a button that sends it.
func readSentPick(cb *api.InteractionCallback, it *fermata.Item) (value any, ok bool) {
	if cb.BlockActionState == nil {
		return nil, true
	}
	for _, actions := range cb.BlockActionState.Values {
		if a, found := actions[actionPick]; found {
			return readPicked(a, it)
		}
	}
	return nil, true
}
