package slack

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Kind is the name of this kind of channel.
const Kind = "slack"

// Secrets are the names of the settings that are never shown again.
var Secrets = []string{"bot_token", "app_token", "signing_secret"}

// Schema is the JSON Schema of the settings.
var Schema = json.RawMessage(`{
  "type": "object",
  "additionalProperties": false,
  "required": ["bot_token", "conversation"],
  "properties": {
    "bot_token": {"type": "string", "title": "Bot token", "pattern": "^(xoxb-|env:|file:)", "description": "Bot User OAuth Token of the app, xoxb-…"},
    "app_token": {"type": "string", "title": "App-level token", "pattern": "^(xapp-|env:|file:|$)", "description": "App-level token of the app, xapp-…, with the scope connections:write, for Socket Mode: no public address is needed"},
    "signing_secret": {"type": "string", "title": "Signing secret", "description": "of the app's Basic Information, when Slack sends its requests over HTTP"},
    "conversation": {"type": "string", "title": "Conversation", "minLength": 1, "description": "where questions go that are for nobody with a known Slack account: the id of a conversation, C…"},
    "share_context": {"type": "boolean", "title": "Show context in the conversation", "description": "everybody in the conversation may read the projects, so errors and previews may be shown there"},
    "api_url": {"type": "string", "title": "Address of the Slack API", "description": "only for tests and GovSlack; empty for slack.com"}
  }
}`)

type settings struct {
	BotToken      string `json:"bot_token"`
	AppToken      string `json:"app_token"`
	SigningSecret string `json:"signing_secret"`
	Conversation  string `json:"conversation"`
	ShareContext  bool   `json:"share_context"`
	APIURL        string `json:"api_url"`
}

// callTime is the time limit for one call to Slack. It is much shorter than the
// lease of a delivery. So a call that hangs ends before another process takes
// over the delivery.
const callTime = 15 * time.Second

// Channel is one Slack app in one workspace.
type Channel struct {
	settings
	env      notice.Env
	api      *api.Client
	http     *http.Client
	people   peopleCache
	messages messageStates
	requests deduplicator
	// patience is how long the channel waits for the outcome of a click before
	// it acknowledges.
	patience time.Duration
	// toldOfTalk remembers the people who were told that talk in a thread is no answer.
	toldOfTalk *cache[bool]
}

// Open creates a channel from settings that fit the schema. It connects to
// nothing.
func Open(raw json.RawMessage, env notice.Env) (*Channel, error) {
	c := &Channel{
		env: env, patience: patience, people: newPeopleCache(), messages: newMessageStates(), requests: newDeduplicator(),
		toldOfTalk: newCache[bool](maxTalkNotices, 0),
	}
	if c.env.Log == nil {
		c.env.Log = slog.New(slog.DiscardHandler)
	}
	if err := strictjson.UnmarshalSettings(raw, &c.settings); err != nil {
		return nil, err
	}
	if c.BotToken == "" || c.Conversation == "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "a Slack channel needs bot_token and conversation").
			WithHint("docs/guides/slack.md says where to find them")
	}
	c.http = withTimeout(env.HTTP)
	options := []api.Option{api.OptionHTTPClient(c.http), api.OptionAppLevelToken(c.AppToken)}
	if c.APIURL != "" {
		options = append(options, api.OptionAPIURL(strings.TrimSuffix(c.APIURL, "/")+"/"))
	}
	c.api = api.New(c.BotToken, options...)
	return c, nil
}

func withTimeout(client *http.Client) *http.Client {
	if client == nil {
		return &http.Client{Timeout: callTime}
	}
	own := *client
	if own.Timeout == 0 || own.Timeout > callTime {
		own.Timeout = callTime
	}
	return &own
}
