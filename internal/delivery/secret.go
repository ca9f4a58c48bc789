package delivery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// replyKey names the key that signs what binds an answer to a message.
	replyKey = "reply"
	// replySum is how many letters of the signature follow the delivery's; both
	// are letters and digits that survive any mail address.
	replySum = 16
)

// base32Lower has no letters that only differ in case.
var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// key returns a key that the workspace keeps; it is made at its first use.
func (s *Service) key(ctx context.Context, workspace, name string) ([]byte, error) {
	key, err := s.db.In(ctx, workspace).DeliveryKey(name)
	if err != nil || key != nil {
		return key, err
	}
	err = s.db.Write(ctx, workspace, func(tx *store.Tx) error {
		key, err = tx.DeliveryKey(name, nil)
		return err
	})
	return key, err
}

// replySecret returns what an answer carries that comes back to a message.
func (l *openChannel) replySecret(ctx context.Context, r store.Reader, d *fermata.Delivery) (string, error) {
	key, err := l.w.s.key(ctx, l.w.id, replyKey)
	if err != nil {
		return "", err
	}
	generation, err := l.replyGeneration(r, d)
	if err != nil {
		return "", err
	}
	id := strings.TrimPrefix(d.ID, fermata.PrefixDelivery+"_")
	return id + signature(key, l.w.id, id, generation), nil
}

// replyGeneration returns how often the links of a message's recipient were taken back. Secrets of earlier generations are refused.
// A channel that knows people by itself needs no secret to know them, so its secrets stay valid.
func (l *openChannel) replyGeneration(r store.Reader, d *fermata.Delivery) (int64, error) {
	if _, mayNotVouch := l.channel.(Voucher); !mayNotVouch || d.MemberID == "" {
		return 0, nil
	}
	return r.AnswerLinkGeneration(d.MemberID)
}

// signature signs the id of a delivery. Generation 0 is signed as in versions without generations.
func signature(key []byte, workspace, id string, generation int64) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(workspace + "\x00" + id))
	if generation > 0 {
		mac.Write([]byte("\x00" + strconv.FormatInt(generation, 10)))
	}
	return base32Lower.EncodeToString(mac.Sum(nil))[:replySum]
}

// openReply returns the delivery that the secret belongs to.
func (l *openChannel) openReply(ctx context.Context, r store.Reader, secret string) (*fermata.Delivery, error) {
	key, err := l.w.s.key(ctx, l.w.id, replyKey)
	if err != nil {
		return nil, err
	}
	secret = strings.ToLower(secret)
	cut := len(secret) - replySum
	if cut < 1 {
		return nil, errUnknownQuestion()
	}
	d, err := r.Delivery(fermata.PrefixDelivery + "_" + secret[:cut])
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, errUnknownQuestion()
	}
	if err != nil {
		return nil, err
	}
	generation, err := l.replyGeneration(r, d)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(signature(key, l.w.id, secret[:cut], generation)), []byte(secret[cut:])) {
		return nil, errUnknownQuestion()
	}
	return d, nil
}
