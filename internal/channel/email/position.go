package email

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/emersion/go-imap/v2"
)

const (
	positionKey = "mailbox"
	// maxSeen is how many ids of mails are remembered, so that a mail that arrives twice counts once. The package
	// delivery remembers them longer.
	maxSeen = 200
	// maxTellAttempts is how many attempts are made to tell a person. After that, the message is added to the pending
	// ones.
	maxTellAttempts = 5
	maxRetryMails   = 1000
)

// mailboxPosition is the position up to which a mailbox was read.
type mailboxPosition struct {
	// Validity is the UIDVALIDITY of the mailbox. UIDs are valid only together
	// with it.
	Validity uint32 `json:"validity"`
	// Next is the first UID that was not seen yet.
	Next imap.UID `json:"next"`
	// Retry are the mails before Next that must be read again, with the number of attempts.
	Retry map[imap.UID]int `json:"again,omitempty"`
	Seen  []string         `json:"seen,omitempty"`
	// Pending are the messages about replies that people have not received yet.
	Pending []pendingMessage `json:"owed,omitempty"`
	// Dropped counts the messages that were dropped because there were too
	// many, by address.
	Dropped map[string]int `json:"left_out,omitempty"`
	// isNew reports whether the mailbox is not known yet.
	isNew bool
}

func (c *Channel) loadPosition(ctx context.Context, validity uint32) (*mailboxPosition, error) {
	var pos mailboxPosition
	if c.env.Load != nil {
		text, err := c.env.Load(ctx, positionKey)
		if err != nil {
			return nil, err
		}
		if text != "" && json.Unmarshal([]byte(text), &pos) != nil {
			pos = mailboxPosition{}
		}
	}
	if pos.Validity != validity || pos.Next == 0 {
		// The old UIDs are void. The ids of the mails that were read remain
		// valid.
		pos = mailboxPosition{Validity: validity, Seen: pos.Seen, Pending: pos.Pending, Dropped: pos.Dropped, isNew: true}
	}
	if pos.Retry == nil {
		pos.Retry = map[imap.UID]int{}
	}
	return &pos, nil
}

func (c *Channel) storePosition(ctx context.Context, pos *mailboxPosition) error {
	if c.env.Store == nil {
		return nil
	}
	text, err := json.Marshal(pos)
	if err != nil {
		return err
	}
	return c.env.Store(ctx, positionKey, string(text))
}

// start returns the existing mails that are read first: the last maxRetryMails of them, if there are more. It sets the
// position to next, the UID of the first mail that arrives later.
func (pos *mailboxPosition) start(uids []imap.UID, next imap.UID) []imap.UID {
	uids = uids[max(0, len(uids)-maxRetryMails):]
	for _, uid := range uids {
		pos.Retry[uid] = 0
	}
	pos.Next, pos.isNew = next, false
	return uids
}

// advance moves the position past a mail. If the mail is not done, it is read again later, unless too many mails wait
// for that.
func (pos *mailboxPosition) advance(uid imap.UID, done bool) {
	pos.Next = max(pos.Next, uid+1)
	switch {
	case done:
		delete(pos.Retry, uid)
	case len(pos.Retry) < maxRetryMails:
		pos.Retry[uid]++
	}
}

func (pos *mailboxPosition) attempts(uid imap.UID) int { return pos.Retry[uid] }

func (pos *mailboxPosition) hasSeen(id string) bool { return slices.Contains(pos.Seen, digest(id)) }

func (pos *mailboxPosition) remember(id string) {
	pos.Seen = append(pos.Seen, digest(id))
	if len(pos.Seen) > maxSeen {
		pos.Seen = pos.Seen[len(pos.Seen)-maxSeen:]
	}
}
