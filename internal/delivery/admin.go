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

// AllKinds lists the kinds of channels that this server supports.
func (s *Service) AllKinds(_ context.Context, c fermata.Caller) ([]fermata.ChannelKind, error) {
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
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
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	all, err := s.db.In(ctx, c.WorkspaceID).Channels()
	for i := range all {
		all[i] = s.addOpenError(c.WorkspaceID, s.hideSecrets(all[i]))
	}
	return all, err
}

// addOpenError sets the last error of a channel that could not be opened, if it has none yet.
func (s *Service) addOpenError(workspace string, c *fermata.Channel) *fermata.Channel {
	if l := s.workspace(workspace).channelByID(c.ID); l != nil && l.opened != nil && c.LastError == "" {
		c.LastError = words(l.opened)
	}
	return c
}

// ChannelNamed returns the channel with the name.
func (s *Service) ChannelNamed(ctx context.Context, c fermata.Caller, name string) (*fermata.Channel, error) {
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	found, err := s.db.In(ctx, c.WorkspaceID).ChannelByName(name)
	if err != nil {
		return nil, err
	}
	return s.addOpenError(c.WorkspaceID, s.hideSecrets(found)), nil
}

// accept checks new settings, completes them in row, and makes sure that a channel can be opened with them. It
// returns the settings that are shown only this once.
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

// prepare completes the settings, and adds to once the values that it made.
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
		if made && !containsValue(before, v) {
			once[name] = v
		}
	}
	row.Settings = settings
	return nil
}

// containsValue reports whether the settings contain the value under any name. An old secret that stays valid for a
// while is therefore not shown again.
func containsValue(settings map[string]any, v any) bool {
	for _, old := range settings {
		if reflect.DeepEqual(old, v) {
			return true
		}
	}
	return false
}

// writeChannel writes a channel and returns it to the caller, with the secrets that were made for it. The reply that
// is stored for a repeated call contains no secrets.
func (s *Service) writeChannel(ctx context.Context, c fermata.Caller, write func(*store.Tx) (row *fermata.Channel, made map[string]any, err error)) (*fermata.Channel, error) {
	var once map[string]any
	shown, err := engine.Write(ctx, s.e, c, fermata.ToManageChannels, func(tx *store.Tx) (*fermata.Channel, error) {
		row, made, err := write(tx)
		if err != nil {
			return nil, err
		}
		once = made
		return s.hideSecrets(row), nil
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(shown.Settings, once)
	return shown, nil
}

// AddChannel adds a channel.
func (s *Service) AddChannel(ctx context.Context, c fermata.Caller, n fermata.NewChannel) (*fermata.Channel, error) {
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
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
	return s.writeChannel(ctx, c, func(tx *store.Tx) (*fermata.Channel, map[string]any, error) {
		if err := nameIsFree(tx.Reader, row.Name); err != nil {
			return nil, nil, err
		}
		if row.Enabled {
			if err := startPlanning(tx); err != nil {
				return nil, nil, err
			}
		}
		row.ID, row.CreatedAt = fermata.NewID(fermata.PrefixChannel, tx.Now()), tx.Now()
		tx.InsertChannel(row)
		tx.Append(&fermata.Event{Type: fermata.EventChannelAdded, Actor: c.Actor(), Data: data(facts(row))})
		return row, once, nil
	})
}

// facts returns the data of a channel for events. It contains no secrets.
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
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	return s.writeChannel(ctx, c, func(tx *store.Tx) (*fermata.Channel, map[string]any, error) {
		row, err := tx.ChannelByName(name)
		if err != nil {
			return nil, nil, err
		}
		if ch.Name != nil && *ch.Name != row.Name {
			if err := nameIsFree(tx.Reader, *ch.Name); err != nil {
				return nil, nil, err
			}
		}
		if err := startPlanning(tx, row); err != nil {
			return nil, nil, err
		}
		before := *row
		if err := ch.Apply(row); err != nil {
			return nil, nil, err
		}
		var once map[string]any
		if len(ch.Settings) > 0 {
			if k, ok := s.kind(row.Kind); ok && k.fixes(row) {
				return nil, nil, fermata.Invalid(fermata.Problem{Field: "settings", Message: "are fixed: the server was started with them"})
			}
			row.Settings = fermata.Merge(before.Settings, ch.Settings)
			if once, err = s.accept(c.WorkspaceID, row, before.Settings); err != nil {
				return nil, nil, err
			}
			row.Works()
		}
		tx.SaveChannel(row)
		if row.Enabled {
			tx.HastenDeliveriesOf(row.ID)
		} else {
			tx.SkipDeliveriesOf(row.ID, fermata.SkippedDisabled)
		}
		if err := renameInRoutes(tx, c, before.Name, row); err != nil {
			return nil, nil, err
		}
		if before.Enabled && !row.Enabled {
			if row.LeftRoutes, err = leadNowhere(tx, row); err != nil {
				return nil, nil, err
			}
		}
		changed := facts(row)
		changed["settings"] = slices.Sorted(maps.Keys(ch.Settings))
		tx.Append(&fermata.Event{Type: fermata.EventChannelChanged, Actor: c.Actor(), Data: data(changed)})
		return row, once, nil
	})
}

// renameInRoutes renames a channel in the routes. If the old name is also a kind of a channel, the routes stay as
// they are.
func renameInRoutes(tx *store.Tx, c fermata.Caller, from string, row *fermata.Channel) error {
	if from == row.Name {
		return nil
	}
	channels, err := tx.Channels()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(channels, func(ch *fermata.Channel) bool { return ch.Kind == from }) {
		return nil
	}
	plan, err := tx.Plan()
	if err != nil {
		return err
	}
	routes, named := plan.Routes.Rename(from, row.Name)
	if named {
		setRoutes(tx, c, routes)
	}
	return nil
}

// leadNowhere lists the steps of routes that lead nowhere when the channel without is removed.
func leadNowhere(tx *store.Tx, without *fermata.Channel) ([]string, error) {
	plan, err := tx.Plan()
	if err != nil {
		return nil, err
	}
	channels, err := tx.Channels()
	if err != nil {
		return nil, err
	}
	channels = slices.DeleteFunc(channels, func(ch *fermata.Channel) bool { return ch.ID == without.ID })
	return append([]string{}, plan.Routes.LeadingNowhere([]string{without.Name, without.Kind}, channels)...), nil
}

// RemoveChannel removes a channel, and returns the steps of routes that then lead nowhere. The messages that were
// sent over the channel stay on record.
func (s *Service) RemoveChannel(ctx context.Context, c fermata.Caller, name string) (*fermata.ChannelRemoval, error) {
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	return engine.Write(ctx, s.e, c, fermata.ToManageChannels, func(tx *store.Tx) (*fermata.ChannelRemoval, error) {
		row, err := tx.ChannelByName(name)
		if err != nil {
			return nil, err
		}
		if k, ok := s.kind(row.Kind); ok && k.BuiltIn && row.BuiltIn {
			return nil, fermata.Errorf(fermata.CodePolicyViolation, "the channel %s comes with the server", row.Name).
				WithHint("disable it: fermata channel disable %s", row.Name)
		}
		left, err := leadNowhere(tx, row)
		if err != nil {
			return nil, err
		}
		tx.SkipDeliveriesOf(row.ID, fermata.SkippedChannelGone)
		tx.RestDeliveriesOf(row.ID)
		tx.DeleteChannel(row.ID)
		tx.Append(&fermata.Event{Type: fermata.EventChannelRemoved, Actor: c.Actor(), Data: data(facts(row))})
		return &fermata.ChannelRemoval{Name: row.Name, LeftRoutes: left}, nil
	})
}

// Routes returns the routes of questions.
func (s *Service) Routes(ctx context.Context, c fermata.Caller) (fermata.Routes, error) {
	if err := c.May(fermata.ToReadPolicy, fermata.Somewhere); err != nil {
		return fermata.Routes{}, err
	}
	plan, err := s.db.In(ctx, c.WorkspaceID).Plan()
	return plan.Routes, err
}

// SetRoutes sets the routes for questions that are asked later.
func (s *Service) SetRoutes(ctx context.Context, c fermata.Caller, routes fermata.Routes) (fermata.Routes, error) {
	if err := c.May(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return routes, err
	}
	if err := routes.Check(); err != nil {
		return routes, err
	}
	return engine.Write(ctx, s.e, c, fermata.ToManageChannels, func(tx *store.Tx) (fermata.Routes, error) {
		channels, err := tx.Channels()
		if err != nil {
			return routes, err
		}
		if err := routes.CheckChannels(s.routable(channels)); err != nil {
			return routes, err
		}
		setRoutes(tx, c, routes)
		return routes, nil
	})
}

func setRoutes(tx *store.Tx, c fermata.Caller, routes fermata.Routes) {
	tx.SetRoutes(routes)
	tx.Append(&fermata.Event{Type: fermata.EventRoutesChanged, Actor: c.Actor(), Data: data(map[string]any{"routes": routes})})
}

// routable lists the names that a step of a route may contain: the channels, and the supported kinds, even those
// without a channel. The default routes name such kinds.
func (s *Service) routable(channels []*fermata.Channel) []string {
	var names []string
	for _, ch := range channels {
		if ch.Kind != fermata.KindCallback {
			names = append(names, ch.Name)
		}
	}
	for _, k := range s.Kinds {
		if k.To != ToAsker {
			names = append(names, k.Name)
		}
	}
	for _, step := range fermata.DefaultRoutes().Blocking {
		names = append(names, step.Channel)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
