package docs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	mailserver "github.com/fermata-hq/fermata/test/standin/email"
	"github.com/fermata-hq/fermata/test/standin/github"
	"github.com/fermata-hq/fermata/test/standin/slack"
)

// service is a remote service of a page.
type service struct {
	// replaced holds pairs: a text of the page, and the text that has its place in the test.
	replaced []string
	// env holds the variables that the page takes for granted.
	env []string
	// answer answers the next question in the service.
	answer func(ctx context.Context) error
	// check fails the test if the service did not get the messages that the page sends.
	check func()
}

// services start the services of the pages that need one. They get the address of the page's server.
var services = map[string]func(t *testing.T, address string) service{
	"docs/guides/email.md":  startMail,
	"docs/guides/github.md": startGitHub,
	"docs/guides/slack.md":  startSlack,
	// The server of the page stands for the one at a public address.
	"docs/operate/upgrade.md": func(_ *testing.T, address string) service {
		return service{replaced: []string{
			"https://fermata.example.com", "http://" + address,
			"sudo -u fermata fermata migrate --data /var/lib/fermata/data --master-key-file /var/lib/fermata/key/master.key", "fermata migrate --data data",
		}}
	},
}

// allowLoopback lets the server reach a stand-in, which is on this machine.
const allowLoopback = "FERMATA_ALLOW_NETWORKS=127.0.0.0/8"

func startSlack(t *testing.T, _ string) service {
	t.Helper()
	s := slack.New()
	t.Cleanup(s.Close)
	anna, _ := s.AddPerson("anna")
	return service{
		replaced: []string{
			"xoxb-…", slack.BotToken, "xapp-…", slack.AppToken, "U0123456789", anna,
			"conversation=C0123456789", "conversation=" + slack.Room + " api_url=" + s.APIURL(),
		},
		env:    []string{allowLoopback},
		answer: func(ctx context.Context) error { return replyYes(ctx, s, anna) },
	}
}

// replyYes waits until the person sees a question, and answers yes.
func replyYes(ctx context.Context, remote standin.Remote, person string) error {
	var question *standin.Message
	patience.Until(func() bool {
		for _, m := range remote.VisibleMessages(person) {
			if m.Question != "" && !m.Closed {
				question = &m
			}
		}
		return question != nil || ctx.Err() != nil
	})
	if question == nil {
		return errors.New("the person sees no question")
	}
	return remote.Reply(person, *question, standin.Reply{Answers: map[string]any{"answer": true}})
}

func startGitHub(t *testing.T, _ string) service {
	t.Helper()
	const pullRequest = 12
	g := github.New()
	t.Cleanup(g.Close)
	g.AddIssue(pullRequest)
	key := filepath.Join(t.TempDir(), "github.pem")
	if err := os.WriteFile(key, []byte(g.PrivateKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	return service{
		replaced: []string{
			"github_pat_…", github.Token, "GITHUB_WEBHOOK_SECRET=…", "GITHUB_WEBHOOK_SECRET='" + github.Secret + "'", "/etc/fermata/github.pem", key, "583231", strconv.FormatInt(g.AddUser("ada", "write"), 10),
			"app_id=123456", "app_id=" + strconv.Itoa(github.AppID), "installation_id=7890123", "installation_id=" + strconv.Itoa(github.Installation),
			"repository=octo/hello", "repository=octo/hello api_url=" + g.API(),
		},
		env: []string{allowLoopback},
		check: func() {
			patience.Await(t, "the question is on the pull request", func() bool { return len(g.Bodies(pullRequest)) > 0 })
		},
	}
}

func startMail(t *testing.T, _ string) service {
	t.Helper()
	r := mailserver.NewRemote(t)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, []byte(r.CA), 0o600); err != nil {
		t.Fatal(err)
	}
	user := mailserver.Address("fermata")
	withPassword := func(address string) string {
		return strings.Replace(address, "@localhost", ":"+mailserver.Password+"@localhost", 1)
	}
	return service{
		replaced: []string{
			"smtp://user:password@mail.example.com:587", withPassword(r.SMTP(user)), "imaps://user:password@mail.example.com", withPassword(r.IMAPS(user)),
			"smtp://fermata@example.com@mail.example.com:587", r.SMTP(user), "imaps://fermata@example.com@mail.example.com", r.IMAPS(user),
			"MAIL_PASSWORD=password", "MAIL_PASSWORD=" + mailserver.Password, "mail.example.com", mailserver.Host, "@example.com", "@" + mailserver.Domain,
		},
		env: []string{"SSL_CERT_FILE=" + authority},
		check: func() {
			if _, err := r.Await("anna", 1); err != nil {
				t.Error(err)
			}
		},
	}
}
