package github

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/strictjson"
)

// Kind is the name of this kind of channel.
const Kind = "github"

// Public is true because people without access to the project can see the messages: every reader of the repository can.
const Public = true

// Secrets are the names of the settings that are never shown again.
var Secrets = []string{"token", "private_key", "webhook_secret"}

// Schema is the JSON Schema of the settings.
var Schema = json.RawMessage(`{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "token": {"type": "string", "title": "Token", "description": "A personal access token; leave it empty for a GitHub App."},
    "app_id": {"type": "integer", "minimum": 1, "title": "App ID", "description": "Of a GitHub App."},
    "private_key": {"type": "string", "format": "textarea", "title": "Private key", "description": "The App's private key (PEM)."},
    "installation_id": {"type": "integer", "minimum": 1, "title": "Installation ID", "description": "The number at the end of the installation's address."},
    "repository": {"type": "string", "title": "Repository", "description": "owner/repo: where questions go that name only the number of an issue."},
    "repositories": {"type": "array", "items": {"type": "string"}, "title": "More repositories", "description": "owner/repo: further repositories that questions may name."},
    "issue": {"type": "integer", "minimum": 1, "title": "Issue", "description": "Where questions go that name no issue."},
    "webhook_secret": {"type": "string", "title": "Webhook secret", "description": "As it is set at GitHub. Without one, comments and labels are fetched."},
    "poll": {"type": "string", "pattern": "^(off|[0-9]+(ms|s|m|h))$", "title": "Look every", "description": "A time such as 30s, or off. Default: 30s without a webhook, 5m beside one."},
    "api_url": {"type": "string", "format": "uri", "title": "API address", "description": "Of GitHub Enterprise Server: https://HOST/api/v3/."},
    "waiting_label": {"type": "string", "maxLength": 50, "title": "Label while waiting", "description": "Set while a question is open; empty sets none."},
    "timeout_label": {"type": "string", "maxLength": 50, "title": "Label after a timeout", "description": "Set when nobody answered in time; empty sets none."},
    "timeout_assignees": {"type": "array", "items": {"type": "string"}, "title": "Assign after a timeout", "description": "Logins of people."}
  }
}`)

// Settings are the settings of one channel.
type Settings struct {
	Token          string `json:"token"`
	AppID          int64  `json:"app_id"`
	PrivateKey     string `json:"private_key"`
	InstallationID int64  `json:"installation_id"`

	Repository   string   `json:"repository"`
	Repositories []string `json:"repositories"`
	Issue        int      `json:"issue"`

	WebhookSecret string `json:"webhook_secret"`
	Poll          string `json:"poll"`
	APIURL        string `json:"api_url"`

	WaitingLabel     string   `json:"waiting_label"`
	TimeoutLabel     string   `json:"timeout_label"`
	TimeoutAssignees []string `json:"timeout_assignees"`
}

const (
	publicAPI = "https://api.github.com/"
	// shortestPoll keeps a channel within GitHub's hourly limit.
	shortestPoll = time.Second
	defaultPoll  = 30 * time.Second
	// backupPoll is the interval that finds events which a webhook lost. GitHub delivers each event once.
	backupPoll = 5 * time.Minute
	// shortestSecret is how many characters the webhook secret needs at least. An attacker can guess a secret offline.
	shortestSecret = 16
)

// ReadSettings reads settings. The error lists everything that is wrong with them.
func ReadSettings(raw json.RawMessage) (Settings, error) {
	var s Settings
	if err := strictjson.UnmarshalSettings(raw, &s); err != nil {
		return s, err
	}
	if s.APIURL == "" {
		s.APIURL = publicAPI
	}
	if !strings.HasSuffix(s.APIURL, "/") {
		s.APIURL += "/"
	}
	if problems := s.problems(); len(problems) > 0 {
		return s, fermata.Invalid(problems...).WithHint("docs/reference/channels.md says what each setting is for")
	}
	return s, nil
}

func (s *Settings) problems() []fermata.Problem {
	var list []fermata.Problem
	add := func(field, format string, args ...any) {
		list = append(list, fermata.Problem{Field: "settings." + field, Message: fmt.Sprintf(format, args...)})
	}
	s.accountProblems(add)
	for i, name := range s.namedRepositories() {
		if _, _, ok := cutRepository(name); !ok {
			add("repository", "%q (number %d) is not of the form owner/repo", name, i+1)
		}
	}
	if len(s.namedRepositories()) == 0 && (s.AppID == 0 || s.WebhookSecret == "") {
		add("repository", "is missing: only an App with a webhook knows by itself where it may write")
	}
	if s.Issue != 0 && s.Repository == "" {
		add("issue", "needs repository")
	}
	if u, err := url.Parse(s.APIURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		add("api_url", "%q is no address", s.APIURL)
	}
	if s.WebhookSecret != "" && len(s.WebhookSecret) < shortestSecret {
		add("webhook_secret", "has %d characters, needs at least %d", len(s.WebhookSecret), shortestSecret)
	}
	if every, err := s.pollInterval(); err != nil || every != 0 && every < shortestPoll {
		add("poll", `%q must be a time of at least 1s, such as "30s", or "off"`, s.Poll)
	} else if every == 0 && s.WebhookSecret == "" {
		add("poll", "is off and there is no webhook_secret: no answer would be heard")
	}
	for _, login := range s.TimeoutAssignees {
		if !ownerPattern().MatchString(login) {
			add("timeout_assignees", "%q is no login", login)
		}
	}
	return list
}

func (s *Settings) accountProblems(add func(field, format string, args ...any)) {
	app := s.AppID != 0 || s.PrivateKey != "" || s.InstallationID != 0
	switch {
	case s.Token != "" && app:
		add("token", "cannot be combined with a GitHub App: give either token, or app_id, private_key and installation_id")
	case s.Token == "" && !app:
		add("token", "is missing: give token, or app_id, private_key and installation_id of a GitHub App")
	case app && (s.AppID == 0 || s.PrivateKey == "" || s.InstallationID == 0):
		add("app_id", "a GitHub App needs app_id, private_key and installation_id")
	case app:
		if _, err := s.key(); err != nil {
			add("private_key", "is no RSA key in PEM form, as GitHub lets you download it")
		}
	}
}

// namedRepositories lists the repositories that the settings name.
func (s *Settings) namedRepositories() []string {
	var names []string
	if s.Repository != "" {
		names = append(names, s.Repository)
	}
	return append(names, s.Repositories...)
}

// Allows reports whether questions may go to the repository and answers may come from it. An App whose settings name no
// repository may write everywhere it is installed.
func (s *Settings) Allows(p Place) bool {
	names := s.namedRepositories()
	for _, name := range names {
		if strings.EqualFold(name, p.Repository()) {
			return true
		}
	}
	return len(names) == 0
}

// spellRepository returns the name of a repository in the spelling of the settings, and whether the settings name it.
// GitHub does not distinguish upper and lower case.
func (s *Settings) spellRepository(repository string) (string, bool) {
	for _, name := range s.namedRepositories() {
		if strings.EqualFold(name, repository) {
			return name, true
		}
	}
	return repository, false
}

// pollInterval returns the interval at which comments are fetched, or 0 for never.
func (s *Settings) pollInterval() (time.Duration, error) {
	switch {
	case s.Poll == "off":
		return 0, nil
	case s.Poll != "":
		return time.ParseDuration(s.Poll)
	case s.WebhookSecret != "":
		return backupPoll, nil
	default:
		return defaultPoll, nil
	}
}
