package github

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// keyLookback is how far back a comment with the same key is searched.
const keyLookback = 365 * 24 * time.Hour

// keyMark returns a mark with the hash of the key. The mark identifies the text
// later.
func keyMark(key string) mark {
	sum := sha256.Sum256([]byte(key))
	return mark{note: "key_" + hex.EncodeToString(sum[:16])}
}

// withKeyMark returns a text with the mark of a key at its end.
func withKeyMark(body, key string) string {
	if body == "" {
		return keyMark(key).String()
	}
	return body + "\n\n" + keyMark(key).String()
}

// hasKey reports whether a text was written under the key.
func hasKey(body, key string) bool {
	m, ok := readMark(body)
	return ok && m.note == keyMark(key).note
}

// CommentOnce writes a comment. If the client's account has already written one
// under the same key, it returns that comment instead.
func (c *Client) CommentOnce(ctx context.Context, at Place, body, key string) (written *Comment, created bool, err error) {
	self, err := c.Self(ctx)
	if err != nil {
		return nil, false, err
	}
	comments, err := c.Comments(ctx, at, time.Now().Add(-keyLookback))
	if err != nil {
		return nil, false, err
	}
	for i := range comments {
		if comments[i].User.ID == self.ID && hasKey(comments[i].Body, key) {
			return &comments[i], false, nil
		}
	}
	written, err = c.Comment(ctx, at, withKeyMark(body, key))
	return written, err == nil, err
}
