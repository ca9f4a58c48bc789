package slack_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/standin/slack"
)

// A message in a conversation mentions the people that it is for, in Slack's
// notation. Any other markup in the names stays plain text.
func TestWhoIsMentioned(t *testing.T) {
	t.Parallel()
	l := newHarness(t, overHTTP)
	_, mail := l.member("grace", fermata.RoleResponder)
	for name, want := range map[string]string{
		"U0000001":            "For <@U0000001>\n",
		"@U0000001":           "For <@U0000001>\n",
		"<@U0000001>":         "For <@U0000001>\n",
		"<!subteam^S0000001>": "For <!subteam^S0000001>\n",
		"here":                "For <!here>\n",
		"@channel":            "For <!channel>\n",
		mail:                  "For <@U",
		"nobody@example.com":  "For “nobody”\n",
		"<!everyone>":         "For “everyone”\n",
		"*bold* <http://x|y>": "For “boldhttpxy”\n",
	} {
		q := l.server.ask(&fermata.Question{
			Type: fermata.Blocking, Title: "For whom?",
			Asked: fermata.Asked{
				Items: []fermata.Item{{Key: "answer", Prompt: "For whom?", ResponseType: fermata.ResponseBoolean}},
			},
		})
		n := l.noticeFor(q)
		n.To = notice.Recipient{People: []string{name}}
		if _, err := l.channel.Send(t.Context(), n); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if m := l.lastMessage(t, l.ada); !strings.HasPrefix(m.ID, slack.Room+"/") || !strings.Contains(m.Text, want) {
			t.Errorf("%q: got\n%s\nwant %q", name, m.Text, want)
		}
	}
}
