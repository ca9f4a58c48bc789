package posting

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Inbox is the name of the inbox, which holds every question and needs no
// set-up.
const Inbox = "inbox"

// Keys of the metadata that tell channels where a question goes and whom it
// mentions there.
const (
	slackKey   = "slack"
	mentionKey = "slack_mention"
	issueKey   = "github_issue"
)

// Input is the input of post_question, as a tool and as a workflow step: a
// question, and other names for some of its fields.
type Input struct {
	Form

	ResponseTypeName fermata.ResponseType  `json:"responseType"`
	TimeoutHours     float64               `json:"timeoutHours"`
	TimeoutAction    fermata.TimeoutAction `json:"timeoutAction"`
	DefaultAnswer    any                   `json:"defaultAnswer"`
	// IssueNumber is the number of an issue in the GitHub channel's own
	// repository.
	IssueNumber issueNumber `json:"issueNumber"`
	// NotifyVia are names or kinds of channels. The inbox is always included.
	NotifyVia []string `json:"notifyVia"`
	// SlackChannel is a Slack conversation. SlackMention are the people to
	// mention there.
	SlackChannel    string   `json:"slackChannel"`
	SlackMention    string   `json:"slackMention"`
	EmailRecipients []string `json:"emailRecipients"`
}

// AskRequest converts the input to the request to ask the question. The error lists every problem of the input. With an
// error, the request may be incomplete.
func (in *Input) AskRequest() (fermata.Ask, error) {
	a, err := in.Request()
	refusals := []error{err}
	for _, apply := range []func(*fermata.Ask) error{in.applyOtherNames, in.setTimeout, in.setPlaces} {
		refusals = append(refusals, apply(&a))
	}
	return a, fermata.JoinRefusals(refusals...)
}

// Read converts the input of a workflow step to the request to ask the question, as [Input.AskRequest] does. If the
// input cannot be read, the request is empty.
func Read(input map[string]any, approval bool) (fermata.Ask, error) {
	doc, err := json.Marshal(normalizeInput(input))
	if err != nil {
		return fermata.Ask{}, fmt.Errorf("write the input: %w", err)
	}
	var in Input
	if err := strictjson.UnmarshalRequest(doc, "", &in); err != nil {
		return fermata.Ask{}, err
	}
	a, err := in.AskRequest()
	if approval {
		a.Type = fermata.Approval
	}
	return a, err
}

// normalizeInput returns the input with the types that questions need, because
// agents and workflow files write numbers where questions need texts. Options
// and metadata become texts. A confidence becomes an integer and is never
// rounded up.
func normalizeInput(input map[string]any) map[string]any {
	out := maps.Clone(input)
	if c, ok := out["confidence"].(float64); ok {
		out["confidence"] = math.Floor(c)
	}
	if options, ok := out["options"].([]any); ok {
		out["options"] = optionsToText(options)
	}
	if items, ok := out["items"].([]any); ok {
		items = slices.Clone(items)
		for i := range items {
			if item, ok := items[i].(map[string]any); ok {
				items[i] = normalizeInput(item)
			}
		}
		out["items"] = items
	}
	if metadata, ok := out["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		for key, v := range metadata {
			metadata[key] = toText(v)
		}
		out["metadata"] = metadata
	}
	return out
}

// optionsToText converts the values of options to texts.
func optionsToText(options []any) []any {
	options = slices.Clone(options)
	for i, option := range options {
		object, ok := option.(map[string]any)
		if !ok {
			options[i] = toText(option)
			continue
		}
		if value, ok := object["value"]; ok {
			object = maps.Clone(object)
			object["value"] = toText(value)
			options[i] = object
		}
	}
	return options
}

// toText converts a number or boolean to a text. It leaves any other value for
// the reader to refuse.
func toText(v any) any {
	switch v.(type) {
	case int, int64, float64, bool:
		return fmt.Sprint(v)
	}
	return v
}

func duplicateError(a, b string) error {
	return fermata.Invalid(fermata.Problem{Field: a, Message: "says the same as " + b + "; give one of them"})
}

func (in *Input) applyOtherNames(a *fermata.Ask) error {
	var refusals []error
	if in.ResponseTypeName != "" {
		if a.ResponseType != "" && a.ResponseType != in.ResponseTypeName {
			refusals = append(refusals, duplicateError("responseType", "response_type"))
		}
		a.ResponseType = in.ResponseTypeName
		a.Default = typedDefault(a.Default, a.ResponseType)
	}
	if in.DefaultAnswer != nil {
		if a.Default != nil {
			refusals = append(refusals, duplicateError("defaultAnswer", "default"))
		}
		a.Default = typedDefault(in.DefaultAnswer, a.ResponseType)
	}
	return fermata.JoinRefusals(refusals...)
}

func (in *Input) setTimeout(a *fermata.Ask) error {
	var refusals []error
	if in.TimeoutHours != 0 {
		if a.Timeout != "" {
			refusals = append(refusals, duplicateError("timeoutHours", "timeout"))
		}
		minutes := math.Round(in.TimeoutHours * time.Hour.Minutes())
		if minutes < 1 || minutes > 1e7 {
			refusals = append(refusals, fermata.Invalid(fermata.Problem{Field: "timeoutHours", Message: "must be above 0, and not above ten years"}))
		} else {
			a.Timeout = fermata.Timeout(fmt.Sprintf("%dm", int(minutes)))
		}
	}
	if in.TimeoutAction != "" {
		if a.OnTimeout != "" {
			refusals = append(refusals, duplicateError("timeoutAction", "on_timeout"))
		}
		a.OnTimeout = in.TimeoutAction
	}
	return fermata.JoinRefusals(refusals...)
}

// setPlaces sets the channels of the question, and the places in these channels.
func (in *Input) setPlaces(a *fermata.Ask) error {
	addChannel := func(channel string) {
		if channel != Inbox && !slices.Contains(a.Channels, channel) {
			a.Channels = append(a.Channels, channel)
		}
	}
	a.Channels, a.Metadata = slices.Clone(a.Channels), maps.Clone(a.Metadata)
	for _, name := range in.NotifyVia {
		addChannel(name)
	}
	refusals := []error{in.setIssue(a)}
	if in.SlackChannel != "" || in.SlackMention != "" {
		addChannel(slackKey)
	}
	refusals = append(refusals,
		setMetadata(a, "slackChannel", slackKey, strings.TrimSpace(in.SlackChannel)), in.setMentions(a), in.setMailTo(a, addChannel))
	return fermata.JoinRefusals(refusals...)
}

// setIssue sets the issue on which the question is asked.
func (in *Input) setIssue(a *fermata.Ask) error {
	if in.IssueNumber == "" {
		return nil
	}
	n, err := strconv.Atoi(string(in.IssueNumber))
	if err != nil || n < 1 {
		return fermata.Invalid(fermata.Problem{Field: "issueNumber", Message: "must be the number of an issue"})
	}
	return setMetadata(a, "issueNumber", issueKey, strconv.Itoa(n))
}

// setMetadata sets a key of the metadata. It refuses a value that contradicts the
// asker's own metadata.
func setMetadata(a *fermata.Ask, field, key, value string) error {
	if value == "" {
		return nil
	}
	if old := a.Metadata[key]; old != "" && old != value {
		return duplicateError(field, "metadata."+key)
	}
	if a.Metadata == nil {
		a.Metadata = map[string]string{}
	}
	a.Metadata[key] = value
	return nil
}

// mentionPattern matches a name to mention: a handle in Fermata, one of the
// words here and channel, or the form in which Slack writes a person or a
// group.
var mentionPattern = lazyregexp.New(`^(@?[\pL\pN][\pL\pN._-]*|<@[A-Z0-9]+>|<!subteam\^[A-Z0-9]+>)$`)

// maxHandle is the largest number of characters of a handle. The pattern
// does not check it, because a repeat of a hundred there compiles to 4 MB.
const maxHandle = 100

// canBeMentioned reports whether a name has a form that can be mentioned.
func canBeMentioned(name string) bool {
	tooLong := !strings.HasPrefix(name, "<") && utf8.RuneCountInString(strings.TrimPrefix(name, "@")) > maxHandle
	return !tooLong && mentionPattern().MatchString(name)
}

// maxMentions is the largest number of names that one question mentions.
const maxMentions = 10

func (in *Input) setMentions(a *fermata.Ask) error {
	names := splitNames(in.SlackMention)
	if len(names) > maxMentions {
		return fermata.Invalid(fermata.Problem{Field: "slackMention", Message: fmt.Sprintf("names %d people, may name at most %d", len(names), maxMentions)})
	}
	var refusals []error
	for _, name := range names {
		if !canBeMentioned(name) {
			refusals = append(refusals, fermata.Invalid(fermata.Problem{Field: "slackMention", Message: fmt.Sprintf("%q names nobody: write @handle, a Slack id, here or channel", name)}))
		}
	}
	if len(refusals) > 0 {
		return fermata.JoinRefusals(refusals...)
	}
	return setMetadata(a, "slackMention", mentionKey, strings.Join(names, " "))
}

// setMailTo sets the addresses that get mail. Whether these people may answer is
// checked when the question is asked.
func (in *Input) setMailTo(a *fermata.Ask, addChannel func(string)) error {
	if len(in.EmailRecipients) == 0 {
		return nil
	}
	var addresses []string
	var refusals []error
	for i, one := range in.EmailRecipients {
		address, err := mail.ParseAddress(strings.TrimSpace(one))
		if err != nil {
			refusals = append(refusals, fermata.Invalid(fermata.Problem{Field: fmt.Sprintf("emailRecipients[%d]", i), Message: fmt.Sprintf("%q is no e-mail address", one)}))
			continue
		}
		addresses = append(addresses, address.Address)
	}
	if len(refusals) > 0 {
		return fermata.JoinRefusals(refusals...)
	}
	addChannel(fermata.KindEmail)
	return setMetadata(a, "emailRecipients", fermata.KindEmail, strings.Join(addresses, ", "))
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
}

// Explain replaces the field names in the problems of an error by those of the
// input.
func (in *Input) Explain(err error) error {
	var e *fermata.Error
	if !errors.As(err, &e) || len(e.Problems) == 0 {
		return err
	}
	named := *e
	named.Problems = slices.Clone(e.Problems)
	for i, p := range named.Problems {
		switch {
		case strings.HasPrefix(p.Field, "channels[") && len(in.NotifyVia) > 0:
			named.Problems[i].Field = "notifyVia"
		case p.Field == "channels[0]" && in.SlackChannel != "":
			named.Problems[i].Field = "slackChannel"
		case p.Field == "channels[0]" && in.SlackMention != "":
			named.Problems[i].Field = "slackMention"
		case strings.HasPrefix(p.Field, "channels[") && len(in.EmailRecipients) > 0, p.Field == "metadata."+fermata.KindEmail:
			named.Problems[i].Field = "emailRecipients"
		}
	}
	if len(named.Problems) > 0 {
		named.Message = fermata.Invalid(named.Problems...).Message
	}
	return &named
}

// issueNumber is a number, or the same as a text, because templates produce texts.
type issueNumber string

// UnmarshalJSON accepts a number or a text.
func (n *issueNumber) UnmarshalJSON(data []byte) error {
	*n = issueNumber(strings.Trim(string(data), `"`))
	if *n == "null" {
		*n = ""
	}
	return nil
}
