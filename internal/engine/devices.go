package engine

import (
	"context"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// PasskeysOf lists a member's passkeys.
func (e *Engine) PasskeysOf(ctx context.Context, c fermata.Caller, handleOrID string) ([]*fermata.Passkey, error) {
	m, err := e.resolveMember(ctx, c, fermata.ToReadOwn, handleOrID)
	if err != nil {
		return nil, err
	}
	return e.reader(ctx, c).PasskeysOf(m.ID)
}

// SessionsOf lists the browser sessions in which a member is signed in.
func (e *Engine) SessionsOf(ctx context.Context, c fermata.Caller, handleOrID string) ([]*fermata.BrowserSession, error) {
	m, err := e.resolveMember(ctx, c, fermata.ToReadOwn, handleOrID)
	if err != nil {
		return nil, err
	}
	return e.openSessions(ctx, c, m.ID)
}

// EndSessionsOf signs a member out of every browser and stops push messages to those browsers. It returns the number of
// browsers. It also ends the member's sign-in links, and those that the member created for others.
func (e *Engine) EndSessionsOf(ctx context.Context, c fermata.Caller, handleOrID string) (int, error) {
	m, err := e.resolveMember(ctx, c, fermata.ToChangeOwn, handleOrID)
	if err != nil {
		return 0, err
	}
	var n int
	err = e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		all, err := tx.SessionsOf(m.ID)
		n = 0
		for _, s := range all {
			if !s.IsEnded(tx.Now()) {
				n++
				tx.DeleteSession(s.ID)
				tx.Append(signedOutEvent(c, s))
			}
		}
		if err != nil {
			return err
		}
		if err := removeDevices(tx, c.Actor(), m.ID, func(d *fermata.Device) bool { return !d.IsHeldByToken() }); err != nil {
			return err
		}
		// Invitations stay valid, so that invited people do not lose them.
		return deleteLinks(tx, func(l *fermata.Link) bool {
			return l.MemberID == m.ID || isMadeBy(l, m.ID) && l.Method != fermata.SignInByInvitation
		})
	})
	return n, err
}

// signedOutEvent returns the event that says that a session was ended.
func signedOutEvent(c fermata.Caller, s *fermata.BrowserSession) *fermata.Event {
	return &fermata.Event{
		Type: fermata.EventMemberSignedOut, Actor: c.Actor(), Data: encodeData(map[string]any{"session_id": s.ID, "member_id": s.MemberID}),
	}
}

// removeDevices removes the devices of a member for which matches returns true.
func removeDevices(tx *store.Tx, by fermata.Actor, memberID string, matches func(*fermata.Device) bool) error {
	all, err := tx.DevicesOf(memberID)
	for _, d := range all {
		if matches(d) {
			tx.DeleteDevice(d.ID)
			tx.Append(&fermata.Event{
				Type: fermata.EventDeviceRemoved, Actor: by, Data: encodeData(map[string]any{"device_id": d.ID, "member_id": d.MemberID, "reason": "signed_out"}),
			})
		}
	}
	return err
}

// heldBy returns a condition for devices that were added by the session or token with the id.
func heldBy(id string) func(*fermata.Device) bool {
	return func(d *fermata.Device) bool { return d.Holder == id }
}

// anyDevice is a condition that holds for every device.
func anyDevice(*fermata.Device) bool { return true }
