package email

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/emersion/go-imap/v2"
)

const (
	placeKey = "mailbox"
	// mostSeen is how many ids of mails are remembered, so that a mail that
	// arrives twice counts once. The delivery side remembers them longer.
	mostSeen = 200
	// mostTries is how many attempts are made to tell a person. After that, the
	// message is gathered for a later mail.
	mostTries = 5
	mostAgain = 1000
)

// place is the position up to which a mailbox was read.
type place struct {
	// Validity is the UIDVALIDITY of the mailbox. UIDs are valid only together
	// with it.
	Validity uint32 `json:"validity"`
	// Next is the first UID that was not seen yet.
	Next imap.UID `json:"next"`
	// Again are the mails before Next that must be looked at again, with the
	// number of attempts.
	Again map[imap.UID]int `json:"again,omitempty"`
	Seen  []string         `json:"seen,omitempty"`
	// Owed are the messages about replies that people have not received yet.
	Owed []owed `json:"owed,omitempty"`
	// LeftOut counts the messages that were dropped because there were too
	// many, by address.
	LeftOut map[string]int `json:"left_out,omitempty"`
	// fresh reports whether the mailbox is not known yet.
	fresh bool
}

func (c *Channel) loadPlace(ctx context.Context, validity uint32) (*place, error) {
	var at place
	if c.env.Load != nil {
		text, err := c.env.Load(ctx, placeKey)
		if err != nil {
			return nil, err
		}
		if text != "" && json.Unmarshal([]byte(text), &at) != nil {
			at = place{}
		}
	}
	if at.Validity != validity || at.Next == 0 {
		// The old UIDs are void. The ids of the mails that were read remain
		// valid.
		at = place{Validity: validity, Seen: at.Seen, Owed: at.Owed, LeftOut: at.LeftOut, fresh: true}
	}
	if at.Again == nil {
		at.Again = map[imap.UID]int{}
	}
	return &at, nil
}

func (c *Channel) storePlace(ctx context.Context, at *place) error {
	if c.env.Store == nil {
		return nil
	}
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	return c.env.Store(ctx, placeKey, string(text))
}

// start begins with the existing mails: the last mostAgain of them, if there
// are more. It continues at next with the mails that arrive later.
func (at *place) start(uids []imap.UID, next imap.UID) []imap.UID {
	uids = uids[max(0, len(uids)-mostAgain):]
	for _, uid := range uids {
		at.Again[uid] = 0
	}
	at.Next, at.fresh = next, false
	return uids
}

// pass moves the place past a mail.
func (at *place) pass(uid imap.UID, done bool) {
	at.Next = max(at.Next, uid+1)
	switch {
	case done:
		delete(at.Again, uid)
	case len(at.Again) < mostAgain:
		at.Again[uid]++
	}
}

func (at *place) tries(uid imap.UID) int { return at.Again[uid] }

func (at *place) hasSeen(id string) bool { return slices.Contains(at.Seen, digest(id)) }

func (at *place) remember(id string) {
	at.Seen = append(at.Seen, digest(id))
	if len(at.Seen) > mostSeen {
		at.Seen = at.Seen[len(at.Seen)-mostSeen:]
	}
}
