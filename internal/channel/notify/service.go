package notify

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/googlechat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/matrix"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/teams"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/zulip"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/opsgenie"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/incident/pagerduty"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/bark"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushover"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// service describes a service of the library. The library opens connections of
// its own. So each service needs its own way to keep a URL from leading into a
// private network.
type service struct {
	name string
	// title reports whether the service shows a title separately from the text.
	title bool
	// guard gives the library an HTTP client that refuses private addresses.
	guard func(types.Service, *http.Client)
	// host returns the host of a service that has no fixed host and takes no
	// client. publicHosts are hosts that are certainly public, together with
	// their subdomains.
	host        func(types.Service) string
	publicHosts []string
	// extras returns the parameters that the service takes besides the text.
	extras func(t text) map[string]string
	// send replaces the library's own method to send, if that is not reliable.
	send func(context.Context, types.Service, *http.Client, text) error
}

// noHost returns no host. It is for services that have no public hosts, so they
// need the setting allow_private.
func noHost(types.Service) string { return "" }

// services are all the services that can be reached. The service smtp is left
// out because the channel email does it better. The service logger is left out
// because it writes to the standard output.
var services = map[string]service{
	// These have a fixed host.
	"discord": {title: true}, "ifttt": {title: true}, "join": {title: true}, "lark": {title: true},
	"notifiarr": {}, "pushbullet": {title: true}, "slack": {title: true}, "telegram": {title: true, send: sendTelegram}, "wecom": {},

	// These take an HTTP client.
	"gotify":     {title: true, extras: gotifyExtras, guard: func(s types.Service, c *http.Client) { *s.(*gotify.Service).GetHTTPClient() = *c }},
	"mattermost": {guard: func(s types.Service, c *http.Client) { *s.(*mattermost.Service).GetHTTPClient() = *c }},
	"ntfy":       {title: true, extras: ntfyExtras, guard: func(s types.Service, c *http.Client) { s.(*ntfy.Service).SetHTTPClient(c) }},
	"pagerduty":  {guard: func(s types.Service, c *http.Client) { s.(*pagerduty.Service).SetHTTPClient(c) }},
	"pushover":   {title: true, extras: pushoverExtras, guard: func(s types.Service, c *http.Client) { s.(*pushover.Service).Client = c }},
	"rocketchat": {guard: func(s types.Service, c *http.Client) { s.(*rocketchat.Service).Client = c }},

	// These connect to any host that the URL names.
	"bark":       {title: true, host: func(s types.Service) string { return s.(*bark.Service).Config.Host }, publicHosts: []string{"day.app"}},
	"generic":    {title: true, host: noHost},
	"googlechat": googleChat, "hangouts": googleChat,
	"matrix":   {title: true, host: func(s types.Service) string { return s.(*matrix.Service).Config.Host }, publicHosts: []string{"matrix.org"}},
	"opsgenie": {title: true, host: func(s types.Service) string { return s.(*opsgenie.Service).Config.Host }, publicHosts: []string{"opsgenie.com"}},
	"signal":   {host: noHost},
	"teams":    {title: true, host: func(s types.Service) string { return s.(*teams.Service).Config.Host }, publicHosts: []string{"webhook.office.com"}},
	"zulip":    {host: func(s types.Service) string { return s.(*zulip.Service).Config.Host }, publicHosts: []string{"zulipchat.com"}},
}

var googleChat = service{host: func(s types.Service) string { return s.(*googlechat.Service).Config.Host }, publicHosts: []string{"googleapis.com"}}

// findService returns the service that a URL names.
func findService(u *url.URL) (service, error) {
	name, _, _ := strings.Cut(strings.ToLower(u.Scheme), "+")
	s, ok := services[name]
	if !ok {
		return s, wrongURL("names the service \""+name+"\", which is not known").
			WithHint("there are: %s", strings.Join(slices.Sorted(maps.Keys(services)), ", "))
	}
	s.name = name
	if name == "matrix" && u.User.Username() != "" {
		// With a name and a password, the library would sign in each time it
		// opens the URL.
		return s, wrongURL("has a name and a password").WithHint("matrix takes an access token: matrix://:TOKEN@HOST/?rooms=ROOM")
	}
	return s, nil
}

// protect makes the library's service refuse private addresses. If it cannot do
// that, it returns an error, unless the host is fixed or certainly public.
func (s service) protect(opened types.Service, client *http.Client) error {
	if s.guard != nil {
		s.guard(opened, client)
	}
	if s.host == nil || isBelow(s.host(opened), s.publicHosts) {
		return nil
	}
	hint := "set allow_private if the service may be in your own network"
	if s.name == "generic" {
		hint += "; for your own programs take a channel of the kind webhook, which signs what it sends"
	}
	return wrongURL("may lead to a private address, which is not checked for the service "+s.name).WithHint("%s", hint)
}

// plainHost matches a host name, with or without a port.
var plainHost = lazyregexp.New(`^([a-z0-9.-]+?)\.?(:[0-9]+)?$`)

// isBelow reports whether a host is one of the known hosts, or a subdomain of
// one.
func isBelow(host string, known []string) bool {
	match := plainHost().FindStringSubmatch(strings.ToLower(host))
	return match != nil && slices.ContainsFunc(known, func(k string) bool {
		return match[1] == k || strings.HasSuffix(match[1], "."+k)
	})
}

// deliver sends a text through the service of the library.
func (s service) deliver(ctx context.Context, opened types.Service, client *http.Client, t text) error {
	if s.send != nil {
		return s.send(ctx, opened, client, t)
	}
	params, body := types.Params{}, t.joinTitle()
	if s.title {
		params.SetTitle(t.title)
		body = t.body
	}
	if s.extras != nil {
		maps.Copy(params, s.extras(t))
	}
	return opened.Send(body, &params)
}
