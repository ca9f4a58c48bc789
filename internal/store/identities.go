package store

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/fermata-hq/fermata"
)

const identityColumns = `kind, id, name, member_id, created_at,
	COALESCE((SELECT handle FROM members m WHERE m.workspace_id = identities.workspace_id AND m.id = identities.member_id), '')`

func scanIdentity(rs rows) (fermata.Identity, error) {
	var i fermata.Identity
	var createdAt int64
	err := rs.Scan(&i.Kind, &i.ID, &i.Name, &i.MemberID, &createdAt, &i.Member)
	i.CreatedAt = instantOf(createdAt)
	return i, err
}

// Identities lists the members' identities in the systems behind channels.
func (r Reader) Identities() ([]fermata.Identity, error) {
	return list(r, scanIdentity, "SELECT "+identityColumns+" FROM identities WHERE workspace_id = $1 ORDER BY kind, id", r.workspace)
}

// Identity returns the identity with this id in the system behind a kind of channel. It names the member.
func (r Reader) Identity(kind, id string) (fermata.Identity, error) {
	return scanOne(r, "identity", id, scanIdentity,
		"SELECT "+identityColumns+" FROM identities WHERE workspace_id = $1 AND kind = $2 AND id = $3", r.workspace, kind, id)
}

// IdentitiesOf lists a member's identities in the systems behind channels.
func (r Reader) IdentitiesOf(memberID string) ([]fermata.Identity, error) {
	return list(r, scanIdentity, "SELECT "+identityColumns+" FROM identities WHERE workspace_id = $1 AND member_id = $2 ORDER BY kind", r.workspace, memberID)
}

// SetIdentity links an identity to a member, and replaces the member's identity of the same kind. The write fails if
// the identity belongs to another member.
func (tx *Tx) SetIdentity(i fermata.Identity) {
	tx.execAny("DELETE FROM identities WHERE workspace_id = $1 AND member_id = $2 AND kind = $3", tx.workspace, i.MemberID, i.Kind)
	tx.exec("INSERT INTO identities (workspace_id, kind, id, name, member_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
		tx.workspace, i.Kind, i.ID, i.Name, i.MemberID, i.CreatedAt.UnixMilli())
}

// DeleteIdentity removes a member's identity of a kind.
func (tx *Tx) DeleteIdentity(memberID, kind string) {
	tx.exec("DELETE FROM identities WHERE workspace_id = $1 AND member_id = $2 AND kind = $3", tx.workspace, memberID, kind)
}

type memberPreferences struct {
	member string
	fermata.Preferences
}

// Preferences returns the preferences of those members who have set any, by member id.
func (r Reader) Preferences(memberIDs []string) (map[string]fermata.Preferences, error) {
	all := map[string]fermata.Preferences{}
	if len(memberIDs) == 0 {
		return all, nil
	}
	found, err := list(r, func(rs rows) (memberPreferences, error) {
		var w memberPreferences
		var stored string
		if err := rs.Scan(&w.member, &stored); err != nil {
			return w, err
		}
		return w, parseColumn("wishes", stored, &w.Preferences)
	}, "SELECT member_id, wishes FROM preferences WHERE workspace_id = $1 AND "+fmt.Sprintf(r.d.inList, "member_id", 2), r.workspace, columnText(memberIDs))
	for _, w := range found {
		all[w.member] = w.Preferences
	}
	return all, err
}

// SetPreferences stores how a member wants to be reached.
func (tx *Tx) SetPreferences(memberID string, p fermata.Preferences) {
	tx.exec(`INSERT INTO preferences (workspace_id, member_id, wishes) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, member_id) DO UPDATE SET wishes = excluded.wishes`, tx.workspace, memberID, columnText(p))
}

const deviceColumns = "id, member_id, name, subscription, created_at, last_sent_at, holder"

func (r Reader) scanDevice(rs rows) (*fermata.Device, error) {
	d := &fermata.Device{}
	var subscription string
	var createdAt, lastSentAt int64
	if err := rs.Scan(&d.ID, &d.MemberID, &d.Name, &subscription, &createdAt, &lastSentAt, &d.Holder); err != nil {
		return nil, err
	}
	d.AddedAt, d.LastSentAt = instantOf(createdAt), optionalInstant(lastSentAt)
	opened, err := r.unseal(subscription, r.deviceCell(d.ID))
	if err != nil {
		return nil, err
	}
	return d, parseColumn("subscription", string(opened), &d.Subscription)
}

func (r Reader) deviceCell(id string) cell {
	return cell{"devices", "subscription", r.workspace, id}
}

// Devices lists the browsers that receive push messages.
func (r Reader) Devices() ([]*fermata.Device, error) {
	return list(r, r.scanDevice, "SELECT "+deviceColumns+" FROM devices WHERE workspace_id = $1 ORDER BY id", r.workspace)
}

// DevicesOf lists a member's browsers.
func (r Reader) DevicesOf(memberID string) ([]*fermata.Device, error) {
	return list(r, r.scanDevice, "SELECT "+deviceColumns+" FROM devices WHERE member_id = $1 AND workspace_id = $2 ORDER BY id", memberID, r.workspace)
}

// Device returns the browser with the id.
func (r Reader) Device(id string) (*fermata.Device, error) {
	return scanOne(r, "device", id, r.scanDevice, "SELECT "+deviceColumns+" FROM devices WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// InsertDevice adds a browser, and removes every other device with the same endpoint. So an earlier user of this
// browser gets no more messages on it.
func (tx *Tx) InsertDevice(d *fermata.Device) {
	hash := fermata.HashSecret(d.Subscription.Endpoint)
	tx.execAny("DELETE FROM devices WHERE workspace_id = $1 AND endpoint_hash = $2", tx.workspace, hash)
	tx.exec(`INSERT INTO devices (workspace_id, id, member_id, name, endpoint_hash, subscription, created_at, holder)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.workspace, d.ID, d.MemberID, d.Name, hash, tx.seal([]byte(columnText(d.Subscription)), tx.deviceCell(d.ID)), d.AddedAt.UnixMilli(), d.Holder)
}

// MoveDevices moves the devices that one session or token of the member added to another session or token.
func (tx *Tx) MoveDevices(memberID, from, to string) {
	tx.execAny("UPDATE devices SET holder = $1 WHERE member_id = $2 AND workspace_id = $3 AND holder = $4", to, memberID, tx.workspace, from)
}

// TouchDevice records when a message was last pushed to a browser.
func (tx *Tx) TouchDevice(id string, now time.Time) {
	tx.execAny("UPDATE devices SET last_sent_at = $1 WHERE workspace_id = $2 AND id = $3", now.UnixMilli(), tx.workspace, id)
}

// DeleteDevice removes a browser. It is not an error if the browser does not exist.
func (tx *Tx) DeleteDevice(id string) {
	tx.execAny("DELETE FROM devices WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
}

// DeliveryKey returns the server's own key with the name, or nil if there is none yet.
func (r Reader) DeliveryKey(name string) ([]byte, error) {
	found, err := list(r, scanBytes, "SELECT secret FROM delivery_keys WHERE workspace_id = $1 AND name = $2", r.workspace, name)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return r.unseal(string(found[0]), r.deliveryKeyCell(name))
}

func (r Reader) deliveryKeyCell(name string) cell {
	return cell{"delivery_keys", "secret", r.workspace, name}
}

// DeliveryKey returns the server's own key with the name. At the first use, create returns the new key; if create is
// nil, the key is 32 random bytes.
func (tx *Tx) DeliveryKey(name string, create func() ([]byte, error)) ([]byte, error) {
	key, err := tx.Reader.DeliveryKey(name)
	if err != nil || key != nil {
		return key, err
	}
	if create == nil {
		create = randomKey
	}
	if key, err = create(); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	tx.exec("INSERT INTO delivery_keys (workspace_id, name, secret, created_at) VALUES ($1, $2, $3, $4)", tx.workspace, name,
		[]byte(tx.seal(key, tx.deliveryKeyCell(name))), tx.Now().UnixMilli())
	return key, nil
}

func randomKey() ([]byte, error) {
	key := make([]byte, 32)
	_, err := rand.Read(key)
	return key, err
}
