package slack

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"

	"github.com/fermata-hq/fermata/internal/notice"
)

// largestBody is larger than any request of Slack, in bytes.
const largestBody = 1 << 20

// Handler processes Slack's requests at any path: events, interactions and the
// command. It trusts nothing in a request before the signature is verified. The
// signature covers the exact bytes of the body, and a time within five minutes.
func (c *Channel) Handler(hear notice.InboundHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "Slack sends its requests here by POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestBody))
		if err != nil {
			http.Error(w, "the request is too large or was cut off", http.StatusRequestEntityTooLarge)
			return
		}
		if err := c.verify(r.Header, body); err != nil {
			c.env.Log.InfoContext(r.Context(), "slack: a request was refused", "error", err)
			http.Error(w, "the request is not signed by Slack", http.StatusUnauthorized)
			return
		}
		// Work that has started for a person continues even if Slack closes the
		// connection.
		ctx := context.WithoutCancel(r.Context())
		response := c.handleRequest(ctx, r.Header.Get("Content-Type"), body, hear)
		writeReply(w, response)
		if response.afterResponse != nil {
			go response.afterResponse(ctx)
		}
	})
}

// verify checks the signature of a request and its time.
func (c *Channel) verify(header http.Header, body []byte) error {
	if c.SigningSecret == "" {
		return errors.New("signing_secret is not set")
	}
	for _, name := range []string{"X-Slack-Signature", "X-Slack-Request-Timestamp"} {
		if len(header.Values(name)) != 1 {
			return errors.New("the request has not one signature and one time")
		}
	}
	v, err := api.NewSecretsVerifier(header, c.SigningSecret)
	if err != nil {
		return err
	}
	if _, err := v.Write(body); err != nil {
		return err
	}
	return v.Ensure()
}

// handleRequest answers a request that was verified as Slack's.
func (c *Channel) handleRequest(ctx context.Context, contentType string, body []byte, hear notice.InboundHandler) reply {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || !utf8.Valid(body) {
		return replyMalformed
	}
	switch kind {
	case "application/json":
		return c.handleEventRequest(ctx, body, hear)
	case "application/x-www-form-urlencoded":
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return replyMalformed
		}
		return c.handleFormRequest(ctx, values, hear)
	default:
		return reply{status: http.StatusUnsupportedMediaType}
	}
}

func (c *Channel) handleEventRequest(ctx context.Context, body []byte, hear notice.InboundHandler) reply {
	e, err := slackevents.ParseEvent(body, slackevents.OptionNoVerifyToken())
	switch {
	case e.Type == slackevents.URLVerification:
		if v, ok := e.Data.(*slackevents.EventsAPIURLVerificationEvent); ok {
			return reply{status: http.StatusOK, payload: map[string]string{"challenge": v.Challenge}}
		}
		return replyMalformed
	case err != nil && strings.Contains(string(body), `"event_callback"`):
		// An event of an unknown kind does not concern a question.
		return replyAccepted
	case err != nil:
		return replyMalformed
	}
	return c.handleEvent(ctx, &e, hear)
}

func (c *Channel) handleFormRequest(ctx context.Context, values url.Values, hear notice.InboundHandler) reply {
	if payload := values.Get("payload"); payload != "" {
		var cb api.InteractionCallback
		if err := json.Unmarshal([]byte(payload), &cb); err != nil {
			return replyMalformed
		}
		return c.handleInteraction(ctx, &cb, hear)
	}
	if values.Get("command") == "" {
		if values.Get("ssl_check") != "" {
			return replyAccepted
		}
		return replyMalformed
	}
	return c.handleCommand(ctx, &api.SlashCommand{
		Command: values.Get("command"), Text: values.Get("text"), UserID: values.Get("user_id"), UserName: values.Get("user_name"),
		ChannelID: values.Get("channel_id"), TeamID: values.Get("team_id"), TriggerID: values.Get("trigger_id"), ResponseURL: values.Get("response_url"),
	}, hear)
}

func writeReply(w http.ResponseWriter, r reply) {
	if r.status >= http.StatusInternalServerError {
		w.Header().Set("Retry-After", "1")
	}
	if r.payload == nil {
		w.WriteHeader(r.status)
		return
	}
	body, err := json.Marshal(r.payload)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(r.status)
	_, _ = w.Write(body)
}
