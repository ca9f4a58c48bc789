package delivery

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// renewClaimInterval is how often the lease of a claim is renewed while its message is sent.
const renewClaimInterval = fermata.DeliveryLease / 3

// claim is a delivery whose lease this process holds.
type claim struct {
	*fermata.Delivery
	// lateness is the time from when the delivery was due until it was claimed.
	lateness time.Duration
	// maybeSent reports whether an earlier claim ended without a result, so that the message may have been sent.
	maybeSent bool
	// digestOthers are the other deliveries of the same digest.
	digestOthers []*fermata.Delivery
}

// claim claims those of the deliveries that are still due.
func (ch *openChannel) claim(ctx context.Context, due []store.DueRow) ([]*claim, error) {
	var ids []string
	for _, d := range due {
		ids = append(ids, d.ID)
	}
	var claims []*claim
	err := ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		claims = nil
		rows, err := tx.DeliveriesByID(ids)
		if err != nil {
			return err
		}
		claimed := map[string]bool{}
		for _, d := range rows {
			if claimed[d.ID] || !d.IsDue(tx.Now()) || d.IsLeased(tx.Now()) {
				continue
			}
			c := &claim{Delivery: d, lateness: tx.Now().Sub(*d.NextAt), maybeSent: d.LeasedUntil != nil}
			claimed[d.ID] = true
			if err := ch.claimDigestOthers(tx, c, claimed); err != nil {
				return err
			}
			d.Lease(tx.Now())
			tx.SaveDelivery(d)
			claims = append(claims, c)
		}
		return nil
	}, store.ReadAhead{Deliveries: ids})
	return claims, err
}

// claimDigestOthers claims the other deliveries that go into the same digest.
func (ch *openChannel) claimDigestOthers(tx *store.Tx, c *claim, claimed map[string]bool) error {
	if c.Purpose != string(notice.Digest) || c.State != fermata.DeliveryWaiting {
		return nil
	}
	others, err := tx.WaitingDigest(c.ChannelID, c.MemberID, c.DeviceID, tx.Now())
	if err != nil {
		return err
	}
	for _, d := range others {
		if claimed[d.ID] {
			continue
		}
		claimed[d.ID] = true
		d.Lease(tx.Now())
		tx.SaveDelivery(d)
		c.digestOthers = append(c.digestOthers, d)
	}
	return nil
}

// isHolderOf reports whether the delivery, as it is stored now, is still leased by the claim.
func (c *claim) isHolderOf(d *fermata.Delivery) bool {
	return d.LeasedUntil != nil && d.LeasedUntil.Equal(*c.LeasedUntil)
}

func idsOf(deliveries []*fermata.Delivery) []string {
	ids := make([]string, 0, len(deliveries))
	for _, d := range deliveries {
		ids = append(ids, d.ID)
	}
	return ids
}

// keepLease renews the lease of a claim until release is called. So a message that takes long is sent once, and a message
// whose process dies is soon sent by another process. After release, the claim does not change.
func (ch *openChannel) keepLease(ctx context.Context, c *claim) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runEvery(ctx, renewClaimInterval, func() {
			// A write that has begun is not cancelled, because its outcome must be known.
			if err := ch.renew(context.WithoutCancel(ctx), c); err != nil {
				ch.w.s.Log.WarnContext(ctx, "renew the lease of a delivery", "delivery", c.ID, "error", err)
			}
		})
	}()
	return func() { cancel(); <-ended }
}

// renew extends the lease of a claim, unless another process has claimed the delivery meanwhile.
func (ch *openChannel) renew(ctx context.Context, c *claim) error {
	var until *time.Time
	ids := append(idsOf(c.digestOthers), c.ID)
	err := ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		until = c.LeasedUntil
		rows, err := tx.DeliveriesByID(ids)
		if err != nil {
			return err
		}
		for _, d := range rows {
			if c.isHolderOf(d) {
				d.Lease(tx.Now())
				tx.SaveDelivery(d)
				until = d.LeasedUntil
			}
		}
		return nil
	}, store.ReadAhead{Deliveries: ids})
	if err == nil {
		c.LeasedUntil = until
	}
	return err
}
