package email

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/emersion/go-imap/v2"
)

const (
	placeKey = "mailbox"
	// mostSeen is how many ids of mails are remembered, so that one that
	// arrives twice counts once; delivery remembers longer.
	mostSeen = 200
	// mostTries is how often telling a person is tried before it is gathered with
	// what is told later.
	mostTries = 5
	mostAgain = 1000
)

// place is how far a mailbox was read.
type place struct {
	// Validity tells one life of the mailbox from another: UIDs hold within it.
	Validity uint32 `json:"validity"`
	// Next is the first UID that was not seen yet.
	Next imap.UID `json:"next"`
	// Again are the mails before it that have to be looked at once more, with
	// how often that was tried.
	Again map[imap.UID]int `json:"again,omitempty"`
	Seen  []string         `json:"seen,omitempty"`
	// Owed is what people are still to be told of replies.
	Owed []owed `json:"owed,omitempty"`
	// LeftOut counts, by address, what was dropped because too much was owed.
	LeftOut map[string]int `json:"left_out,omitempty"`
	// fresh says that nothing is known of the mailbox yet.
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
		// What the UIDs were is void, what was read is not.
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

// start begins with the mails that are there, the last of them if they are too
// many, and goes on with those that come.
func (at *place) start(uids []imap.UID, next imap.UID) []imap.UID {
	uids = uids[max(0, len(uids)-mostAgain):]
	for _, uid := range uids {
		at.Again[uid] = 0
	}
	at.Next, at.fresh = next, false
	return uids
}

// pass goes on behind a mail.
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
