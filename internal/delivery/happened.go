package delivery

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// recordHappening adds an event for a fact that a remote system reported. Its
// id is stored in the same transaction, so that a repeated report counts once.
func (l *openChannel) recordHappening(ctx context.Context, id string, h *notice.Happening) (notice.Verdict, error) {
	if id == "" {
		return notice.Verdict{}, fermata.Errorf(fermata.CodeInvalidRequest, "what happened has no id, so it could count twice")
	}
	v := remembered{Counted: true, Words: "It is on record."}
	channel := l.info().ID
	err := l.w.s.db.Write(ctx, l.w.id, func(tx *store.Tx) error {
		before, err := tx.Inbound(channel, id)
		if err != nil || before != nil {
			return err
		}
		tx.RememberInbound(channel, id, data(v))
		by, err := actorOf(tx, h.By)
		if err != nil {
			return err
		}
		tx.Append(&fermata.Event{Type: h.Type, Actor: by, Data: data(h.Data)})
		return nil
	})
	return notice.Verdict{Counted: err == nil, Words: v.Words}, err
}

// actorOf returns the member with the identity, or the system if there is none.
func actorOf(tx *store.Tx, i notice.Identity) (fermata.Actor, error) {
	known, err := tx.Identity(i.Kind, i.ID)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return fermata.System, nil
	}
	if err != nil {
		return fermata.System, err
	}
	m, err := tx.Member(known.MemberID)
	if err != nil {
		return fermata.System, err
	}
	return m.Actor(), nil
}
