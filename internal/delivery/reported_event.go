package delivery

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// recordReportedEvent adds an event for a fact that a remote system reported. Its
// id is stored in the same transaction, so that a repeated report counts once.
func (ch *openChannel) recordReportedEvent(ctx context.Context, id string, h *notice.RemoteEvent) (notice.Verdict, error) {
	if id == "" {
		return notice.Verdict{}, fermata.Errorf(fermata.CodeInvalidRequest, "the reported event has no id, so it could count twice")
	}
	v := storedVerdict{Counted: true, Words: "It is on record."}
	channel := ch.info().ID
	err := ch.w.s.db.Write(ctx, ch.w.id, func(tx *store.Tx) error {
		before, err := tx.InboundVerdict(channel, id)
		if err != nil || before != nil {
			return err
		}
		tx.SaveInboundVerdict(channel, id, mustJSON(v))
		by, err := actorOf(tx, h.By)
		if err != nil {
			return err
		}
		tx.Append(&fermata.Event{Type: h.Type, Actor: by, Data: mustJSON(h.Data)})
		return nil
	})
	return notice.Verdict{Counted: err == nil, Words: v.Words}, err
}

// actorOf returns the member with the identity, or the system if there is none.
func actorOf(tx *store.Tx, i notice.Identity) (fermata.Actor, error) {
	known, err := tx.Identity(i.Kind, i.ID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.SystemActor, nil
	}
	if err != nil {
		return fermata.SystemActor, err
	}
	m, err := tx.Member(known.MemberID)
	if err != nil {
		return fermata.SystemActor, err
	}
	return m.Actor(), nil
}
