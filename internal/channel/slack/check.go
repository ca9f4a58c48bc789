package slack

import (
	"context"
	"errors"
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// scopes are the scopes that the app needs, with the reason for each.
// docs/slack-manifest.yaml asks for the same ones.
var scopes = []struct{ name, what string }{
	{"chat:write", "post and update messages"},
	{"commands", "the command /answer"},
	{"im:write", "write to people directly"},
	{"users:read", "know who answers"},
	{"users:read.email", "connect people in Slack with members by their confirmed address"},
	{"channels:read", "check that the app is in the conversation"},
	{"groups:read", "check that the app is in a private conversation"},
	{"channels:history", "answers in threads"},
	{"groups:history", "answers in threads of private conversations"},
	{"im:history", "answers in threads of direct messages"},
}

// Check asks Slack whether the settings work. The error lists every problem,
// each with a remedy.
func (c *Channel) Check(ctx context.Context) error {
	me, err := c.api.AuthTestContext(ctx)
	if err != nil {
		return callFailure("sign in with bot_token", err)
	}
	return errors.Join(c.checkScopes(me), c.checkConversation(ctx, me), c.checkInbound(ctx))
}

func (c *Channel) checkScopes(me *api.AuthTestResponse) error {
	header := me.Header.Get("X-OAuth-Scopes")
	if header == "" {
		return nil
	}
	granted := strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ' ' })
	missing := make([]string, 0, len(scopes))
	for _, s := range scopes {
		if !slices.Contains(granted, s.name) {
			missing = append(missing, s.name+" ("+s.what+")")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeForbidden, "the app lacks scopes: %s", strings.Join(missing, ", ")).
		WithHint("%s", remedies["missing_scope"])
}

func (c *Channel) checkConversation(ctx context.Context, me *api.AuthTestResponse) error {
	info, err := c.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: c.Conversation})
	err = callFailure("look at the conversation "+c.Conversation, err)
	switch {
	case isSlackError(err, "missing_scope"):
		return nil // checkScopes reports it
	case err != nil:
		return err
	case info.IsArchived:
		return fermata.Errorf(fermata.CodeInvalidRequest, "the conversation %s is archived", c.Conversation).WithHint("%s", remedies["is_archived"])
	case !info.IsMember && !info.IsIM:
		return fermata.Errorf(fermata.CodeForbidden, "the app is not in the conversation %s (not_in_channel)", c.Conversation).
			WithHint("invite the app: write /invite @%s in the conversation", me.User)
	}
	return nil
}

// checkInbound checks that answers can come back.
func (c *Channel) checkInbound(ctx context.Context) error {
	switch {
	case c.AppToken != "":
		_, _, err := c.api.StartSocketModeContext(ctx)
		err = callFailure("open Socket Mode with app_token", err)
		var f *notice.SendError
		var wrong *fermata.Error
		if errors.As(err, &f) && f.Final && errors.As(err, &wrong) {
			wrong.Hint = "make an app-level token (xapp-…) with the scope connections:write under “Basic Information”, and switch Socket Mode on"
		}
		return err
	case c.SigningSecret == "":
		return fermata.Errorf(fermata.CodeInvalidRequest, "nobody can answer in Slack: neither app_token nor signing_secret is set").
			WithHint("set app_token for Socket Mode, or signing_secret and the addresses of docs/guides/slack.md")
	case c.env.PublicURL == "":
		return fermata.Errorf(fermata.CodeInvalidRequest, "Slack cannot reach this server: its public address is not known").
			WithHint("start serve with --public-url, or set app_token: Socket Mode needs no public address")
	}
	return nil
}
