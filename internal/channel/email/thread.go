package email

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"
)

// Ids of mails carry what a reply has to name: mail programs put the id of the
// mail they reply to, and of all before it, into In-Reply-To and References.
const (
	// replyID precedes the secret of a notice, questionID the question and the
	// person of a thread, toldID an answer to a reply.
	replyID    = "reply."
	questionID = "thread."
	toldID     = "told."
	// deliveryID is how ids of deliveries begin.
	deliveryID = "dlv_"
	// openOnly marks the secret in a mail that could not show all of what was
	// to be decided: a reply to it does not count.
	openOnly = ".open"
)

func (c *config) domain() string {
	_, domain, _ := strings.Cut(c.from.Address, "@")
	return domain
}

func (c *config) id(local string) string { return "<" + local + "@" + c.domain() + ">" }

// token returns the secret as it stands in ids and addresses, empty where it
// has characters that these cannot hold.
func token(reply string, whole bool) string {
	for _, r := range reply {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			return ""
		}
	}
	if reply != "" && !whole {
		reply += openOnly
	}
	return reply
}

// replyAddress returns where a reply goes: with the secret in it where the
// settings have a place for it and it fits.
func (c *config) replyAddress(token string) string {
	if !strings.Contains(c.replyTo, tokenPlace) {
		return c.replyTo
	}
	address := strings.Replace(c.replyTo, tokenPlace, token, 1)
	if local, _, _ := strings.Cut(address, "@"); token != "" && len(local) <= longestLocal {
		return address
	}
	// answers+{token}@… without a token is answers@…
	bare := strings.Replace(c.replyTo, "+"+tokenPlace, "", 1)
	return strings.Replace(bare, tokenPlace, "", 1)
}

// tokenOf finds the secret in an address that replies go to.
func (c *config) tokenOf(address string) string {
	before, after, ok := strings.Cut(c.replyTo, tokenPlace)
	if !ok || len(address) <= len(before)+len(after) {
		return ""
	}
	end := len(address) - len(after)
	if !strings.EqualFold(address[:len(before)], before) || !strings.EqualFold(address[end:], after) {
		return ""
	}
	return address[len(before):end]
}

// named is what the headers of a reply name.
type named struct{ token, delivery string }

// name finds what an id of ours carries; what is found first stays.
func (c *config) name(n *named, id string) {
	local, domain, ok := strings.Cut(strings.Trim(id, "<> \t"), "@")
	if !ok || !strings.EqualFold(domain, c.domain()) {
		return
	}
	if t, ok := strings.CutPrefix(local, replyID); ok && n.token == "" {
		n.token = t
	}
	if strings.HasPrefix(local, deliveryID) && n.delivery == "" {
		n.delivery, _, _ = strings.Cut(local, ".")
	}
}

func stamp(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 36) }

// digest makes an id of any text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

// cutOpenOnly takes the mark off a secret; whole is false where it was there.
func cutOpenOnly(token string) (secret string, whole bool) {
	secret, marked := strings.CutSuffix(token, openOnly)
	return secret, !marked
}
