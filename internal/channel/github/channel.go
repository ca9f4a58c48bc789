package github

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Channel asks questions in comments on issues of GitHub.
type Channel struct {
	client       *Client
	settings     Settings
	env          notice.Env
	pollInterval time.Duration

	// issues are locks for issues, chosen by the issue number. With them, a
	// comment that arrives in two ways at the same time gets one reply.
	issues [64]sync.Mutex
	// processed are the comments and deliveries that were already processed.
	processed recentKeys
	// views caches what the channel has written on issues.
	views viewCache
}

// Open creates a channel from its settings. It connects to nothing.
func Open(raw json.RawMessage, env notice.Env) (*Channel, error) {
	s, err := ReadSettings(raw)
	if err != nil {
		return nil, err
	}
	every, err := s.pollInterval()
	if err != nil {
		return nil, err
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	if env.HTTP == nil {
		env.HTTP = &http.Client{Timeout: time.Minute}
	}
	client, err := NewClient(s, env.HTTP)
	if err != nil {
		return nil, fermata.Invalid(fermata.Problem{Field: "settings", Message: err.Error()})
	}
	return &Channel{client: client, settings: s, env: env, pollInterval: every}, nil
}

// ref is the data by which the channel finds a comment again.
type ref struct {
	Place
	Comment int64 `json:"comment"`
	// Assigned are the people that the channel has assigned.
	Assigned []string `json:"assigned,omitempty"`
}

// Send writes the comment. A retry finds the comment of an earlier attempt. A
// question that is already on the issue is not asked there twice.
func (c *Channel) Send(ctx context.Context, n *notice.Notice) (notice.SentMessage, error) {
	if n.Purpose == notice.Event {
		return notice.SentMessage{}, notice.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "GitHub takes no events").
			WithHint("use a channel of the kind webhook"))
	}
	at, err := c.place(n)
	if err != nil {
		return notice.SentMessage{}, err
	}
	defer c.lock(at)()
	since := time.Now()
	if n.Question != nil {
		since = n.Question.CreatedAt
	}
	if err := c.rememberIssue(ctx, at, since); err != nil {
		return notice.SentMessage{}, err
	}
	seen, err := c.readView(ctx, at)
	if err != nil {
		return notice.SentMessage{}, err
	}
	body := renderComment(n, c.greeting(ctx, n))
	defer c.views.forget(at)
	to := ref{Place: at}
	if old := seen.findSent(n); old != nil {
		to.Comment, body = old.ID, old.Body
	} else if n.Outcome != nil && !n.Since.IsZero() {
		return notice.SentMessage{}, notice.NothingArrived()
	} else {
		written, err := c.client.Comment(ctx, at, body)
		if err != nil {
			return notice.SentMessage{}, err
		}
		to.Comment = written.ID
	}
	if n.Question != nil && n.Outcome == nil {
		if err := c.beginWaiting(ctx, &to, n); err != nil {
			return notice.SentMessage{}, unsureFailure(err)
		}
	}
	return to.sentMessage(body)
}

func (r ref) sentMessage(body string) (notice.SentMessage, error) {
	raw, err := json.Marshal(r)
	return notice.SentMessage{Ref: raw, Content: body}, err
}

// Update makes the comment show the current notice. When the question has
// ended, it also removes the label and the assignments that were set for it.
// After a timeout the assignments stay.
func (c *Channel) Update(ctx context.Context, n *notice.Notice, sent notice.SentMessage) (notice.SentMessage, error) {
	var to ref
	if err := json.Unmarshal(sent.Ref, &to); err != nil || to.Comment == 0 {
		return sent, notice.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "it is not known where the comment is"))
	}
	defer c.lock(to.Place)()
	defer c.views.forget(to.Place)
	body := renderComment(n, c.greeting(ctx, n))
	switch err := c.client.Edit(ctx, to.Place, to.Comment, body); StatusOf(err) {
	case http.StatusNotFound, http.StatusGone:
		// The comment was deleted, so it shows nothing wrong.
	default:
		if err != nil {
			return sent, err
		}
	}
	if n.Question != nil && n.Outcome != nil {
		if err := c.endWaiting(ctx, &to, n); err != nil {
			return sent, err
		}
	}
	return to.sentMessage(body)
}

// place returns the issue for a notice: the one that the asker or the task
// names, or the default issue of the channel.
func (c *Channel) place(n *notice.Notice) (Place, error) {
	target := n.To.Target
	if target == "" && c.settings.Issue != 0 {
		target = strconv.Itoa(c.settings.Issue)
	}
	if target == "" {
		return Place{}, notice.Permanent(fermata.Errorf(fermata.CodeInvalidRequest, "the question names no issue, and the channel has no usual one").
			WithHint(`set the metadata github_issue of the question to "owner/repo#123", or the channel's repository and issue`))
	}
	at, err := ParsePlace(target, c.settings.Repository)
	if err != nil {
		return at, notice.Permanent(asError(err))
	}
	if !c.settings.Allows(at) {
		return at, notice.Permanent(fermata.Errorf(fermata.CodeForbidden, "the channel may not write to %s", at.Repository()).
			WithHint("add it to the channel's repositories"))
	}
	return at, nil
}

// greeting mentions the people that the question is for, if their accounts are
// known. The mention is what notifies them.
func (c *Channel) greeting(ctx context.Context, n *notice.Notice) string {
	if n.Outcome != nil {
		return ""
	}
	logins := c.assigneeLogins(ctx, n)
	if len(logins) == 0 {
		return ""
	}
	return "For @" + strings.Join(logins, ", @") + "."
}

// assigneeLogins returns the logins of the people that the question is for.
func (c *Channel) assigneeLogins(ctx context.Context, n *notice.Notice) []string {
	var logins []string
	for _, id := range append([]string{n.To.ID}, n.To.People...) {
		if login := c.login(ctx, id); login != "" && !slices.Contains(logins, login) {
			logins = append(logins, login)
		}
	}
	return logins
}

// login returns the login of the account with this id, or "" if there is none.
func (c *Channel) login(ctx context.Context, id string) string {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil || number <= 0 {
		return ""
	}
	login, err := c.client.Login(ctx, number)
	if err != nil {
		c.env.Log.WarnContext(ctx, "a GitHub account cannot be found", "id", number, "error", err)
	}
	return login
}

// lock locks the issue until the returned function is called.
func (c *Channel) lock(at Place) func() {
	m := &c.issues[at.Number%len(c.issues)]
	m.Lock()
	return m.Unlock
}

// sinceKey returns the key under which the channel stores the time since which
// an issue has questions.
func (p Place) sinceKey() string { return "issue/" + p.String() }

// rememberIssue stores once that the issue has questions, before the channel
// writes its first comment. The channel ignores comments on issues without
// questions.
func (c *Channel) rememberIssue(ctx context.Context, at Place, since time.Time) error {
	known, err := c.env.Load(ctx, at.sinceKey())
	if err != nil || known != "" {
		return err
	}
	// Clocks differ, and the question may be older than this attempt to send
	// it.
	return c.env.Store(ctx, at.sinceKey(), since.Add(-time.Hour).UTC().Format(time.RFC3339))
}

// knownSince returns the time since which the issue has questions. It returns
// false if the issue has none.
func (c *Channel) knownSince(ctx context.Context, at Place) (time.Time, bool, error) {
	text, err := c.env.Load(ctx, at.sinceKey())
	if err != nil || text == "" {
		return time.Time{}, false, err
	}
	since, err := time.Parse(time.RFC3339, text)
	return since, err == nil, err
}
