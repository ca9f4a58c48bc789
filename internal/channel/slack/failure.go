package slack

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// refusal is a call that Slack refused, with Slack's name of the error.
type refusal struct {
	*notice.SendError
	name string
}

// Unwrap returns the error that says how to continue.
func (r *refusal) Unwrap() error { return r.SendError }

// remedies say what to do about the errors of Slack that need a person.
//
//nolint:gosec // These texts only mention credentials.
var remedies = map[string]string{
	"invalid_auth":                          "copy the Bot User OAuth Token (xoxb-…) again from “OAuth & Permissions” of the app",
	"not_authed":                            "copy the Bot User OAuth Token (xoxb-…) again from “OAuth & Permissions” of the app",
	"account_inactive":                      "the app was removed from the workspace: install it again and copy the new token",
	"token_revoked":                         "the token was revoked: install the app again and copy the new token",
	"token_expired":                         "switch token rotation off for the app, or copy a new token",
	"not_allowed_token_type":                "bot_token must be a bot token (xoxb-…), app_token an app-level token (xapp-…)",
	"missing_scope":                         "add the scope under “OAuth & Permissions” (docs/slack-manifest.yaml has all of them) and install the app again",
	"not_in_channel":                        "invite the app to the conversation: write /invite @Fermata there",
	"channel_not_found":                     "use the id of the conversation (C…, at the end of “View channel details”), and invite the app to it when it is private: /invite @Fermata",
	"is_archived":                           "the conversation is archived: unarchive it, or set another one",
	"restricted_action":                     "the workspace does not let the app write there: ask its administrator, or set another conversation",
	"ekm_access_denied":                     "the workspace's administrators suspended access to messages",
	"team_access_not_granted":               "install the app in this workspace of the organisation",
	"user_not_found":                        "the Slack account is gone: connect the member with another one",
	"cannot_dm_bot":                         "the member is connected with a bot: connect the member with a person's account",
	"user_disabled":                         "the Slack account is deactivated: connect the member with another one",
	"invalid_blocks":                        "Slack refuses how the message is built: please report it",
	"invalid_blocks_format":                 "Slack refuses how the message is built: please report it",
	"msg_blocks_too_long":                   "Slack refuses the length of the message: please report it",
	"msg_too_long":                          "Slack refuses the length of the message: please report it",
	"invalid_arguments":                     "Slack refuses how the message is built: please report it",
	"method_not_supported_for_channel_type": "set another conversation",
}

// callFailure turns the error of a call into one that says how to continue.
func callFailure(act string, err error) error {
	if err == nil {
		return nil
	}
	var limited *api.RateLimitedError
	var refused api.SlackErrorResponse
	var status api.StatusCodeError
	switch {
	case errors.As(err, &limited):
		return &refusal{name: "ratelimited", SendError: &notice.SendError{
			Err: fermata.Errorf(fermata.CodeRateLimited, "%s: Slack asks to wait %s", act, limited.RetryAfter), Wait: limited.RetryAfter,
		}}
	case errors.As(err, &refused):
		return responseError(act, refused)
	case errors.As(err, &status):
		wrong := fermata.Errorf(fermata.CodeUnavailable, "%s: Slack answered %s", act, status.Status)
		switch status.Code {
		case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
			return notice.Permanent(wrong.WithHint("check api_url and the tokens of the channel"))
		}
		return &notice.SendError{Err: wrong, MayHaveArrived: status.Code >= http.StatusInternalServerError}
	default:
		return &notice.SendError{MayHaveArrived: true, Err: fermata.Errorf(fermata.CodeUnavailable, "%s: Slack could not be reached: %v", act, err)}
	}
}

func responseError(act string, r api.SlackErrorResponse) error {
	words := r.Err
	if r.Needed != "" {
		words += fmt.Sprintf(" (needs %s)", r.Needed)
	}
	if more := strings.Join(r.ResponseMetadata.Messages, "; "); more != "" {
		words += ": " + more
	}
	wrong := fermata.Errorf(fermata.CodeUnavailable, "%s: Slack says %s", act, words)
	hint, known := remedies[r.Err]
	if known {
		wrong.Hint = hint
	}
	return &refusal{name: r.Err, SendError: &notice.SendError{Err: wrong, Final: known}}
}

// isSlackError reports whether Slack refused with one of these error names.
func isSlackError(err error, names ...string) bool {
	var r *refusal
	return errors.As(err, &r) && slices.Contains(names, r.name)
}
