package push

import (
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// authSecret is the length of a device's secret.
const authSecret = 16

// Device is a push subscription as the browser gives it.
type Device struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256dh string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys"`
}

// ParseDevice reads a subscription and says what is wrong with it.
func ParseDevice(given json.RawMessage) (*Device, error) {
	var d Device
	if err := json.Unmarshal(given, &d); err != nil {
		return nil, wrong("subscription", "is not what a browser's PushSubscription says")
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return nil, wrong("subscription.endpoint", "must be an https address")
	}
	if _, err := ecdh.P256().NewPublicKey(decode(d.Keys.P256dh)); err != nil {
		return nil, wrong("subscription.keys.p256dh", "must be a point of P-256 in base64url")
	}
	if len(decode(d.Keys.Auth)) != authSecret {
		return nil, wrong("subscription.keys.auth", "must be 16 bytes in base64url")
	}
	return &d, nil
}

func wrong(field, message string) error {
	return fermata.Invalid(fermata.Problem{Field: field, Message: message})
}

// decode takes the alphabet of addresses and the plain one, padded or not.
func decode(text string) []byte {
	text = strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(text, "="))
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return raw
}

// mayReach keeps to the hosts of the settings.
func (c *Channel) mayReach(d *Device) error {
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
	return notice.Hopeless(fermata.Errorf(fermata.CodeForbidden, "the push service %s is not one of the channel's hosts", host).
		WithHint("add it to hosts in the settings of the channel, if you trust it"))
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
