package push

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

const (
	// longestTTL is the longest time for which push services store a message.
	longestTTL = 28 * 24 * time.Hour
	// closedTTL is how long the message that a question closed is worth
	// delivering.
	closedTTL = 24 * time.Hour
	// testTTL is short because the person who tests is looking at the device.
	testTTL = 5 * time.Minute
	// topicLength is the longest topic (RFC 8030, 5.4).
	topicLength = 32
	smallRecord = 2048
)

// topic returns one topic for each question. A newer message replaces the one
// that still waits for the device.
func topic(n *notice.Notice) string {
	name := tag(n)
	sum := sha256.Sum256([]byte(name))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:topicLength]
}

// ttl returns how long the message is worth delivering, in seconds. For a
// question that is until its deadline.
func ttl(n *notice.Notice, now time.Time) int {
	lifetime := longestTTL
	switch {
	case n.Purpose == notice.Test:
		lifetime = testTTL
	case n.Outcome != nil:
		lifetime = closedTTL
	case n.Question != nil && n.Question.Deadline != nil:
		lifetime = min(lifetime, n.Question.Deadline.Sub(now))
	}
	return max(0, int(lifetime/time.Second))
}

// urgency says how important it is to wake a device (RFC 8030, 5.3).
func urgency(n *notice.Notice) webpush.Urgency {
	switch {
	case n.Purpose == notice.Digest:
		return webpush.UrgencyLow
	case n.Outcome != nil:
		return webpush.UrgencyNormal
	case n.Question == nil:
		return webpush.UrgencyHigh
	case n.Question.Risk == fermata.RiskHigh || n.Question.Risk == fermata.RiskCritical || n.Question.Type.Suspends():
		return webpush.UrgencyHigh
	case n.Purpose == notice.Reminder || n.Purpose == notice.Escalated:
		return webpush.UrgencyNormal
	default:
		return webpush.UrgencyLow
	}
}
