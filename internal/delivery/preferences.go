package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// resolveMember returns the caller's member, or the member with the given handle or id. The caller must have the
// permission v for this member.
func (s *Service) resolveMember(ctx context.Context, c fermata.Caller, v fermata.Verb, member string) (*fermata.Member, error) {
	r := s.db.Reader(ctx, c.WorkspaceID)
	if member == "" {
		if err := c.CheckPermission(v, c.OwnResource()); err != nil {
			return nil, err
		}
		return r.Member(c.MemberID)
	}
	m, err := r.MemberByHandle(member)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		var id string
		if id, err = r.FindID("member", "members", fermata.PrefixMember, member); err == nil {
			m, err = r.Member(id)
		}
	}
	if err != nil {
		return nil, err
	}
	return m, c.CheckPermission(v, fermata.OfMember(m.ID))
}

// Preferences returns how a member wants to be reached. An empty name means the caller.
func (s *Service) Preferences(ctx context.Context, c fermata.Caller, member string) (fermata.Preferences, error) {
	m, err := s.resolveMember(ctx, c, fermata.ToReadOwn, member)
	if err != nil {
		return fermata.Preferences{}, err
	}
	all, err := s.db.Reader(ctx, c.WorkspaceID).Preferences([]string{m.ID})
	return withDefaults(all[m.ID]), err
}

// withDefaults fills in the defaults.
func withDefaults(p fermata.Preferences) fermata.Preferences {
	if p.Digest == "" {
		p.Digest = fermata.DigestOff
	}
	return p
}

// SetPreferences sets how a member wants to be reached. An empty name means the caller.
func (s *Service) SetPreferences(ctx context.Context, c fermata.Caller, member string, p fermata.Preferences) (fermata.Preferences, error) {
	m, err := s.resolveMember(ctx, c, fermata.ToChangeOwn, member)
	if err != nil {
		return p, err
	}
	p = withDefaults(p)
	if err := p.Check(); err != nil {
		return p, err
	}
	return engine.Write(ctx, s.e, c, fermata.ToChangeOwn, func(tx *store.Tx) (fermata.Preferences, error) {
		if p.WantsAnyProgress() {
			if err := startPlanning(tx); err != nil {
				return p, err
			}
		}
		tx.SetPreferences(m.ID, p)
		return p, nil
	})
}

// Identities lists the members' identities in the systems behind channels. A caller without the scope admin sees only
// their own.
func (s *Service) Identities(ctx context.Context, c fermata.Caller) ([]fermata.Identity, error) {
	r := s.db.Reader(ctx, c.WorkspaceID)
	if c.HasScope(fermata.ScopeAdmin) {
		return r.Identities()
	}
	if err := c.CheckPermission(fermata.ToReadOwn, c.OwnResource()); err != nil {
		return nil, err
	}
	return r.IdentitiesOf(c.MemberID)
}

// SetIdentity sets a member's identity in the system behind a kind of channel. Only admins may set it, because the
// person with this identity answers as that member.
func (s *Service) SetIdentity(ctx context.Context, c fermata.Caller, member string, i fermata.Identity) (fermata.Identity, error) {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return i, err
	}
	m, err := s.resolveMember(ctx, c, fermata.ToManagePeople, member)
	if err != nil {
		return i, err
	}
	if err := i.Check(); err != nil {
		return i, err
	}
	if _, known := s.kind(i.Kind); !known && i.Kind != fermata.IdentityOIDC {
		return i, fermata.Invalid(fermata.Problem{Field: "kind", Message: "there are no channels of the kind " + i.Kind})
	}
	return engine.Write(ctx, s.e, c, fermata.ToManagePeople, func(tx *store.Tx) (fermata.Identity, error) {
		other, err := tx.Identity(i.Kind, i.ID)
		if err == nil && other.MemberID != m.ID {
			return i, fermata.Invalid(fermata.Problem{Field: "id", Message: "is " + other.Member + "'s"}).
				WithHint("remove it there first: fermata member identity %s %s --remove", other.Member, i.Kind)
		}
		if err != nil && fermata.CodeOf(err) != fermata.CodeNotFound {
			return i, err
		}
		i.MemberID, i.Member, i.CreatedAt = m.ID, m.Handle, tx.Now()
		tx.SetIdentity(i)
		tx.Append(&fermata.Event{
			Type: fermata.EventIdentityChanged, Actor: c.Actor(), Data: mustJSON(map[string]any{"member_id": m.ID, "kind": i.Kind, "id": i.ID}),
		})
		return i, nil
	})
}

// DeleteIdentity removes a member's identity in the system behind a kind of channel.
func (s *Service) DeleteIdentity(ctx context.Context, c fermata.Caller, member, kind string) error {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return err
	}
	m, err := s.resolveMember(ctx, c, fermata.ToManagePeople, member)
	if err != nil {
		return err
	}
	_, err = engine.Write(ctx, s.e, c, fermata.ToManagePeople, func(tx *store.Tx) (struct{}, error) {
		all, err := tx.IdentitiesOf(m.ID)
		if err != nil {
			return struct{}{}, err
		}
		for _, i := range all {
			if i.Kind == kind {
				tx.DeleteIdentity(m.ID, kind)
				tx.Append(&fermata.Event{
					Type: fermata.EventIdentityChanged, Actor: c.Actor(), Data: mustJSON(map[string]any{"member_id": m.ID, "kind": kind, "removed": true}),
				})
				return struct{}{}, nil
			}
		}
		return struct{}{}, fermata.NotFound("identity", kind)
	})
	return err
}

// maxDevices is the largest number of devices of one member.
const maxDevices = 20

// Devices lists the browsers that receive push messages for a member. An empty name means the caller.
func (s *Service) Devices(ctx context.Context, c fermata.Caller, member string) ([]*fermata.Device, error) {
	m, err := s.resolveMember(ctx, c, fermata.ToReadOwn, member)
	if err != nil {
		return nil, err
	}
	now, err := s.db.Now(ctx)
	if err != nil {
		return nil, err
	}
	r := s.db.Reader(ctx, c.WorkspaceID)
	all, err := r.DevicesOf(m.ID)
	if err != nil {
		return nil, err
	}
	live := make([]*fermata.Device, 0, len(all))
	for _, d := range all {
		ended, err := isHolderEnded(r, d, now)
		if err != nil {
			return nil, err
		}
		if !ended {
			d.Endpoint = hostOf(d.Subscription.Endpoint)
			live = append(live, d)
		}
	}
	return live, nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// AddDevice adds a browser that receives push messages for the caller.
func (s *Service) AddDevice(ctx context.Context, c fermata.Caller, n fermata.NewDevice) (*fermata.Device, error) {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return nil, err
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	if err := s.checkDevice(ctx, c.WorkspaceID, n.Subscription); err != nil {
		return nil, err
	}
	return engine.Write(ctx, s.e, c, fermata.ToChangeOwn, func(tx *store.Tx) (*fermata.Device, error) {
		devices, err := tx.DevicesOf(c.MemberID)
		if err != nil {
			return nil, err
		}
		if len(devices) >= maxDevices {
			return nil, fermata.Errorf(fermata.CodePolicyViolation, "you have %d devices already", len(devices)).WithHint("remove one that you do not use")
		}
		if err := startPlanning(tx); err != nil {
			return nil, err
		}
		name := n.Name
		if name == "" {
			name = "browser"
		}
		d := &fermata.Device{
			ID: fermata.NewID(fermata.PrefixDevice, tx.Now()), MemberID: c.MemberID, Name: name, AddedAt: tx.Now(),
			Subscription: n.Subscription, Endpoint: hostOf(n.Subscription.Endpoint), Holder: cmp.Or(c.SessionID, c.TokenID),
		}
		tx.InsertDevice(d)
		tx.Append(&fermata.Event{
			Type: fermata.EventDeviceAdded, Actor: c.Actor(), Data: mustJSON(map[string]any{"device_id": d.ID, "name": d.Name, "host": d.Endpoint}),
		})
		return d, nil
	})
}

// checkDevice refuses a device to which the push channel would not send.
func (s *Service) checkDevice(ctx context.Context, workspace string, subscription fermata.PushSubscription) error {
	row, err := s.db.Reader(ctx, workspace).ChannelByName(fermata.KindPush)
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	_, channel, err := s.makeChannel(workspace, row)
	if err != nil {
		return err
	}
	checker, ok := channel.(DeviceChecker)
	if !ok {
		return nil
	}
	given, err := json.Marshal(subscription)
	if err != nil {
		return err
	}
	return checker.CheckDevice(given)
}

// RemoveDevice removes a browser that receives push messages. Members may remove their own, and admins may remove
// any.
func (s *Service) RemoveDevice(ctx context.Context, c fermata.Caller, typedID string) error {
	if err := c.CheckPermission(fermata.ToChangeOwn, c.OwnResource()); err != nil {
		return err
	}
	id, err := s.db.Reader(ctx, c.WorkspaceID).FindID("device", "devices", fermata.PrefixDevice, typedID)
	if err != nil {
		return err
	}
	_, err = engine.Write(ctx, s.e, c, fermata.ToChangeOwn, func(tx *store.Tx) (struct{}, error) {
		d, err := tx.Device(id)
		if err != nil || c.CheckPermission(fermata.ToChangeOwn, fermata.OfMember(d.MemberID)) != nil {
			return struct{}{}, fermata.NotFound("device", typedID)
		}
		tx.DeleteDevice(d.ID)
		tx.Append(&fermata.Event{
			Type: fermata.EventDeviceRemoved, Actor: c.Actor(), Data: mustJSON(map[string]any{"device_id": d.ID, "member_id": d.MemberID}),
		})
		return struct{}{}, nil
	})
	return err
}

// PushKey returns the public key that pages give to browsers for push messages.
func (s *Service) PushKey(ctx context.Context, c fermata.Caller) (string, error) {
	if err := c.CheckPermission(fermata.ToReadPolicy, fermata.UnloadedResource); err != nil {
		return "", err
	}
	row, err := s.db.Reader(ctx, c.WorkspaceID).ChannelByName(fermata.KindPush)
	if err != nil {
		return "", err
	}
	_, channel, err := s.makeChannel(c.WorkspaceID, row)
	if err != nil {
		return "", err
	}
	keyed, ok := channel.(KeyProvider)
	if !ok {
		return "", fermata.NotFound("key", fermata.KindPush)
	}
	return keyed.PublicKey(ctx)
}
