package push

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Device is a push subscription as the browser gives it.
type Device struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256dh string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys"`
}

// ParseDevice reads a push subscription. The error says what is wrong with it.
func ParseDevice(raw json.RawMessage) (*Device, error) {
	var d Device
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fermata.Invalid(fermata.Problem{Field: "subscription", Message: "is not what a browser's PushSubscription says"})
	}
	n := fermata.NewDevice{Subscription: fermata.PushSubscription{
		Endpoint: d.Endpoint, Keys: fermata.PushKeys{P256DH: d.Keys.P256dh, Auth: d.Keys.Auth},
	}}
	if err := n.Check(); err != nil {
		return nil, err
	}
	return &d, nil
}

// CheckDevice returns an error if the device belongs to a push service that the
// channel does not send to.
func (c *Channel) CheckDevice(subscription json.RawMessage) error {
	d, err := ParseDevice(subscription)
	if err != nil {
		return err
	}
	return c.checkHost(d)
}

// checkHost returns an error if the settings name hosts and the device's host is
// not one of them.
func (c *Channel) checkHost(d *Device) error {
	if len(c.Hosts) == 0 {
		return nil
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil {
		return err
	}
	host := strings.ToLower(u.Hostname())
	for _, allowed := range c.Hosts {
		allowed = strings.ToLower(allowed)
		if below, ok := strings.CutPrefix(allowed, "*"); host == allowed || ok && strings.HasPrefix(below, ".") && strings.HasSuffix(host, below) {
			return nil
		}
	}
	return notice.Permanent(fermata.Errorf(fermata.CodeForbidden, "the push service %s is not one of the channel's hosts", host).
		WithHint("add it to hosts in the settings of the channel, if you trust it"))
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
