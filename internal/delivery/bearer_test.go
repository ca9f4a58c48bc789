package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/test/standin/wall"
)

// withToken returns a member who calls with a token with these scopes.
func (w *world) withToken(name string, scopes ...fermata.Scope) fermata.Caller {
	c := w.caller(name)
	c.TokenID, c.Scopes, c.Assurance = "tok_"+name, scopes, fermata.AssuranceChannel
	return c
}

// The stored content of a message does not show how to answer in another
// person's name, or without signing in. This holds for the program that asked,
// and for operators.
func TestWhatDecidesIsNotShownAgain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts, setup{audience: delivery.ToPeople})
		w.addChannel()
		w.addMember("op", fermata.RoleOperator)
		w.addMember("half", fermata.RoleOperator)
		w.members["half"].Projects = map[string]fermata.Role{fermata.DefaultProject: fermata.RoleViewer}
		low := pickQuestion
		low.Risk, low.Assignees = fermata.RiskLow, []string{"ann"}
		q := w.ask(low)
		w.awaitMessages("ann", 1)
		d := w.awaitRest(q)[0]
		sent := w.wall.Notices("wall-ann")[0]
		_, link, _ := strings.Cut(sent.Answer, "/a/")
		if link == "" || sent.Reply == "" {
			t.Fatalf("the message decides nothing: %+v", sent)
		}
		kept, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).Delivery(d.ID)
		w.OK(err)
		if strings.Contains(kept.Content, link) || strings.Contains(kept.Content, sent.Reply) || !strings.Contains(kept.Content, q.Title) {
			t.Errorf("the database keeps %q", kept.Content)
		}
		// The row gets the content that an earlier version stored.
		w.OK(w.DB.Write(t.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
			kept.Content = "Which?\nAnswer: " + sent.Answer + "\nreply+" + sent.Reply + "@example.com"
			tx.SaveDelivery(kept)
			return nil
		}))
		for name, reader := range map[string]struct {
			c     fermata.Caller
			reads bool
		}{
			"an agent":                              {agent, false},
			"a token of the recipient that asks":    {w.withToken("ann", fermata.ScopeAsk), false},
			"a token of the recipient that reads":   {w.withToken("ann", fermata.ScopeRead), false},
			"a token of the recipient that answers": {w.withToken("ann", fermata.ScopeAnswer), true},
			"the recipient in a browser":            {w.caller("ann"), true},
			"somebody else in a browser":            {w.caller("bob"), false},
			"an operator in a browser":              {w.caller("op"), true},
			"an operator with a token":              {w.withToken("op", fermata.ScopeAnswer, fermata.ScopeWork), false},
			"an operator who only looks there":      {w.caller("half"), false},
		} {
			got, err := w.s.Delivery(t.Context(), reader.c, d.ID)
			w.OK(err)
			if shown := got.Content != ""; shown != reader.reads || strings.Contains(got.Content, link) || strings.Contains(got.Content, sent.Reply) {
				t.Errorf("%s reads %q", name, got.Content)
			}
		}
	})
}

// Only an operator of the message's project can send it again.
func TestOperatorsOfTheProjectSendAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.SQLite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	w.addMember("op", fermata.RoleOperator)
	w.addMember("half", fermata.RoleOperator)
	w.members["half"].Projects = map[string]fermata.Role{fermata.DefaultProject: fermata.RoleViewer}
	q := w.ask(pickQuestion)
	d := w.awaitRest(q)[0]
	for name, c := range map[string]fermata.Caller{
		"agent": agent, "responder": w.caller("ann"), "viewer there": w.caller("half"), "token that reads": w.withToken("op", fermata.ScopeRead),
	} {
		if _, err := w.s.Redeliver(t.Context(), c, d.ID); fermata.CodeOf(err) != fermata.CodeForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := w.s.Redeliver(t.Context(), w.caller("op"), d.ID)
	w.OK(err)
}

// logBuffer is the text of a log.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// echo is a channel whose remote system refuses a message and repeats its text
// in the error.
type echo struct{}

func (echo) Check(context.Context) error { return nil }

func (echo) Send(_ context.Context, n *notice.Notice) (notice.SentMessage, error) {
	return notice.SentMessage{}, notice.Permanent(errors.New("550 refused: " + n.Answer + " from reply+" + n.Reply + "@example.com"))
}

func (echo) Update(_ context.Context, _ *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error) {
	return sent, nil
}

// If a remote system repeats a message in its error, the link and the reply
// secret are neither stored, shown nor logged.
func TestErrorsTellNoLink(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		log := &logBuffer{}
		w := newWorld(t, opts, setup{audience: delivery.ToPeople, options: func(o *delivery.Options) {
			o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			o.Kinds = append(o.Kinds, delivery.Kind{
				Name: "echo", Audience: delivery.ToPeople, Settings: json.RawMessage(`{"type":"object"}`),
				Open: func(json.RawMessage, notice.Env) (delivery.Channel, error) { return echo{}, nil },
			})
		}})
		_, err := w.s.AddChannel(t.Context(), admin, fermata.NewChannel{Name: "echo", Kind: "echo"})
		w.OK(err)
		_, err = w.s.SetIdentity(t.Context(), admin, "ann", fermata.Identity{Kind: "echo", ID: "ann"})
		w.OK(err)
		w.setRoutes(fermata.RouteStep{After: "0s", Channel: "echo"})
		low := pickQuestion
		low.Risk, low.Assignees = fermata.RiskLow, []string{"ann"}
		all := w.awaitRest(w.ask(low))
		d := all[slices.IndexFunc(all, func(d *fermata.Delivery) bool { return d.Purpose == string(notice.Asked) })]
		full, err := w.s.Delivery(t.Context(), w.caller("ann"), d.ID)
		w.OK(err)
		channel, err := w.s.ChannelNamed(t.Context(), admin, "echo")
		w.OK(err)
		events, err := w.DB.Reader(t.Context(), store.DefaultWorkspace).Events(store.EventFilter{Limit: 1000})
		w.OK(err)
		told, err := json.Marshal([]any{full, channel, events, log.String()})
		w.OK(err)
		id := strings.TrimPrefix(d.ID, fermata.PrefixDelivery+"_")
		for _, at := range []string{"/a/", "reply+" + id} {
			for rest := string(told); ; {
				_, after, found := strings.Cut(rest, at)
				if !found {
					break
				}
				if rest = after; !strings.HasPrefix(after, "[removed]") {
					t.Errorf("a secret is told: %s%.80s", at, after)
				}
			}
		}
		if full.State != fermata.DeliveryDead || !strings.Contains(full.LastError, "550 refused") || channel.LastError == "" {
			t.Errorf("got %+v of %+v", full, channel)
		}
	})
}

// A reply that quotes the message passes no link on to the agent.
func TestRepliesHandOnNoLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.SQLite(t), setup{audience: delivery.ToPeople})
	w.addChannel()
	q := w.ask(fermata.Ask{Title: "Why?", Question: "Why?", Risk: fermata.RiskLow, Assignees: []string{"ann"}})
	m := w.awaitMessages("ann", 1)[0]
	sent := w.wall.Notices("wall-ann")[0]
	text := "because\nAnswer: " + sent.Answer + "\nOn Monday, reply+" + sent.Reply + "@example.com wrote"
	w.OK(w.wall.SendClick(wall.Click{From: "wall-ann", Delivery: m.ID, Text: text}))
	got, err := w.Engine.Question(t.Context(), admin, q.ID)
	w.OK(err)
	if got.Resolution == nil || !strings.Contains(got.Resolution.AnswerText(), "because") || strings.Contains(got.Resolution.AnswerText(), sent.Answer) ||
		strings.Contains(got.Resolution.AnswerText(), sent.Reply) {
		t.Errorf("the answer is %+v", got.Resolution)
	}
}
