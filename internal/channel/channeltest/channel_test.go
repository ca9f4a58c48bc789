package channeltest_test

import (
	"cmp"
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata/internal/channel/channeltest"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/test/standin"
	"github.com/fermata-hq/fermata/test/standin/email"
	"github.com/fermata-hq/fermata/test/standin/github"
	"github.com/fermata-hq/fermata/test/standin/push"
	"github.com/fermata-hq/fermata/test/standin/slack"
	"github.com/fermata-hq/fermata/test/standin/wall"
	"github.com/fermata-hq/fermata/test/standin/webhook"
)

func TestWall(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{
		New: func(tb testing.TB) standin.Remote {
			tb.Helper()
			w := wall.New()
			tb.Cleanup(w.Close)
			return w
		},
		Kinds:        []delivery.Kind{wall.NewKind(delivery.ToPeople)},
		WithoutLinks: true, Forge: forgeClicks, Replay: replayClick,
	})
}

func TestSlack(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{Forge: forgeSlack, Replay: replaySlack, New: func(tb testing.TB) standin.Remote {
		tb.Helper()
		s := slack.New()
		tb.Cleanup(s.Close)
		return s
	}})
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{PeopleByName: true, SharedMessages: true, Forge: forgeGitHub, Replay: replayGitHub, New: func(tb testing.TB) standin.Remote {
		tb.Helper()
		s := github.New()
		tb.Cleanup(s.Close)
		return s
	}})
}

func TestEmail(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{PeopleByName: true, ConfirmsAnswer: true, Forge: forgeMail, Replay: replayMail, New: func(tb testing.TB) standin.Remote {
		tb.Helper()
		return email.NewRemote(tb)
	}})
}

// Without a mail server that vouches for the author, a reply by mail counts
// only for low risks.
func TestEmailWithoutAServerThatVouches(t *testing.T) {
	t.Parallel()
	channeltest.RunByLink(t, channeltest.Config{
		PeopleByName: true, ConfirmsAnswer: true, Settings: map[string]any{"authserv_id": nil}, New: func(tb testing.TB) standin.Remote {
			tb.Helper()
			return email.NewRemote(tb)
		},
	})
}

func TestPush(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{
		Name: "push", PeopleByName: true, AnswersOnPage: true, WithoutLinks: true,
		New: func(tb testing.TB) standin.Remote {
			tb.Helper()
			s, err := push.Start()
			if err != nil {
				tb.Fatal(err)
			}
			tb.Cleanup(s.Stop)
			return push.NewRemote(s)
		},
		Join: func(tb testing.TB, r standin.Remote, url, token, person string) {
			tb.Helper()
			if err := r.(*push.Remote).Join(url, token, person); err != nil {
				tb.Fatal(err)
			}
		},
	})
}

func TestWebhook(t *testing.T) {
	channeltest.RunMachine(t, channeltest.Config{PeopleByName: true, SharedMessages: true, New: func(tb testing.TB) standin.Remote {
		tb.Helper()
		return webhook.New(tb)
	}}, func(tb testing.TB, r standin.Remote) []channeltest.HeardMessage {
		tb.Helper()
		var all []channeltest.HeardMessage
		for _, a := range r.(*webhook.Receiver).Attempts() {
			var told struct {
				Data struct {
					QuestionID string `json:"question_id"`
					Question   struct{ ID string }
				}
			}
			if err := json.Unmarshal(a.Body, &told); err != nil || a.Invalid != nil {
				tb.Errorf("%s came with %v, %v", a.Body, err, a.Invalid)
			}
			all = append(all, channeltest.HeardMessage{ID: a.ID, Type: a.Type, Question: cmp.Or(told.Data.QuestionID, told.Data.Question.ID)})
		}
		return all
	})
}
