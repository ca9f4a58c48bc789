package fermata

import (
	"crypto/rand"
	"encoding/binary"
	"strings"
	"sync"
	"time"
)

// Prefixes of identifiers. An id is a prefix, an underscore and 20 characters
// in Crockford's base 32 (lower case). They encode 50 bits of time in
// milliseconds and then 50 random bits, so that ids sort by their creation
// time.
const (
	PrefixTask     = "task"
	PrefixQuestion = "q"
	PrefixRun      = "run"
	PrefixMessage  = "msg"
	PrefixToken    = "tok"
	PrefixMember   = "mem"
	PrefixGateRule = "rule"
	PrefixSession  = "ses"
	PrefixLink     = "link"
	PrefixPasskey  = "pk"
)

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// idLength is the number of characters after the prefix.
const idLength = 20

// lastRandom holds the random part of the newest id of each recent millisecond. It forgets a millisecond after at
// least recentMillis others were used. With it, ids of one millisecond sort in the order in which this process
// created them. That order matters: tasks are claimed, and messages are read, in the order of their ids.
var lastRandom = struct {
	sync.Mutex
	recent, earlier map[int64]uint64
}{recent: map[int64]uint64{}}

const recentMillis = 256

// NewID returns a new identifier. It sorts by the instant now, and after the
// ids that this process created earlier for the same millisecond.
func NewID(prefix string, now time.Time) string {
	millis := now.UnixMilli()
	var sb strings.Builder
	sb.Grow(len(prefix) + 1 + idLength)
	sb.WriteString(prefix)
	sb.WriteByte('_')
	writeBase32(&sb, uint64(millis), 10)
	writeBase32(&sb, nextRandom(millis), 10)
	return sb.String()
}

// nextRandom returns the random part of an id. It is greater than all earlier
// random parts of the same millisecond.
func nextRandom(millis int64) uint64 {
	lastRandom.Lock()
	defer lastRandom.Unlock()
	random, known := lastRandom.recent[millis]
	if !known {
		random, known = lastRandom.earlier[millis]
	}
	if known {
		random += 1 + randomBits()>>44
	} else {
		// The highest bit starts as 0, which leaves room for the increments.
		random = randomBits() >> 15
	}
	if len(lastRandom.recent) == recentMillis {
		lastRandom.earlier, lastRandom.recent = lastRandom.recent, make(map[int64]uint64, recentMillis)
	}
	lastRandom.recent[millis] = random
	return random
}

func randomBits() uint64 {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		// crypto/rand never fails on the systems that Go supports. An id that
		// is not random must never be returned.
		panic("fermata: no random numbers: " + err.Error())
	}
	return binary.BigEndian.Uint64(b[:])
}

// FirstID returns a text that sorts after all identifiers with the prefix that were created before an instant, and before
// all others.
func FirstID(prefix string, at time.Time) string {
	var sb strings.Builder
	sb.WriteString(prefix + "_")
	writeBase32(&sb, uint64(at.UnixMilli()), 10)
	return sb.String()
}

func writeBase32(sb *strings.Builder, v uint64, chars int) {
	for shift := (chars - 1) * 5; shift >= 0; shift -= 5 {
		sb.WriteByte(idAlphabet[v>>shift&31])
	}
}

// IsID reports whether s is a whole identifier with the given prefix, and not
// only the end of one.
func IsID(prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, prefix+"_")
	return ok && len(rest) == idLength && hasOnlyIDCharacters(rest)
}

// MinIDSuffix is the minimum number of characters at an id's end that people
// may type instead of the id. Terminals show this many.
const MinIDSuffix = 6

// IDSuffix returns the part of s that identifies an id with the given prefix.
// People may type a short ending, with or without the prefix. It returns false
// if s cannot be the ending of an id, or is so short that it could mean another
// id.
func IDSuffix(prefix, s string) (string, bool) {
	s = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), prefix+"_")
	if len(s) < MinIDSuffix || len(s) > idLength || !hasOnlyIDCharacters(s) {
		return "", false
	}
	return s, true
}

func hasOnlyIDCharacters(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune(idAlphabet, r) {
			return false
		}
	}
	return true
}

// TruncateTime returns t in UTC with millisecond precision, which both databases store.
func TruncateTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
