package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v89/github"

	"github.com/fermata-hq/fermata"
)

// findings are the problems that a check has found, each with its remedy.
type findings struct {
	code   fermata.Code
	list   []fermata.Problem
	remedy []string
}

func (f *findings) add(field, message, remedy string) {
	f.list = append(f.list, fermata.Problem{Field: field, Message: message})
	if !slices.Contains(f.remedy, remedy) {
		f.remedy = append(f.remedy, remedy)
	}
}

// addError adds an error of the API, with its own remedy.
func (f *findings) addError(field string, err error) {
	e := asError(err)
	f.code = e.Code
	f.add(field, e.Message, e.Hint)
}

func (f *findings) err() error {
	if len(f.list) == 0 {
		return nil
	}
	code := f.code
	if code == "" {
		code = fermata.CodeInvalidRequest
	}
	messages := make([]string, 0, len(f.list))
	for _, p := range f.list {
		messages = append(messages, p.Message)
	}
	e := fermata.Errorf(code, "%s", strings.Join(messages, "; ")).WithHint("%s", strings.Join(f.remedy, "; "))
	e.Problems = f.list
	return e
}

// Check asks GitHub whether the account works, has the permissions that the
// channel needs, and reaches every repository that the settings name.
func (c *Channel) Check(ctx context.Context) error {
	f := &findings{}
	if c.settings.AppID == 0 {
		c.checkToken(ctx, f)
	} else {
		c.checkApp(ctx, f)
	}
	if len(f.list) == 0 {
		for _, name := range c.settings.namedRepositories() {
			c.checkRepository(ctx, name, f)
		}
		c.checkIssue(ctx, f)
	}
	if c.settings.WebhookSecret != "" && c.env.PublicURL == "" && c.pollInterval == 0 {
		f.add("settings.webhook_secret", "GitHub cannot reach this server: it has no public address, and poll is off",
			"start the server with its public address, or set poll")
	}
	return f.err()
}

func (c *Channel) checkToken(ctx context.Context, f *findings) {
	resp, err := c.client.do(ctx, "ask GitHub who the token is", http.MethodGet, "user", nil, nil)
	if StatusOf(err) == http.StatusForbidden {
		f.add("settings.token", "the token is of no person's or machine's account",
			"give a personal access token, or app_id, private_key and installation_id")
		return
	}
	if err != nil {
		f.addError("settings.token", err)
		return
	}
	// Only classic tokens report their scopes.
	if header := resp.Header.Values("X-OAuth-Scopes"); len(header) > 0 {
		scopes := strings.FieldsFunc(strings.Join(header, ","), func(r rune) bool { return r == ',' || r == ' ' })
		if !slices.Contains(scopes, "repo") && !slices.Contains(scopes, "public_repo") {
			f.add("settings.token", "the token has neither the scope repo nor public_repo",
				"give it the scope repo (or public_repo, where all repositories are public)")
		}
	}
}

func (c *Channel) checkApp(ctx context.Context, f *findings) {
	in, _, err := c.client.app.Apps.GetInstallation(ctx, c.settings.InstallationID)
	if err = apiFailure("read the App's installation", err); err != nil {
		f.addError("settings.installation_id", err)
		return
	}
	if !in.GetSuspendedAt().IsZero() {
		f.add("settings.installation_id", "the App's installation is suspended", "let an owner of the account unsuspend it")
	}
	permissions := in.GetPermissions()
	for _, need := range []struct{ name, has string }{
		{"Issues", permissions.GetIssues()}, {"Pull requests", permissions.GetPullRequests()},
	} {
		if need.has != "write" {
			f.add("settings.app_id", "the App lacks the permission "+need.name+": read and write",
				"set it in the App's settings, and let an owner accept it")
		}
	}
	if c.settings.WebhookSecret != "" && !slices.Contains(in.Events, "issue_comment") {
		f.add("settings.webhook_secret", "the App does not subscribe to the event Issue comment",
			"tick it in the App's settings under Permissions & events")
	}
	if len(f.list) > 0 {
		return
	}
	if _, err := c.client.Self(ctx); err != nil {
		f.addError("settings.app_id", err)
	}
}

func (c *Channel) checkRepository(ctx context.Context, name string, f *findings) {
	ownerName, repoName, _ := cutRepository(name)
	r, _, err := c.client.api.Repositories.Get(ctx, ownerName, repoName)
	if err = apiFailure("read "+name, err); err != nil {
		f.addError("settings.repository", err)
		return
	}
	if r.GetArchived() {
		f.add("settings.repository", name+" is archived: nobody can comment there", "name another repository")
	}
	// The permissions of an App are those of its installation.
	if c.settings.AppID == 0 && !mayWrite(r) {
		f.add("settings.repository", "the account may not write to "+name+", so it cannot see who may",
			"give it the role Write, and a fine-grained token the permission Issues: read and write")
	}
}

func mayWrite(r *gh.Repository) bool {
	p := r.GetPermissions()
	return p.GetPush() || p.GetMaintain() || p.GetAdmin()
}

func (c *Channel) checkIssue(ctx context.Context, f *findings) {
	if c.settings.Issue == 0 {
		return
	}
	at := Place{Number: c.settings.Issue}
	at.Owner, at.Repo, _ = cutRepository(c.settings.Repository)
	issue, err := c.client.Issue(ctx, at)
	if err != nil {
		f.addError("settings.issue", err)
		return
	}
	if issue.GetLocked() {
		f.add("settings.issue", fmt.Sprintf("the conversation on %s is locked", at), "unlock it, or name another issue")
	}
}
