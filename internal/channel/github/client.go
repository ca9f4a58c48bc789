package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	gh "github.com/google/go-github/v89/github"
)

// Client calls GitHub's API as one account: the owner of a token, or an App.
type Client struct {
	api *gh.Client
	// app signs in as the App itself. It is nil if the client uses a token.
	app *gh.Client

	settings Settings

	mu          sync.Mutex
	self        Account
	permissions map[string]cachedPermission
	logins      map[int64]string
}

// NewClient returns a client. It connects to nothing.
func NewClient(s Settings, base *http.Client) (*Client, error) {
	c := &Client{settings: s, permissions: map[string]cachedPermission{}, logins: map[int64]string{}}
	address, err := url.Parse(s.APIURL)
	if err != nil {
		return nil, err
	}
	transport := base.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	newSignedClient := func(b *bearer) (*gh.Client, error) {
		b.host, b.base = address.Host, transport
		return gh.NewClient(gh.WithHTTPClient(base), gh.WithTransport(b), gh.WithURLs(&s.APIURL, nil), gh.WithUserAgent("fermata"))
	}
	if s.AppID == 0 {
		c.api, err = newSignedClient(&bearer{token: func(context.Context) (string, error) { return s.Token, nil }})
		return c, err
	}
	if c.app, err = newSignedClient(&bearer{token: c.settings.appToken}); err != nil {
		return nil, err
	}
	in := &installation{id: s.InstallationID, app: c.app}
	c.api, err = newSignedClient(&bearer{token: in.currentToken, onRefused: in.forget})
	return c, err
}

// Account is a person or a program at GitHub.
type Account struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// Comment is a comment on an issue or pull request.
type Comment struct {
	ID        int64     `json:"id"`
	Body      string    `json:"body"`
	User      Account   `json:"user"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	HTMLURL   string    `json:"html_url"`
	IssueURL  string    `json:"issue_url"`
	// App is the program that wrote the comment through a person's account.
	App *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// isByProgram reports whether a program wrote the comment, by itself or through a
// person's account.
func (c *Comment) isByProgram() bool { return c.User.Type != "User" || c.App != nil }

// do sends a request and decodes the response.
func (c *Client) do(ctx context.Context, act, method, path string, body, into any) (*gh.Response, error) {
	req, err := c.api.NewRequest(ctx, method, path, body)
	if err != nil {
		return nil, apiFailure(act, err)
	}
	resp, err := c.api.Do(req, into)
	return resp, apiFailure(act, err)
}

// Self returns the account under which the client writes.
func (c *Client) Self(ctx context.Context) (Account, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.self.ID != 0 {
		return c.self, nil
	}
	path := "user"
	if c.app != nil {
		app, _, err := c.app.Apps.Get(ctx, "")
		if err != nil {
			return Account{}, apiFailure("ask GitHub for the App", err)
		}
		path = "users/" + url.PathEscape(app.GetSlug()+"[bot]")
	}
	var self Account
	if _, err := c.do(ctx, "ask GitHub who this account is", http.MethodGet, path, nil, &self); err != nil {
		return Account{}, err
	}
	c.self = self
	return self, nil
}

// Issue returns the issue or pull request.
func (c *Client) Issue(ctx context.Context, at Place) (*gh.Issue, error) {
	issue, _, err := c.api.Issues.Get(ctx, at.Owner, at.Repo, at.Number)
	return issue, apiFailure("read "+at.String(), err)
}

// maxPages is how many pages of a list are read at most.
const maxPages = 50

// Comments returns the comments of an issue that were written or changed after
// since, oldest first.
func (c *Client) Comments(ctx context.Context, at Place, since time.Time) ([]Comment, error) {
	var all []Comment
	query := url.Values{"per_page": {"100"}}
	if !since.IsZero() {
		query.Set("since", since.UTC().Format(time.RFC3339))
	}
	for n := 1; n != 0 && n <= maxPages; {
		query.Set("page", strconv.Itoa(n))
		var some []Comment
		resp, err := c.do(ctx, "read the comments of "+at.String(), http.MethodGet,
			fmt.Sprintf("repos/%s/issues/%d/comments?%s", at.Repository(), at.Number, query.Encode()), nil, &some)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
		n = resp.NextPage
	}
	return all, nil
}

// Comment writes a comment.
func (c *Client) Comment(ctx context.Context, at Place, body string) (*Comment, error) {
	var written Comment
	_, err := c.do(ctx, "comment on "+at.String(), http.MethodPost,
		fmt.Sprintf("repos/%s/issues/%d/comments", at.Repository(), at.Number), map[string]string{"body": body}, &written)
	return &written, err
}

// Edit changes a comment.
func (c *Client) Edit(ctx context.Context, at Place, id int64, body string) error {
	_, err := c.do(ctx, "change a comment on "+at.String(), http.MethodPatch,
		fmt.Sprintf("repos/%s/issues/comments/%d", at.Repository(), id), map[string]string{"body": body}, nil)
	return err
}

// React adds a reaction to a comment. Adding the same reaction again changes
// nothing.
func (c *Client) React(ctx context.Context, at Place, id int64, content string) error {
	_, _, err := c.api.Reactions.CreateIssueCommentReaction(ctx, at.Owner, at.Repo, id, content)
	return apiFailure("react to a comment on "+at.String(), err)
}

// hasReacted reports whether the client's account has reacted to a comment.
func (c *Client) hasReacted(ctx context.Context, at Place, id int64) (bool, error) {
	self, err := c.Self(ctx)
	if err != nil {
		return false, err
	}
	var list []struct {
		User Account `json:"user"`
	}
	_, err = c.do(ctx, "read the reactions on a comment on "+at.String(), http.MethodGet,
		fmt.Sprintf("repos/%s/issues/comments/%d/reactions?per_page=100", at.Repository(), id), nil, &list)
	for _, r := range list {
		if r.User.ID == self.ID {
			return true, nil
		}
	}
	return false, err
}

// Label sets a label on an issue.
func (c *Client) Label(ctx context.Context, at Place, label string) error {
	_, _, err := c.api.Issues.AddLabelsToIssue(ctx, at.Owner, at.Repo, at.Number, []string{label})
	return apiFailure("label "+at.String(), err)
}

// Unlabel removes a label from an issue, if the issue has it.
func (c *Client) Unlabel(ctx context.Context, at Place, label string) error {
	_, err := c.api.Issues.RemoveLabelForIssue(ctx, at.Owner, at.Repo, at.Number, url.PathEscape(label))
	if err = apiFailure("take a label off "+at.String(), err); StatusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// Assign assigns people to an issue, and returns those that were not assigned
// before. GitHub silently leaves out people who cannot be assigned.
func (c *Client) Assign(ctx context.Context, at Place, logins []string) ([]string, error) {
	before, err := c.Issue(ctx, at)
	if err != nil {
		return nil, err
	}
	after, _, err := c.api.Issues.AddAssignees(ctx, at.Owner, at.Repo, at.Number, logins)
	if err != nil {
		return nil, apiFailure("assign "+at.String(), err)
	}
	had := map[int64]bool{}
	for _, u := range before.Assignees {
		had[u.GetID()] = true
	}
	var added []string
	for _, u := range after.Assignees {
		if !had[u.GetID()] {
			added = append(added, u.GetLogin())
		}
	}
	return added, nil
}

// Unassign removes people from an issue.
func (c *Client) Unassign(ctx context.Context, at Place, logins []string) error {
	_, _, err := c.api.Issues.RemoveAssignees(ctx, at.Owner, at.Repo, at.Number, logins)
	return apiFailure("take people off "+at.String(), err)
}

// Login returns the current login of the account with this id.
func (c *Client) Login(ctx context.Context, id int64) (string, error) {
	c.mu.Lock()
	login := c.logins[id]
	c.mu.Unlock()
	if login != "" {
		return login, nil
	}
	var a Account
	if _, err := c.do(ctx, "ask GitHub for a login", http.MethodGet, "user/"+strconv.FormatInt(id, 10), nil, &a); err != nil {
		return "", err
	}
	if !ownerPattern().MatchString(a.Login) {
		return "", apiFailure("ask GitHub for a login", errors.New("it is malformed"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.logins[id] = a.Login
	return a.Login, nil
}
