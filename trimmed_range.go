package fermata

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"time"
)

// TrimmedRange is a range of the event chain from which retention removed events. It is signed with the key of the
// checkpoints, so the chain stays verifiable: the range says how it begins and ends, and which of its events were kept.
type TrimmedRange struct {
	Workspace string `json:"workspace"`
	// First and Last are the numbers of the first and the last event of the range, whether or not they were kept.
	First int64 `json:"first"`
	Last  int64 `json:"last"`
	// PrevHash is the hash of the event before the range, or "" if there is none. Hash is the hash of the last event.
	PrevHash string `json:"prev_hash"`
	Hash     string `json:"hash"`
	// Kept is the number of events that were kept. KeptHash is the SHA-256 of their hashes, in order; see [HashEvents].
	Kept     int64  `json:"kept"`
	KeptHash string `json:"kept_hash"`
	// At is the instant of the signature.
	At time.Time `json:"at"`
}

// SignedTrimmedRange is a trimmed range with its signature.
type SignedTrimmedRange struct {
	TrimmedRange
	// Note is a signed note (C2SP signed-note) whose text is [TrimmedRange.Text].
	Note string `json:"note"`
}

// trimmedRangeTitle is the first line of the text of every trimmed range. No other signed text begins with it.
const trimmedRangeTitle = "fermata trimmed range"

// Text returns the text that the signature of a trimmed range covers. Each field has a line of its own, after the title.
func (r TrimmedRange) Text() string {
	return fmt.Sprintf("%s\n%s\n%d\n%d\n%s\n%s\n%d\n%s\n%s\n", trimmedRangeTitle, r.Workspace, r.First, r.Last, r.PrevHash, r.Hash, r.Kept, r.KeptHash,
		r.At.UTC().Format(time.RFC3339Nano))
}

// Removed returns the number of events that were removed from the range.
func (r TrimmedRange) Removed() int64 { return r.Last - r.First + 1 - r.Kept }

// HashEvents returns the hash over the hashes of some events, as [TrimmedRange.KeptHash] contains it.
func HashEvents(events []*Event) string {
	sum := sha256.New()
	for _, e := range events {
		sum.Write([]byte(e.Hash))
	}
	return hashSum(sum)
}

func hashSum(h hash.Hash) string { return base64.RawURLEncoding.EncodeToString(h.Sum(nil)) }

// ChainVerification verifies a chain from which retention may have removed events. The zero value begins with event 1.
type ChainVerification struct {
	Chain
	// trimmed is the range that is being verified, or nil.
	trimmed *trimmedEvents
}

// trimmedEvents verifies the events that were kept in a range.
type trimmedEvents struct {
	TrimmedRange
	kept, last int64
	sum        hash.Hash
}

// EnterRange continues the chain with a trimmed range. The caller must have verified the signature of the range.
func (v *ChainVerification) EnterRange(r TrimmedRange) error {
	if err := v.Finish(); err != nil {
		return err
	}
	switch {
	case r.First != v.Seq+1 || r.Last < r.First:
		return fmt.Errorf("the trimmed range from event %d to %d follows event %d: the numbers have a gap or are out of order", r.First, r.Last, v.Seq)
	case r.PrevHash != v.Hash:
		return fmt.Errorf("the trimmed range from event %d on does not hold the hash of event %d", r.First, v.Seq)
	}
	v.trimmed = &trimmedEvents{TrimmedRange: r, last: v.Seq, sum: sha256.New()}
	return nil
}

// VerifyNext verifies the next event: one that was kept in the trimmed range, or the one that follows the chain.
func (v *ChainVerification) VerifyNext(e *Event) error {
	if v.trimmed != nil && e.Seq <= v.trimmed.Last {
		return v.trimmed.verifyNext(e)
	}
	if err := v.Finish(); err != nil {
		return err
	}
	return v.Chain.VerifyNext(e)
}

func (t *trimmedEvents) verifyNext(e *Event) error {
	switch {
	case e.Seq <= t.last:
		return fmt.Errorf("event %d follows event %d: the numbers are out of order", e.Seq, t.last)
	case e.Hash != e.hash():
		return fmt.Errorf("event %d was changed: its hash does not fit its content", e.Seq)
	}
	t.kept, t.last = t.kept+1, e.Seq
	t.sum.Write([]byte(e.Hash))
	return nil
}

// Finish returns an error if events of the trimmed range that was entered last are missing, were added or changed. Without
// such a range it does nothing.
func (v *ChainVerification) Finish() error {
	t := v.trimmed
	if t == nil {
		return nil
	}
	if t.kept != t.Kept || hashSum(t.sum) != t.KeptHash {
		return fmt.Errorf("the trimmed range from event %d to %d has other events than were kept", t.First, t.Last)
	}
	v.trimmed = nil
	v.Seq, v.Hash = t.Last, t.Hash
	return nil
}
