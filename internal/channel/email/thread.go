package email

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"
	"time"
)

// The ids of Fermata's mails contain the data that a reply must bring back.
// Mail programs put the id of the mail that they reply to, and the ids of all
// mails before it, into In-Reply-To and References.
const (
	// These are prefixes of ids. After replyID comes the secret of a notice.
	// After questionID come the question and the person of a thread. responseID
	// begins the id of a mail about a reply.
	replyID    = "reply."
	questionID = "thread."
	responseID = "told."
	// deliveryID is the prefix of ids of deliveries.
	deliveryID = "dlv_"
	// openOnly marks the secret in a mail that could not show the whole action.
	// A reply to such a mail does not count.
	openOnly = ".open"
)

func (c *config) domain() string {
	_, domain, _ := strings.Cut(c.from.Address, "@")
	return domain
}

func (c *config) id(local string) string { return "<" + local + "@" + c.domain() + ">" }

// formatToken returns the secret in the form that ids and addresses use. It is empty
// if the secret has characters that they cannot hold.
func formatToken(reply string, whole bool) string {
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

// replyAddress returns the address for a reply. It contains the token if the
// settings have a placeholder for it and the address does not get too long.
func (c *config) replyAddress(token string) string {
	if !strings.Contains(c.replyTo, tokenPlaceholder) {
		return c.replyTo
	}
	address := strings.Replace(c.replyTo, tokenPlaceholder, token, 1)
	if local, _, _ := strings.Cut(address, "@"); token != "" && len(local) <= longestLocal {
		return address
	}
	// Without a token, answers+{token}@… becomes answers@…
	bare := strings.Replace(c.replyTo, "+"+tokenPlaceholder, "", 1)
	return strings.Replace(bare, tokenPlaceholder, "", 1)
}

// tokenOf finds the secret in an address that replies go to.
func (c *config) tokenOf(address string) string {
	before, after, ok := strings.Cut(c.replyTo, tokenPlaceholder)
	if !ok || len(address) <= len(before)+len(after) {
		return ""
	}
	end := len(address) - len(after)
	if !strings.EqualFold(address[:len(before)], before) || !strings.EqualFold(address[end:], after) {
		return ""
	}
	return address[len(before):end]
}

// replyTarget holds what the headers of a reply name.
type replyTarget struct{ token, delivery string }

// readMailID reads the token and the delivery from an id of Fermata's. It keeps
// a value that an earlier id gave.
func (c *config) readMailID(n *replyTarget, id string) {
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

func formatStamp(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 36) }

// digest returns an id that is derived from any text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:15]))
}

// cutOpenOnly removes the openOnly mark from a secret. whole is false if the
// mark was there.
func cutOpenOnly(token string) (secret string, whole bool) {
	secret, marked := strings.CutSuffix(token, openOnly)
	return secret, !marked
}
