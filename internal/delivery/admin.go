package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

// require refuses a caller without the scope.
func require(c fermata.Caller, scope fermata.Scope) error {
	if c.Has(scope) {
		return nil
	}
	return fermata.Errorf(fermata.CodeForbidden, "the token does not have the scope %s", scope).
		WithHint("an admin can make a token with it: fermata token create --scope %s", scope)
}

// AllKinds lists the kinds of channels that there are.
func (s *Service) AllKinds(_ context.Context, c fermata.Caller) ([]fermata.ChannelKind, error) {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return nil, err
	}
	var all []fermata.ChannelKind
	for _, k := range s.Kinds {
		all = append(all, fermata.ChannelKind{
			Kind: k.Name, Schema: k.Settings, Secrets: append([]string{}, k.Secrets...), Public: k.Public, BuiltIn: k.BuiltIn,
		})
	}
	slices.SortFunc(all, func(a, b fermata.ChannelKind) int { return cmp.Compare(a.Kind, b.Kind) })
	return all, nil
}

// Channels lists the workspace's channels.
func (s *Service) Channels(ctx context.Context, c fermata.Caller) ([]*fermata.Channel, error) {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return nil, err
	}
	all, err := s.db.In(ctx, c.WorkspaceID).Channels()
	for i := range all {
		all[i] = s.explained(c.WorkspaceID, s.hidden(all[i]))
	}
	return all, err
}

// explained adds why a channel cannot be used that could not be opened.
func (s *Service) explained(workspace string, c *fermata.Channel) *fermata.Channel {
	if l := s.workspace(workspace).lane(c.ID); l != nil && l.opened != nil && c.LastError == "" {
		c.LastError = words(l.opened)
	}
	return c
}

// ChannelNamed returns the channel with the name.
func (s *Service) ChannelNamed(ctx context.Context, c fermata.Caller, name string) (*fermata.Channel, error) {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return nil, err
	}
	found, err := s.db.In(ctx, c.WorkspaceID).ChannelByName(name)
	if err != nil {
		return nil, err
	}
	return s.explained(c.WorkspaceID, s.hidden(found)), nil
}

// accept checks settings as they are to be stored, completes them, and makes
// sure that a channel can be made of them. It returns them and what is to be
// shown this once.
func (s *Service) accept(workspace string, row *fermata.Channel, before map[string]any) (once map[string]any, err error) {
	k, ok := s.kind(row.Kind)
	if !ok {
		return nil, fermata.Invalid(fermata.Problem{Field: "kind", Message: "there are no channels of the kind " + row.Kind}).
			WithHint("fermata channel kinds lists those that there are")
	}
	if err := k.check(row.Settings); err != nil {
		return nil, err
	}
	once = map[string]any{}
	if k.Prepare != nil {
		if err := k.prepare(row, before, once); err != nil {
			return nil, err
		}
	}
	settings, err := k.settings(row)
	if err != nil {
		return nil, err
	}
	_, err = k.Open(settings, s.env(workspace, row))
	return once, err
}

// prepare completes the settings, and notes what that added.
func (k Kind) prepare(row *fermata.Channel, before, once map[string]any) error {
	var old json.RawMessage
	if before != nil {
		old = data(before)
	}
	completed, err := k.Prepare(old, data(row.Settings))
	if err != nil {
		return err
	}
	settings := map[string]any{}
	if err := json.Unmarshal(completed, &settings); err != nil {
		return err
	}
	for name, v := range settings {
		made := !reflect.DeepEqual(row.Settings[name], v)
		if made && !held(before, v) {
			once[name] = v
		}
	}
	row.Settings = settings
	return nil
}

// held reports whether the settings held the value already, under any name: an
// old secret that stays valid for a while is not shown again.
func held(settings map[string]any, v any) bool {
	for _, old := range settings {
		if reflect.DeepEqual(old, v) {
			return true
		}
	}
	return false
}

// withOnce returns the channel as it is shown to whoever has just written its
// settings: with what was made for it.
func (s *Service) withOnce(c *fermata.Channel, once map[string]any) *fermata.Channel {
	shown := s.hidden(c)
	maps.Copy(shown.Settings, once)
	return shown
}

// AddChannel adds a channel.
func (s *Service) AddChannel(ctx context.Context, c fermata.Caller, n fermata.NewChannel) (*fermata.Channel, error) {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return nil, err
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	row := &fermata.Channel{Name: n.Name, Kind: n.Kind, Settings: fermata.Merge(n.Settings, nil), Enabled: !n.Disabled}
	if k, ok := s.kind(n.Kind); ok && k.BuiltIn && k.Fixed == nil {
		return nil, fermata.Invalid(fermata.Problem{Field: "kind", Message: "there is one " + n.Kind + " channel, and it comes with the server"})
	}
	once, err := s.accept(c.WorkspaceID, row, nil)
	if err != nil {
		return nil, err
	}
	return engine.Write(ctx, s.e, c, func(tx *store.Tx) (*fermata.Channel, error) {
		if err := nameIsFree(tx.Reader, row.Name); err != nil {
			return nil, err
		}
		if row.Enabled {
			if err := startPlanning(tx); err != nil {
				return nil, err
			}
		}
		row.ID, row.CreatedAt = fermata.NewID(fermata.PrefixChannel, tx.Now()), tx.Now()
		tx.InsertChannel(row)
		tx.Append(&fermata.Event{Type: fermata.EventChannelAdded, Actor: c.Actor(), Data: data(facts(row))})
		return s.withOnce(row, once), nil
	})
}

// facts is what events tell of a channel: nothing that is secret.
func facts(c *fermata.Channel) map[string]any {
	return map[string]any{"channel_id": c.ID, "name": c.Name, "kind": c.Kind, "enabled": c.Enabled}
}

func nameIsFree(r store.Reader, name string) error {
	_, err := r.ChannelByName(name)
	if err == nil {
		return fermata.Invalid(fermata.Problem{Field: "name", Message: "is taken"})
	}
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil
	}
	return err
}

// ChangeChannel changes a channel.
func (s *Service) ChangeChannel(ctx context.Context, c fermata.Caller, name string, ch fermata.ChannelChange) (*fermata.Channel, error) {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return nil, err
	}
	return engine.Write(ctx, s.e, c, func(tx *store.Tx) (*fermata.Channel, error) {
		row, err := tx.ChannelByName(name)
		if err != nil {
			return nil, err
		}
		if ch.Name != nil && *ch.Name != row.Name {
			if err := nameIsFree(tx.Reader, *ch.Name); err != nil {
				return nil, err
			}
		}
		if err := startPlanning(tx); err != nil {
			return nil, err
		}
		if err := ch.Apply(row); err != nil {
			return nil, err
		}
		var once map[string]any
		if len(ch.Settings) > 0 {
			if k, ok := s.kind(row.Kind); ok && k.fixes(row) {
				return nil, fermata.Invalid(fermata.Problem{Field: "settings", Message: "are fixed: the server was started with them"})
			}
			before := row.Settings
			row.Settings = fermata.Merge(before, ch.Settings)
			if once, err = s.accept(c.WorkspaceID, row, before); err != nil {
				return nil, err
			}
			row.Works()
		}
		tx.SaveChannel(row)
		if row.Enabled {
			tx.HastenDeliveriesOf(row.ID)
		} else {
			tx.SkipDeliveriesOf(row.ID, fermata.SkippedDisabled)
		}
		changed := facts(row)
		changed["settings"] = slices.Sorted(maps.Keys(ch.Settings))
		tx.Append(&fermata.Event{Type: fermata.EventChannelChanged, Actor: c.Actor(), Data: data(changed)})
		return s.withOnce(row, once), nil
	})
}

// RemoveChannel removes a channel. What was sent over it stays on record.
func (s *Service) RemoveChannel(ctx context.Context, c fermata.Caller, name string) error {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return err
	}
	_, err := engine.Write(ctx, s.e, c, func(tx *store.Tx) (struct{}, error) {
		row, err := tx.ChannelByName(name)
		if err != nil {
			return struct{}{}, err
		}
		if k, ok := s.kind(row.Kind); ok && k.BuiltIn && row.BuiltIn {
			return struct{}{}, fermata.Errorf(fermata.CodePolicyViolation, "the channel %s comes with the server", row.Name).
				WithHint("disable it: fermata channel disable %s", row.Name)
		}
		tx.SkipDeliveriesOf(row.ID, fermata.SkippedChannelGone)
		tx.RestDeliveriesOf(row.ID)
		tx.DeleteChannel(row.ID)
		tx.Append(&fermata.Event{Type: fermata.EventChannelRemoved, Actor: c.Actor(), Data: data(facts(row))})
		return struct{}{}, nil
	})
	return err
}

// Routes returns where questions go.
func (s *Service) Routes(ctx context.Context, c fermata.Caller) (fermata.Routes, error) {
	if err := require(c, fermata.ScopeRead); err != nil {
		return fermata.Routes{}, err
	}
	plan, err := s.db.In(ctx, c.WorkspaceID).Plan()
	return plan.Routes, err
}

// SetRoutes says where questions go that are asked from now on.
func (s *Service) SetRoutes(ctx context.Context, c fermata.Caller, routes fermata.Routes) (fermata.Routes, error) {
	if err := require(c, fermata.ScopeAdmin); err != nil {
		return routes, err
	}
	if err := routes.Check(); err != nil {
		return routes, err
	}
	return engine.Write(ctx, s.e, c, func(tx *store.Tx) (fermata.Routes, error) {
		tx.SetRoutes(routes)
		tx.Append(&fermata.Event{Type: fermata.EventRoutesChanged, Actor: c.Actor(), Data: data(map[string]any{"routes": routes})})
		return routes, nil
	})
}
