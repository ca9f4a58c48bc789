package notify

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nicholas-fedor/shoutrrr/pkg/format"
	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
)

// If a newer version of the library adds a service, the table must list it or
// leave it out on purpose.
func TestEveryServiceOfTheLibraryIsDecidedOn(t *testing.T) {
	t.Parallel()
	for _, name := range (&router.ServiceRouter{}).ListServices() {
		if _, ok := services[name]; !ok && !slices.Contains([]string{"smtp", "logger"}, name) {
			t.Errorf("%s is neither in the table nor left out", name)
		}
	}
}

func open(t *testing.T, s settings) (*Channel, error) {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return Open(raw, notice.Env{Name: "phone", HTTP: outbound.Client(outbound.Options{})})
}

// examples are URLs in the form that the services use.
var examples = map[string]string{
	"bark":       "bark://:devicekey@api.day.app/",
	"discord":    "discord://tokentoken@123456789012345678",
	"generic":    "generic://example.com/hook",
	"googlechat": "googlechat://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz",
	"gotify":     "gotify://gotify.example.com/Aaaaaaaaaaaaaaa",
	"hangouts":   "hangouts://chat.googleapis.com/v1/spaces/FOO/messages?key=bar&token=baz",
	"ifttt":      "ifttt://key/?events=event",
	"join":       "join://shoutrrr:apikey@join/?devices=device",
	"lark":       "lark://open.larksuite.com/token",
	"matrix":     "matrix://:token@matrix-client.matrix.org/?rooms=!room:matrix.org",
	"mattermost": "mattermost://chat.example.com/token",
	"notifiarr":  "notifiarr://apikey",
	"ntfy":       "ntfy://ntfy.sh/topic",
	"opsgenie":   "opsgenie://api.eu.opsgenie.com/eb243592-faa2-4ba2-a551q-1afdf565c889",
	"pagerduty":  "pagerduty:///aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"pushbullet": "pushbullet://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"pushover":   "pushover://shoutrrr:token@user",
	"rocketchat": "rocketchat://chat.example.com/token/token",
	"signal":     "signal://localhost:8080/+1234567890/+0987654321",
	"slack":      "slack://hook:AAAAAAAAA-BBBBBBBBB-123456789123456789123456@webhook",
	"teams":      "teams://11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05?host=example.webhook.office.com",
	"telegram":   "telegram://000000000:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA@telegram?chats=channel",
	"wecom":      "wecom://693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa",
	"zulip":      "zulip://bot@example.com:key@example.zulipchat.com?stream=stream&topic=topic",
}

// ownNetwork are services that always run in a private network.
var ownNetwork = []string{"generic", "signal"}

func TestServicesOpen(t *testing.T) {
	t.Parallel()
	for name := range services {
		example, ok := examples[name]
		if !ok {
			t.Errorf("%s has no example", name)
			continue
		}
		_, err := open(t, settings{URL: example})
		if refused := err != nil; refused != slices.Contains(ownNetwork, name) {
			t.Errorf("%s: %v", name, err)
		}
		c, err := open(t, settings{URL: example, AllowPrivate: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		opened, err := c.openService()
		if err != nil {
			t.Fatal(err)
		}
		if shows := showsTitle(opened); c.service.title && !shows {
			t.Errorf("%s is given a title, which it does not know", name)
		}
	}
}

// showsTitle reports whether the library has a title for the service.
func showsTitle(s types.Service) bool {
	config, ok := reflect.ValueOf(s).Elem().FieldByName("Config").Interface().(types.ServiceConfig)
	if !ok {
		return false
	}
	resolver := format.NewPropKeyResolver(config)
	return slices.Contains(resolver.QueryFields(), "title")
}

func TestURLsThatMayLeadInside(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"bark://:devicekey@127.0.0.1/", "bark://:devicekey@api.day.app.example.com/", "bark://:devicekey@xday.app/",
		"matrix://:token@10.0.0.1/?rooms=!room:x", "matrix://:token@matrix.org.internal/?rooms=!room:x",
		"matrix://user:password@matrix.org/?rooms=!room:x", "matrix://:token@matrix.org/?rooms=",
		"zulip://bot@example.com:key@chat.internal?stream=s", "opsgenie://localhost/eb243592-faa2-4ba2-a551q-1afdf565c889",
		"googlechat://127.0.0.1/v1/spaces/FOO/messages?key=bar&token=baz",
		strings.Replace(examples["teams"], "example.webhook.office.com", "127.0.0.1", 1),
		strings.Replace(examples["teams"], "example.webhook.office.com", "127.0.0.1%2Fx.webhook.office.com", 1),
		strings.Replace(examples["teams"], "example.webhook.office.com", "127.0.0.1%23.webhook.office.com", 1),
		strings.Replace(examples["teams"], "example.webhook.office.com", "a@127.0.0.1%3F.webhook.office.com", 1),
		examples["teams"] + "&Host=127.0.0.1",
		"generic+http://127.0.0.1/", "generic://example.com/", "signal://localhost:8080/+1234567890/+0987654321",
		"smtp://user:password@host:587/?from=a@b.c&to=a@b.c", "logger://", "nothing://x", "https://example.com", "", "://",
	} {
		// The library reads maps, whose order changes from run to run.
		for range 20 {
			c, err := open(t, settings{URL: raw})
			if err != nil {
				continue
			}
			// A message would be sent to the service that is opened here.
			opened, err := c.openService()
			if err == nil && (c.service.host == nil || !isBelow(c.service.host(opened), c.service.publicHosts)) {
				t.Errorf("%s: opened", raw)
				break
			}
		}
	}
}

func TestSettingsThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{}`, `{"url": 5}`, `{"url": "ntfy://ntfy.sh/topic", "title": "x"}`, `{"url": "ntfy://ntfy.sh/"}`, `[]`} {
		if _, err := Open(json.RawMessage(raw), notice.Env{HTTP: http.DefaultClient}); err == nil {
			t.Errorf("%s: opened", raw)
		}
	}
	var schema map[string]any
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
}
