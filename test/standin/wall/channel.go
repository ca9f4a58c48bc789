package wall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
)

var errRefused = errors.New("refused")

// NewKind returns a kind of channel that puts messages for the audience on
// walls.
func NewKind(to delivery.Audience) delivery.Kind {
	return delivery.Kind{
		Name: Kind, Audience: to, Secrets: []string{"secret"},
		Settings: json.RawMessage(`{"type": "object", "additionalProperties": false, "required": ["url", "secret"], "properties": {
			"url": {"type": "string"}, "secret": {"type": "string", "minLength": 3}, "public": {"type": "boolean"},
			"events": {"type": "array", "items": {"type": "string"}}}}`),
		Open: func(settings json.RawMessage, _ notice.Env) (delivery.Channel, error) {
			c := &channel{}
			return c, json.Unmarshal(settings, c)
		},
	}
}

// NewLinkKind returns a kind of channel that cannot vouch for the person who
// answers.
func NewLinkKind(to delivery.Audience) delivery.Kind {
	k := NewKind(to)
	open := k.Open
	k.Open = func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) {
		c, err := open(settings, env)
		if err != nil {
			return nil, err
		}
		return &linkChannel{c.(*channel)}, nil
	}
	return k
}

// linkChannel is a channel whose answers have the same weight as answers
// through a link.
type linkChannel struct{ *channel }

// Vouches reports false, because this wall does not know the person who
// answers.
func (*linkChannel) Vouches() bool { return false }

// channel puts messages on one wall.
type channel struct {
	URL    string `json:"url"`
	Secret string `json:"secret"`
}

// Check asks the wall whether the secret is right.
func (c *channel) Check(ctx context.Context) error {
	err := c.call(ctx, http.MethodGet, nil)
	if err != nil {
		return fermata.Errorf(fermata.CodeInvalidRequest, "the wall refuses: %w", err).WithHint("is the secret right?")
	}
	return nil
}

// Send puts up a message. The wall does not know people by their mail address.
func (c *channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	if n.To.Member != "" && n.To.ID == "" {
		return notice.SentMessage{}, &notice.SendError{Final: true, UnknownPerson: true, Err: fmt.Errorf("the wall does not know %s", n.To.Handle)}
	}
	return c.putUp(ctx, http.MethodPost, n)
}

// Update replaces the message on the wall.
func (c *channel) Update(ctx context.Context, n *notice.Notice, _ notice.SentMessage) (notice.SentMessage, error) {
	return c.putUp(ctx, http.MethodPut, n)
}

func (c *channel) putUp(ctx context.Context, method string, n *notice.Notice) (notice.SentMessage, error) {
	p := compose(n)
	body, err := json.Marshal(p)
	if err != nil {
		return notice.SentMessage{}, err
	}
	ref, err := json.Marshal(n.Delivery)
	if err != nil {
		return notice.SentMessage{}, err
	}
	// This channel is careless on purpose: it stores the secrets that decide in
	// the person's name.
	return notice.SentMessage{Ref: ref, Content: strings.Join([]string{p.Text, n.Answer, n.Reply}, "\n")}, c.call(ctx, method, body)
}

func (c *channel) call(ctx context.Context, method string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, method, c.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.Secret)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return &notice.SendError{Err: err, MayHaveArrived: true}
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusOK {
		return nil
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
	f := &notice.SendError{Err: fmt.Errorf("the wall replied %d", res.StatusCode), Final: res.StatusCode == http.StatusUnauthorized}
	if res.StatusCode == http.StatusTooManyRequests {
		f.Wait = time.Duration(seconds) * time.Second
	}
	return f
}

// compose writes a notice in the form for the wall.
func compose(n *notice.Notice) post {
	p := post{Delivery: n.Delivery, To: n.To.ID, Notice: n}
	var lines []string
	add := func(s string) {
		if s != "" {
			lines = append(lines, s)
		}
	}
	add(n.Title)
	add(n.Body)
	if q := n.Question; q != nil {
		p.Question, p.Closed = q.ID, n.Outcome != nil
		add(q.Title)
		for i := range q.Items {
			add(q.Items[i].Key + ": " + q.Items[i].Prompt)
			if n.Decide && n.Outcome == nil {
				p.Buttons = append(p.Buttons, buttons(&q.Items[i])...)
			}
		}
		add(string(q.Action))
		if q.Context != nil {
			add(q.Context.Text)
			add(q.Context.Error)
		}
	}
	for _, q := range n.Questions {
		add(q.Title)
	}
	if n.Outcome != nil {
		add(n.Outcome.Words)
	}
	p.Text = strings.Join(lines, "\n")
	return p
}

func buttons(it *fermata.Item) []string {
	switch it.ResponseType {
	case fermata.ResponseApproval:
		return []string{fermata.Approve, fermata.Reject}
	case fermata.ResponseBoolean:
		return []string{"yes", "no"}
	default:
		var all []string
		for _, o := range it.Options {
			all = append(all, o.Value)
		}
		return all
	}
}

// maxClickAge is how old a click may be.
const maxClickAge = 5 * time.Minute

// Handler processes clicks.
func (c *channel) Handler(hear notice.InboundHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		stamp := r.Header.Get("X-Wall-Time")
		seconds, numeric := strconv.ParseInt(stamp, 10, 64)
		fresh := time.Since(time.Unix(seconds, 0)).Abs() < maxClickAge
		if err != nil || numeric != nil || !fresh || r.Header.Get("X-Wall-Signature") != sign(c.Secret, stamp, body) {
			http.Error(w, "refused", http.StatusUnauthorized)
			return
		}
		var click Click
		if err := json.Unmarshal(body, &click); err != nil {
			http.Error(w, "refused", http.StatusBadRequest)
			return
		}
		in := &notice.Inbound{
			ID: click.ID, Question: click.Question, Delivery: click.Delivery, Reply: click.Reply, Text: click.Text,
			From: notice.Identity{Kind: Kind, ID: click.From, Name: click.From, DenialReason: click.DenialReason}, At: time.Unix(seconds, 0),
		}
		if click.Answers != nil {
			in.Answer = &fermata.Answer{Answers: click.Answers}
		}
		v, err := hear(r.Context(), in)
		if err != nil {
			http.Error(w, "try again", http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"words": v.Words, "counted": v.Counted, "code": v.Code})
	})
}
