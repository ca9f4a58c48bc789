package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	standin "github.com/fermata-hq/fermata/test/standin/github"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change  map[string]any
		prepare func(*standin.Server)
		want    string // a part of the error; empty if there is none
		hint    string
	}{
		"a token that works":      {},
		"an App that works":       {change: app},
		"an App, webhook alone":   {change: map[string]any{"app_id": standin.AppID, "repository": nil, "issue": nil}},
		"a classic token":         {prepare: func(s *standin.Server) { s.SetScopes("repo, read:org") }},
		"a classic token, public": {prepare: func(s *standin.Server) { s.SetScopes("public_repo") }},
		"too small a scope":       {prepare: func(s *standin.Server) { s.SetScopes("read:org") }, want: "neither the scope repo", hint: "give it the scope repo"},
		"a wrong token":           {change: map[string]any{"token": "ghp_wrong"}, want: "401", hint: "make a new one"},
		"an App's installation as a token": {prepare: func(s *standin.Server) { s.Fail("GET /user", 403) },
			want: "no person's or machine's account", hint: "app_id, private_key and installation_id"},
		"a wrong key":          {change: map[string]any{"app_id": 99}, want: "401", hint: "the App's key is wrong"},
		"a wrong installation": {change: map[string]any{"app_id": standin.AppID, "installation_id": 1}, want: "404", hint: "installation"},
		"suspended":            {change: app, prepare: func(s *standin.Server) { s.Suspend() }, want: "suspended", hint: "unsuspend"},
		"an App that may only read": {change: app, prepare: func(s *standin.Server) { s.Grant("issues", "read") },
			want: "lacks the permission Issues", hint: "let an owner accept"},
		"an App without the event": {change: app, prepare: func(s *standin.Server) { s.Subscribe("push") }, want: "Issue comment", hint: "Permissions & events"},
		"no such repository":       {change: map[string]any{"repository": "octo/other", "issue": nil}, want: "404", hint: "check owner, repository"},
		"another of several":       {change: map[string]any{"repositories": []string{"octo/other"}}, want: "octo/other", hint: "check owner, repository"},
		"archived":                 {prepare: func(s *standin.Server) { s.Archive() }, want: "archived", hint: "another repository"},
		"no write access":          {prepare: func(s *standin.Server) { s.Permit(standin.Machine, "read") }, want: "may not write", hint: "role Write"},
		"no such issue":            {change: map[string]any{"issue": 99}, want: "octo/hello#99", hint: "number"},
		"a locked issue":           {prepare: func(s *standin.Server) { s.LockIssue(standin.Issue) }, want: "locked", hint: "unlock"},
		"GitHub is away":           {prepare: func(s *standin.Server) { s.Close() }, want: "cannot be reached", hint: "api_url"},
		"GitHub has trouble":       {prepare: func(s *standin.Server) { s.Fail("GET /user", 502) }, want: "502", hint: "githubstatus"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, test.change)
			if test.prepare != nil {
				test.prepare(w.hub)
			}
			err := w.channel.Check(t.Context())
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var e *fermata.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, test.want) || !strings.Contains(e.Hint, test.hint) || len(e.Problems) == 0 {
				t.Errorf("found %+v, want %q with the hint %q", e, test.want, test.hint)
			}
			if err != nil && strings.Contains(err.Error(), standin.Token) {
				t.Error("the error tells the token")
			}
		})
	}
}

func TestWebhookWithoutAnAddressIsFound(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	env := w.env()
	env.PublicURL = ""
	settings := w.hub.Settings()
	settings["poll"] = "off"
	channel, err := github.Open(mustEncode(t, settings), env)
	if err != nil {
		t.Fatal(err)
	}
	if err := channel.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "no public address") {
		t.Errorf("found %v", err)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	hub := standin.New()
	t.Cleanup(hub.Close)
	tests := map[string]struct {
		change map[string]any
		want   string // the field at fault; empty if there is none
	}{
		"as they are":            {},
		"no account":             {map[string]any{"token": nil}, "token"},
		"two accounts":           {map[string]any{"app_id": 1}, "token"},
		"half an App":            {map[string]any{"token": nil, "app_id": 1}, "app_id"},
		"an App without a key":   {map[string]any{"token": nil, "app_id": 1, "installation_id": 1, "private_key": "x"}, "private_key"},
		"a key on one line":      {map[string]any{"token": nil, "app_id": 1, "installation_id": 1, "private_key": strings.ReplaceAll(hub.PrivateKey(), "\n", `\n`)}, ""},
		"no repository":          {map[string]any{"repository": nil, "issue": nil}, "repository"},
		"an issue of nothing":    {map[string]any{"repository": nil, "repositories": []string{"octo/hello"}}, "issue"},
		"a path":                 {map[string]any{"repository": "octo/../x"}, "repository"},
		"an address":             {map[string]any{"repository": "https://github.com/octo/hello"}, "repository"},
		"a dot":                  {map[string]any{"repository": "octo/.."}, "repository"},
		"too often":              {map[string]any{"poll": "10ms"}, "poll"},
		"no time":                {map[string]any{"poll": "soon"}, "poll"},
		"nobody would hear":      {map[string]any{"poll": "off", "webhook_secret": nil}, "poll"},
		"a short secret":         {map[string]any{"webhook_secret": "short"}, "webhook_secret"},
		"no API":                 {map[string]any{"api_url": "github.example"}, "api_url"},
		"a login that is none":   {map[string]any{"timeout_assignees": []string{"@ada"}}, "timeout_assignees"},
		"a setting of elsewhere": {map[string]any{"chat": "x"}, "settings.chat"},
	}
	for name, test := range tests {
		settings := hub.Settings()
		for k, v := range test.change {
			settings[k] = v
			if v == nil {
				delete(settings, k)
			}
		}
		w := &fixture{t: t, store: &memoryStore{}}
		_, err := github.Open(mustEncode(t, settings), w.env())
		var e *fermata.Error
		switch {
		case test.want == "" && err == nil:
		case test.want == "" || !errors.As(err, &e) || e.Code != fermata.CodeInvalidRequest || len(e.Problems) == 0 ||
			!strings.HasSuffix(e.Problems[0].Field, test.want):
			t.Errorf("%s: %+v, want a problem of %q", name, err, test.want)
		}
	}
}
