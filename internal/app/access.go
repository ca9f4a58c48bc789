package app

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/access"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/internal/engine"
)

// checkAccess returns all errors in the options for signing in.
func checkAccess(o ServeOptions) error {
	var problems []error
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			problems = append(problems, fmt.Errorf("--public-url must be an address without a path, such as https://fermata.example.com, not %q", o.PublicURL))
		}
	}
	a := o.SignIn
	if (a.SMTP == "") != (a.MailFrom == "") {
		problems = append(problems, errors.New("--smtp and --mail-from go together"))
	}
	if a.IMAP != "" && a.SMTP == "" {
		problems = append(problems, errors.New("--imap needs --smtp: replies are to mails that were sent"))
	}
	if a.MailAuthServID != "" && a.IMAP == "" {
		problems = append(problems, errors.New("--mail-authserv-id needs --imap, where the replies are read"))
	}
	if a.MailReplyTo != "" && a.IMAP == "" {
		problems = append(problems, errors.New("--mail-reply-to needs --imap, where the replies are read"))
	}
	if a.OIDCIssuer == "" && (a.OIDCClientID != "" || a.OIDCClientSecret != "") {
		problems = append(problems, errors.New("--oidc-client-id needs --oidc-issuer"))
	}
	if a.OIDCIssuer == "" && len(a.OIDCRoles) > 0 {
		problems = append(problems, errors.New("--oidc-role needs --oidc-issuer"))
	}
	if len(a.OIDCRoles) == 0 && a.OIDCGroupsClaim != "" {
		problems = append(problems, errors.New("--oidc-groups-claim needs --oidc-role"))
	}
	if o.PublicURL == "" && (a.SMTP != "" || a.OIDCIssuer != "") {
		problems = append(problems, errors.New("--public-url is needed: mails and the identity provider lead people to it"))
	}
	if len(problems) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "%w", errors.Join(problems...))
}

// signInMethods are the parts of the server that sign people in.
type signInMethods struct {
	mail     *access.Mailer
	oidc     *access.OIDC
	passkeys *access.Passkeys
}

func newSignInMethods(o ServeOptions, e *engine.Engine) (w signInMethods, err error) {
	a := o.SignIn
	if a.SMTP != "" {
		w.mail, err = access.NewMailer(access.MailOptions{
			Server: a.SMTP, From: a.MailFrom, Engine: e, Log: o.Log,
			Link: func(secret string) string { return api.LinkURL(o.PublicURL, secret) },
		})
		if err != nil {
			return w, err
		}
	}
	if a.OIDCIssuer != "" {
		w.oidc, err = access.NewOIDC(access.OIDCOptions{
			Issuer: a.OIDCIssuer, ClientID: a.OIDCClientID, ClientSecret: a.OIDCClientSecret, Name: a.OIDCName, TrustEmail: a.OIDCTrustEmail,
			Roles: a.OIDCRoles, GroupsClaim: a.OIDCGroupsClaim,
			Redirect: o.PublicURL + api.OIDCCallbackPath, Engine: e,
		})
		if err != nil {
			return w, err
		}
	}
	if host, origin := access.PasskeyHost(o.PublicURL); host != "" {
		w.passkeys, err = access.NewPasskeys(e, host, origin)
	}
	return w, err
}

// addTo adds the ways to sign in to the configuration of the server.
func (w signInMethods) addTo(c api.Config) api.Config {
	c.OIDC, c.Passkeys = w.oidc, w.passkeys
	if w.mail != nil {
		// An interface that holds a nil *access.Mailer is not nil.
		c.Mail = w.mail
	}
	return c
}
