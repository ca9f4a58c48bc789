package app

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	// This embeds the time zone database, so that members' time zones are known
	// on every machine.
	_ "time/tzdata"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/email"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/channel/notify"
	"github.com/fermata-hq/fermata/internal/channel/push"
	"github.com/fermata-hq/fermata/internal/channel/slack"
	"github.com/fermata-hq/fermata/internal/channel/webhook"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/outbound"
	"github.com/fermata-hq/fermata/internal/store"
)

// adaptOpen adapts a package's function for opening a channel to [delivery.Kind].
func adaptOpen[C delivery.Channel](open func(json.RawMessage, notice.Env) (C, error)) func(json.RawMessage, notice.Env) (delivery.Channel, error) {
	return func(settings json.RawMessage, env notice.Env) (delivery.Channel, error) {
		c, err := open(settings, env)
		if err != nil {
			// An interface that holds a nil C is not nil.
			return nil, err
		}
		return c, nil
	}
}

// channelKinds returns the kinds of channels that this server supports.
func channelKinds(o ServeOptions) ([]delivery.Kind, error) {
	mail := delivery.Kind{Name: email.Kind, Audience: delivery.ToPeople, Settings: email.Schema(), Secrets: email.Secrets(), Open: adaptOpen(email.Open)}
	if o.SignIn.SMTP != "" {
		settings := map[string]string{"smtp": o.SignIn.SMTP, "from": o.SignIn.MailFrom}
		if o.SignIn.IMAP != "" {
			settings["imap"] = o.SignIn.IMAP
		}
		if o.SignIn.MailAuthServID != "" {
			settings["authserv_id"] = o.SignIn.MailAuthServID
		}
		if o.SignIn.MailReplyTo != "" {
			settings["reply_to"] = o.SignIn.MailReplyTo
		}
		fixed, err := json.Marshal(settings)
		if err != nil {
			return nil, err
		}
		mail.BuiltIn, mail.FixedSettings = true, fixed
	}
	return append([]delivery.Kind{
		{Name: push.Kind, Audience: delivery.ToPeople, BuiltIn: true, Settings: push.Schema, Secrets: push.Secrets, Open: adaptOpen(push.Open)},
		mail,
		{Name: slack.Kind, Audience: delivery.ToPeopleOrPlace, Settings: slack.Schema, Secrets: slack.Secrets, Open: adaptOpen(slack.Open)},
		{Name: github.Kind, Audience: delivery.ToPlace, Public: true, Settings: github.Schema, Secrets: github.Secrets, Open: adaptOpen(github.Open)},
		{
			Name: webhook.Name, Audience: delivery.ToPlace, Settings: json.RawMessage(webhook.Schema), Secrets: webhook.Secrets,
			Prepare: webhook.Prepare, Open: adaptOpen(webhook.Open),
		},
		{
			Name: fermata.KindCallback, Audience: delivery.ToAsker, Settings: json.RawMessage(webhook.CallbackSchema), Secrets: webhook.Secrets,
			Prepare: webhook.PrepareCallback, Open: adaptOpen(webhook.OpenCallback),
		},
		{Name: notify.Name, Audience: delivery.ToPlace, Settings: json.RawMessage(notify.Schema), Secrets: notify.Secrets, Open: adaptOpen(notify.Open)},
	}, o.Channels...), nil
}

// newDelivery creates the service that delivers questions.
func newDelivery(o ServeOptions, db *store.DB, e *engine.Engine, metrics *insight.Metrics) (*delivery.Service, error) {
	kinds, err := channelKinds(o)
	if err != nil {
		return nil, err
	}
	client, err := outboundClient(o)
	if err != nil {
		return nil, err
	}
	return delivery.New(delivery.Options{
		DB: db, Engine: e, Kinds: kinds, PublicURL: o.PublicURL, HTTP: client, Log: o.Log, Observe: metrics.ObserveDelivery,
	}), nil
}

// outboundClient returns the HTTP client for addresses that people enter.
func outboundClient(o ServeOptions) (*http.Client, error) {
	allowed, err := parseNetworks("--allow-networks", o.AllowNetworks)
	if err != nil {
		return nil, err
	}
	return outbound.Client(outbound.Options{Allow: allowed}), nil
}

// parseNetworks parses the networks of a flag. A single address is a network
// with one address.
func parseNetworks(flag string, texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, s := range texts {
		s = strings.TrimSpace(s)
		network, err := netip.ParsePrefix(s)
		if at, addrErr := netip.ParseAddr(s); err != nil && addrErr == nil {
			network, err = at.Prefix(at.BitLen())
		}
		if err != nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "%s: %q is no network", flag, s).WithHint("write it like 10.0.0.0/8")
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}
