package delivery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
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
func (s *Service) replySecret(ctx context.Context, workspace, deliveryID string) (string, error) {
	key, err := s.key(ctx, workspace, replyKey)
	if err != nil {
		return "", err
	}
	id := strings.TrimPrefix(deliveryID, fermata.PrefixDelivery+"_")
	return id + signature(key, workspace, id), nil
}

func signature(key []byte, workspace, id string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(workspace + "\x00" + id))
	return base32Lower.EncodeToString(mac.Sum(nil))[:replySum]
}

// openReply returns the delivery that the secret belongs to.
func (s *Service) openReply(ctx context.Context, workspace, secret string) (string, error) {
	key, err := s.key(ctx, workspace, replyKey)
	if err != nil {
		return "", err
	}
	secret = strings.ToLower(secret)
	cut := len(secret) - replySum
	if cut < 1 || !hmac.Equal([]byte(signature(key, workspace, secret[:cut])), []byte(secret[cut:])) {
		return "", errUnknownQuestion()
	}
	return fermata.PrefixDelivery + "_" + secret[:cut], nil
}
