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
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
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
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	all, err := s.db.Reader(ctx, c.WorkspaceID).Channels()
	for i := range all {
		all[i] = s.addOpenError(c.WorkspaceID, s.hideSecrets(all[i]))
	}
	return all, err
}

// addOpenError sets the last error of a channel that could not be opened, if it has none yet.
func (s *Service) addOpenError(workspace string, c *fermata.Channel) *fermata.Channel {
	if ch := s.workspace(workspace).channelByID(c.ID); ch != nil && ch.openErr != nil && c.LastError == "" {
		c.LastError = errorText(ch.openErr)
	}
	return c
}

// ChannelNamed returns the channel with the name.
func (s *Service) ChannelNamed(ctx context.Context, c fermata.Caller, name string) (*fermata.Channel, error) {
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	found, err := s.db.Reader(ctx, c.WorkspaceID).ChannelByName(name)
	if err != nil {
		return nil, err
	}
	return s.addOpenError(c.WorkspaceID, s.hideSecrets(found)), nil
}

// prepareChannel checks new settings, completes them in row, and makes sure that a channel can be opened with them. It
// returns the values that Prepare created, which the caller is shown only once.
func (s *Service) prepareChannel(workspace string, row *fermata.Channel, before map[string]any) (shownOnce map[string]any, err error) {
	k, ok := s.kind(row.Kind)
	if !ok {
		return nil, fermata.Invalid(fermata.Problem{Field: "kind", Message: "there are no channels of the kind " + row.Kind}).
			WithHint("fermata channel kinds lists those that there are")
	}
	if err := k.check(row.Settings); err != nil {
		return nil, err
	}
	shownOnce = map[string]any{}
	if k.Prepare != nil {
		if err := k.completeSettings(row, before, shownOnce); err != nil {
			return nil, err
		}
	}
	settings, err := k.resolveSettings(row)
	if err != nil {
		return nil, err
	}
	_, err = k.Open(settings, s.env(workspace, row))
	return shownOnce, err
}

// completeSettings completes the settings of row with Prepare. It adds every value that Prepare created to shownOnce.
func (k Kind) completeSettings(row *fermata.Channel, before, shownOnce map[string]any) error {
	var old json.RawMessage
	if before != nil {
		old = mustJSON(before)
	}
	completed, err := k.Prepare(old, mustJSON(row.Settings))
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
			shownOnce[name] = v
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

// writeChannel writes a channel and returns it to the caller, with the secrets that were created for it. The reply that
// is stored for a repeated call contains no secrets.
func (s *Service) writeChannel(ctx context.Context, c fermata.Caller, write func(*store.Tx) (row *fermata.Channel, made map[string]any, err error)) (*fermata.Channel, error) {
	var shownOnce map[string]any
	channel, err := engine.Write(ctx, s.e, c, fermata.ToManageChannels, func(tx *store.Tx) (*fermata.Channel, error) {
		row, made, err := write(tx)
		if err != nil {
			return nil, err
		}
		shownOnce = made
		return s.hideSecrets(row), nil
	})
	if err != nil {
		return nil, err
	}
	maps.Copy(channel.Settings, shownOnce)
	return channel, nil
}

// AddChannel adds a channel.
func (s *Service) AddChannel(ctx context.Context, c fermata.Caller, n fermata.NewChannel) (*fermata.Channel, error) {
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	row := &fermata.Channel{Name: n.Name, Kind: n.Kind, Settings: fermata.MergeSettings(n.Settings, nil), Enabled: !n.Disabled}
	if k, ok := s.kind(n.Kind); ok && k.BuiltIn && k.FixedSettings == nil {
		return nil, fermata.Invalid(fermata.Problem{Field: "kind", Message: "there is one " + n.Kind + " channel, and it comes with the server"})
	}
	shownOnce, err := s.prepareChannel(c.WorkspaceID, row, nil)
	if err != nil {
		return nil, err
	}
	return s.writeChannel(ctx, c, func(tx *store.Tx) (*fermata.Channel, map[string]any, error) {
		if err := checkNameFree(tx.Reader, row.Name); err != nil {
			return nil, nil, err
		}
		if row.Enabled {
			if err := startPlanning(tx); err != nil {
				return nil, nil, err
			}
		}
		row.ID, row.CreatedAt = fermata.NewID(fermata.PrefixChannel, tx.Now()), tx.Now()
		tx.InsertChannel(row)
		tx.Append(&fermata.Event{Type: fermata.EventChannelAdded, Actor: c.Actor(), Data: mustJSON(channelEventData(row))})
		return row, shownOnce, nil
	})
}

// channelEventData returns the data of a channel for events. It contains no secrets.
func channelEventData(c *fermata.Channel) map[string]any {
	return map[string]any{"channel_id": c.ID, "name": c.Name, "kind": c.Kind, "enabled": c.Enabled}
}

func checkNameFree(r store.Reader, name string) error {
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
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
		return nil, err
	}
	return s.writeChannel(ctx, c, func(tx *store.Tx) (*fermata.Channel, map[string]any, error) {
		row, err := tx.ChannelByName(name)
		if err != nil {
			return nil, nil, err
		}
		if ch.Name != nil && *ch.Name != row.Name {
			if err := checkNameFree(tx.Reader, *ch.Name); err != nil {
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
		var shownOnce map[string]any
		if len(ch.Settings) > 0 {
			if k, ok := s.kind(row.Kind); ok && k.hasFixedSettings(row) {
				return nil, nil, fermata.Invalid(fermata.Problem{Field: "settings", Message: "are fixed: the server was started with them"})
			}
			row.Settings = fermata.MergeSettings(before.Settings, ch.Settings)
			if shownOnce, err = s.prepareChannel(c.WorkspaceID, row, before.Settings); err != nil {
				return nil, nil, err
			}
			row.NoteWorking()
		}
		tx.SaveChannel(row)
		if row.Enabled {
			tx.RetryDeliveriesOf(row.ID)
		} else {
			tx.SkipDeliveriesOf(row.ID, fermata.SkippedDisabled)
		}
		if err := renameInRoutes(tx, c, before.Name, row); err != nil {
			return nil, nil, err
		}
		if before.Enabled && !row.Enabled {
			if row.UnmatchedRouteSteps, err = deadRouteSteps(tx, row); err != nil {
				return nil, nil, err
			}
		}
		changed := channelEventData(row)
		changed["settings"] = slices.Sorted(maps.Keys(ch.Settings))
		tx.Append(&fermata.Event{Type: fermata.EventChannelChanged, Actor: c.Actor(), Data: mustJSON(changed)})
		return row, shownOnce, nil
	})
}

// renameInRoutes renames a channel in the routes. If the old name is also the kind of an existing channel, the routes
// stay as they are.
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
	routes, named := plan.Routes.RenameChannel(from, row.Name)
	if named {
		setRoutes(tx, c, routes)
	}
	return nil
}

// deadRouteSteps lists the route steps that match no enabled channel without the removed one.
func deadRouteSteps(tx *store.Tx, removed *fermata.Channel) ([]string, error) {
	plan, err := tx.Plan()
	if err != nil {
		return nil, err
	}
	channels, err := tx.Channels()
	if err != nil {
		return nil, err
	}
	channels = slices.DeleteFunc(channels, func(ch *fermata.Channel) bool { return ch.ID == removed.ID })
	return append([]string{}, plan.Routes.UnmatchedSteps([]string{removed.Name, removed.Kind}, channels)...), nil
}

// RemoveChannel removes a channel, and returns the route steps that then match no enabled channel. The messages that
// were sent over the channel stay on record.
func (s *Service) RemoveChannel(ctx context.Context, c fermata.Caller, name string) (*fermata.ChannelRemoval, error) {
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
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
		deadSteps, err := deadRouteSteps(tx, row)
		if err != nil {
			return nil, err
		}
		tx.SkipDeliveriesOf(row.ID, fermata.SkippedChannelGone)
		tx.EndDeliveriesOf(row.ID)
		tx.DeleteChannel(row.ID)
		tx.Append(&fermata.Event{Type: fermata.EventChannelRemoved, Actor: c.Actor(), Data: mustJSON(channelEventData(row))})
		return &fermata.ChannelRemoval{Name: row.Name, UnmatchedRouteSteps: deadSteps}, nil
	})
}

// Routes returns the routes of questions.
func (s *Service) Routes(ctx context.Context, c fermata.Caller) (fermata.Routes, error) {
	if err := c.CheckPermission(fermata.ToReadPolicy, fermata.UnloadedResource); err != nil {
		return fermata.Routes{}, err
	}
	plan, err := s.db.Reader(ctx, c.WorkspaceID).Plan()
	return plan.Routes, err
}

// SetRoutes sets the routes for questions that are asked later.
func (s *Service) SetRoutes(ctx context.Context, c fermata.Caller, routes fermata.Routes) (fermata.Routes, error) {
	if err := c.CheckPermission(fermata.ToManageChannels, fermata.InWorkspace); err != nil {
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
		if err := routes.CheckChannels(s.routableNames(channels)); err != nil {
			return routes, err
		}
		setRoutes(tx, c, routes)
		return routes, nil
	})
}

func setRoutes(tx *store.Tx, c fermata.Caller, routes fermata.Routes) {
	tx.SetRoutes(routes)
	tx.Append(&fermata.Event{Type: fermata.EventRoutesChanged, Actor: c.Actor(), Data: mustJSON(map[string]any{"routes": routes})})
}

// routableNames lists the names that a step of a route may contain: the channels, and the supported kinds, even those
// without a channel. The default routes name such kinds.
func (s *Service) routableNames(channels []*fermata.Channel) []string {
	var names []string
	for _, ch := range channels {
		if ch.Kind != fermata.KindCallback {
			names = append(names, ch.Name)
		}
	}
	for _, k := range s.Kinds {
		if k.Audience != ToAsker {
			names = append(names, k.Name)
		}
	}
	for _, step := range fermata.DefaultRoutes().Blocking {
		names = append(names, step.Channel)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
