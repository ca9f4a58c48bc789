package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/email"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/testkit"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/standin"
	mailhouse "github.com/fermata-hq/fermata/test/standin/email"
	githubhouse "github.com/fermata-hq/fermata/test/standin/github"
	slackhouse "github.com/fermata-hq/fermata/test/standin/slack"
)

func adaptOpen[C delivery.Channel](open func(json.RawMessage, notice.Env) (C, error)) func(json.RawMessage, notice.Env) (delivery.Channel, error) {
	return func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) { return open(settings, env) }
}

// town is a world with a fake Slack, GitHub and mail server.
type town struct {
	*world
	slack  *slackhouse.Server
	github *githubhouse.Server
	mail   *mailhouse.Remote
	// dev is a conversation other than the default one of the Slack channel.
	dev string
	// slacks holds the ids of people in Slack.
	slacks map[string]string
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := newWorld(t,
		delivery.Kind{Name: slack.Kind, Audience: delivery.ToPeopleOrPlace, Settings: slack.Schema, Secrets: slack.Secrets, Open: adaptOpen(slack.Open)},
		delivery.Kind{Name: github.Kind, Audience: delivery.ToPlace, Public: true, Settings: github.Schema, Secrets: github.Secrets, Open: adaptOpen(github.Open)},
		delivery.Kind{Name: email.Kind, Audience: delivery.ToPeople, Settings: email.Schema(), Secrets: email.Secrets(), Open: adaptOpen(email.Open)},
	)
	x := &town{world: w, slack: slackhouse.New(), github: githubhouse.New(), mail: mailhouse.NewRemote(t), slacks: map[string]string{}}
	t.Cleanup(x.slack.Close)
	t.Cleanup(x.github.Close)
	for _, name := range []string{"bob", "cem", "viewer"} {
		role := fermata.RoleResponder
		if name == "viewer" {
			role = fermata.RoleViewer
		}
		_, address := x.mail.AddPerson(name)
		w.AddMember(engine.NewMember{Handle: name, Email: address, Role: role})
		x.slacks[name], _ = x.slack.AddPerson(name)
		_, err := w.delivery.SetIdentity(t.Context(), testkit.Admin, name, fermata.Identity{Kind: slack.Kind, ID: x.slacks[name]})
		w.OK(err)
	}
	x.dev = x.slack.OpenRoom("dev", x.slacks["bob"], x.slacks["cem"])
	x.github.AddIssue(88)
	for name, remote := range map[string]standin.Remote{"team": x.slack, "github": x.github, "post": x.mail} {
		_, err := w.delivery.AddChannel(t.Context(), testkit.Admin, fermata.NewChannel{Name: name, Kind: remote.Kind(), Settings: remote.Settings()})
		w.OK(err)
	}
	return x
}

func messageTexts(rows []*fermata.Delivery) []string {
	var all []string
	for _, d := range rows {
		all = append(all, fmt.Sprintf("%s to %q: %s %s %s", d.Channel, d.Member, d.State, d.Reason, d.LastError))
	}
	return all
}

// awaitMessages waits until a person sees n messages about a question.
func (x *town) awaitMessages(r standin.Remote, person, question string, n int) []standin.Message {
	x.Helper()
	var found []standin.Message
	if !patience.Until(func() bool {
		found = slices.DeleteFunc(r.VisibleMessages(person), func(m standin.Message) bool { return m.Question != question })
		return len(found) >= n
	}) {
		rows, _, err := x.delivery.Deliveries(context.Background(), testkit.Admin, delivery.Filter{QuestionID: question})
		x.Fatalf("%s sees %d messages about %s, want %d; deliveries %v %v", person, len(found), question, n, messageTexts(rows), err)
	}
	x.equalJSON(n, len(found))
	return found
}

// in returns the same town for a subtest. Its failures fail the subtest.
func (x *town) in(t *testing.T) *town {
	t.Helper()
	part := *x
	part.world = x.world.in(t)
	return &part
}

func (x *town) agents() map[string]*agent {
	return map[string]*agent{
		"over HTTP":  x.overHTTP(versions["without"], x.agent, nil),
		"over stdio": x.overStdio(versions["with sessions"], x.agent, nil),
	}
}

// People are notified of a question on the channels that post_question names, and
// nowhere else.
func TestPostQuestionReachesWhomItNames(t *testing.T) {
	t.Parallel()
	x := newTown(t)
	for name, a := range x.agents() {
		t.Run(name, func(t *testing.T) {
			t.Run("a conversation of Slack, with a mention", func(t *testing.T) {
				x, a := x.in(t), a.in(t)
				r := a.must("post_question", `{"type":"non_blocking","question":"Which format?","options":["toml","yaml"],"default":"toml",
					"notifyVia":["inbox"],"slackChannel":"#dev","slackMention":"@cem, here"}`)
				x.equalJSON([]string{"inbox", "team"}, r.Notified)
				m := x.awaitMessages(x.slack, x.slacks["bob"], r.QuestionID, 1)[0]
				if !strings.HasPrefix(m.ID, x.dev+"/") || !strings.Contains(m.Text, "For <@"+x.slacks["cem"]+">, <!here>") || !slices.Contains(m.Buttons, "A · toml") {
					x.Errorf("got %+v", m)
				}
				x.awaitMessages(x.slack, x.slacks["viewer"], r.QuestionID, 0)
				x.OK(x.slack.Reply(x.slacks["bob"], m, standin.Reply{Answers: map[string]any{"answer": "yaml"}}))
				x.closedWith(r.QuestionID, "yaml")
			})
			t.Run("an issue of GitHub", func(t *testing.T) {
				x, a := x.in(t), a.in(t)
				r := a.must("post_question", `{"type":"non_blocking","question":"Which base?","options":["main","next"],"defaultAnswer":"main",
					"notifyVia":["github"],"issueNumber":88}`)
				x.equalJSON([]string{"github", "inbox"}, slices.Sorted(slices.Values(r.Notified)))
				x.awaitMessages(x.github, "bob", r.QuestionID, 1)
				x.equalJSON(true, slices.ContainsFunc(x.github.Bodies(88), func(body string) bool { return strings.Contains(body, r.QuestionID) }))
			})
			t.Run("the mailboxes of some", func(t *testing.T) {
				x, a := x.in(t), a.in(t)
				r := a.must("post_question", `{"type":"non_blocking","question":"Which name?","default":"otter","emailRecipients":["Bob <BOB@`+mailhouse.Domain+`>"]}`)
				x.equalJSON([]string{"inbox", "post"}, r.Notified)
				x.awaitMessages(x.mail, "bob", r.QuestionID, 1)
				rows, _, err := x.delivery.Deliveries(x.Context(), testkit.Admin, delivery.Filter{QuestionID: r.QuestionID})
				x.OK(err)
				x.equalJSON(1, len(rows))
			})
			t.Run("nobody at once", func(t *testing.T) {
				x, a := x.in(t), a.in(t)
				x.equalJSON([]string{"inbox"}, a.must("post_question", `{"type":"non_blocking","question":"Well?","default":"yes"}`).Notified)
			})
		})
	}
}

// A channel that cannot be reached is refused, and the error names the possible
// ones.
func TestPostQuestionRefusesWhereNobodyIs(t *testing.T) {
	t.Parallel()
	x := newTown(t)
	for name, a := range x.agents() {
		t.Run(name, func(t *testing.T) {
			x, a := x.in(t), a.in(t)
			for arguments, want := range map[string][]string{
				`{"question":"?","notifyVia":["slakc"]}`:                                                  {"notifyVia", `"slakc"`, "github, post, slack, team"},
				`{"question":"?","notifyVia":["slack","push"]}`:                                           {"notifyVia", `"push"`},
				`{"question":"?","emailRecipients":["eve@evil.example"]}`:                                 {"emailRecipients", "no member's address", "member add"},
				`{"question":"?","emailRecipients":["viewer@` + mailhouse.Domain + `"]}`:                  {"emailRecipients", "viewer", "may not answer"},
				`{"question":"?","assignees":["cem"],"emailRecipients":["bob@` + mailhouse.Domain + `"]}`: {"emailRecipients", "bob", "may not answer"},
				`{"question":"?","slackChannel":"#dev","metadata":{"slack":"#ops"}}`:                      {"slackChannel", "metadata.slack"},
			} {
				r := a.refused(fermata.CodeInvalidRequest, "post_question", arguments)
				said := r.Error.Message + " " + r.Error.Hint
				for _, word := range want {
					if !strings.Contains(said, word) {
						x.Errorf("%s: %q does not say %q", arguments, said, word)
					}
				}
			}
		})
	}
}

func (x *town) closedWith(question string, answer any) {
	x.Helper()
	q, err := x.Engine.WaitQuestion(x.Context(), x.person, question, patience.Limit())
	x.OK(err)
	if q.Resolution == nil {
		x.Fatalf("%s is %s", question, q.Status)
	}
	x.equalJSON(answer, q.Resolution.Answer)
}
