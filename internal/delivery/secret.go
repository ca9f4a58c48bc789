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
	// replyKeyName is the name of the key that signs reply secrets. A reply secret binds an answer to a message.
	replyKeyName = "reply"
	// replySignatureLength is the number of letters of the signature. They follow the letters of the delivery's id. Both consist
	// of letters and digits that are valid in any mail address.
	replySignatureLength = 16
)

// base32Lower uses lower-case letters only, so a secret can be read even if a mail system changed its case.
var base32Lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// loadOrCreateKey returns a key of the workspace, and creates it at the first use.
func (s *Service) loadOrCreateKey(ctx context.Context, workspace, name string) ([]byte, error) {
	key, err := s.db.Reader(ctx, workspace).DeliveryKey(name)
	if err != nil || key != nil {
		return key, err
	}
	err = s.db.Write(ctx, workspace, func(tx *store.Tx) error {
		key, err = tx.DeliveryKey(name, nil)
		return err
	})
	return key, err
}

// replySecret returns the secret that an answer to the message carries.
func (ch *openChannel) replySecret(ctx context.Context, r store.Reader, d *fermata.Delivery) (string, error) {
	key, err := ch.w.s.loadOrCreateKey(ctx, ch.w.id, replyKeyName)
	if err != nil {
		return "", err
	}
	generation, err := ch.replyGeneration(r, d)
	if err != nil {
		return "", err
	}
	id := strings.TrimPrefix(d.ID, fermata.PrefixDelivery+"_")
	return id + signature(key, ch.w.id, id, generation), nil
}

// replyGeneration returns how many times the links of a message's recipient were revoked. Secrets of earlier
// generations are refused. A channel that always vouches for people does not identify them by the secret, so its
// secrets stay valid.
func (ch *openChannel) replyGeneration(r store.Reader, d *fermata.Delivery) (int64, error) {
	if _, mayNotVouch := ch.channel.(Voucher); !mayNotVouch || d.MemberID == "" {
		return 0, nil
	}
	return r.AnswerLinkGeneration(d.MemberID)
}

// signature signs the id of a delivery. Generation 0 adds nothing to the signed text, so that secrets of versions
// without generations stay valid.
func signature(key []byte, workspace, id string, generation int64) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(workspace + "\x00" + id))
	if generation > 0 {
		mac.Write([]byte("\x00" + strconv.FormatInt(generation, 10)))
	}
	return base32Lower.EncodeToString(mac.Sum(nil))[:replySignatureLength]
}

// deliveryByReply returns the delivery to which the secret belongs.
func (ch *openChannel) deliveryByReply(ctx context.Context, r store.Reader, secret string) (*fermata.Delivery, error) {
	key, err := ch.w.s.loadOrCreateKey(ctx, ch.w.id, replyKeyName)
	if err != nil {
		return nil, err
	}
	secret = strings.ToLower(secret)
	cut := len(secret) - replySignatureLength
	if cut < 1 {
		return nil, unknownQuestionError()
	}
	d, err := r.Delivery(fermata.PrefixDelivery + "_" + secret[:cut])
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil, unknownQuestionError()
	}
	if err != nil {
		return nil, err
	}
	generation, err := ch.replyGeneration(r, d)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(signature(key, ch.w.id, secret[:cut], generation)), []byte(secret[cut:])) {
		return nil, unknownQuestionError()
	}
	return d, nil
}
