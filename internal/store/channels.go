package store

import (
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

const channelColumns = `id, name, kind, settings, enabled, built_in, created_at, last_sent_at, last_error, last_error_at,
	failing_since, alerted_at, version`

// scanChannel reads a channel. Its settings include its secrets.
func (r Reader) scanChannel(rs rows) (*fermata.Channel, error) {
	c := &fermata.Channel{WorkspaceID: r.workspace}
	var settings string
	var enabled, builtIn, createdAt, lastSentAt, lastErrorAt, failingSince, alertedAt int64
	if err := rs.Scan(&c.ID, &c.Name, &c.Kind, &settings, &enabled, &builtIn, &createdAt, &lastSentAt, &c.LastError, &lastErrorAt,
		&failingSince, &alertedAt, &c.Version); err != nil {
		return nil, err
	}
	c.Enabled, c.BuiltIn, c.CreatedAt = enabled == 1, builtIn == 1, instantOf(createdAt)
	c.LastSentAt, c.LastErrorAt = optionalInstant(lastSentAt), optionalInstant(lastErrorAt)
	c.FailingSince, c.AlertedAt = optionalInstant(failingSince), optionalInstant(alertedAt)
	c.Settings = map[string]any{}
	opened, err := r.unseal(settings, r.channelCell(c.ID))
	if err != nil {
		return nil, err
	}
	return c, parseColumn("settings", string(opened), &c.Settings)
}

func (r Reader) channelCell(id string) cell { return cell{"channels", "settings", r.workspace, id} }

// Channels lists the workspace's channels by name, with their secrets.
func (r Reader) Channels() ([]*fermata.Channel, error) {
	return list(r, r.scanChannel, "SELECT "+channelColumns+" FROM channels WHERE workspace_id = $1 ORDER BY name", r.workspace)
}

// ChannelByName returns the channel with the name, with its secrets.
func (r Reader) ChannelByName(name string) (*fermata.Channel, error) {
	return scanOne(r, "channel", name, r.scanChannel,
		"SELECT "+channelColumns+" FROM channels WHERE workspace_id = $1 AND name = $2", r.workspace, name)
}

// Channel returns the channel with the id, with its secrets.
func (r Reader) Channel(id string) (*fermata.Channel, error) {
	return scanOne(r, "channel", id, r.scanChannel,
		"SELECT "+channelColumns+" FROM channels WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// InsertChannel adds a channel.
func (tx *Tx) InsertChannel(c *fermata.Channel) {
	c.WorkspaceID, c.Version = tx.workspace, 1
	tx.exec(`INSERT INTO channels (workspace_id, id, name, kind, settings, enabled, built_in, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.workspace, c.ID, c.Name, c.Kind, tx.seal([]byte(columnText(c.Settings)), tx.channelCell(c.ID)), boolColumn(c.Enabled), boolColumn(c.BuiltIn), c.CreatedAt.UnixMilli())
}

// SaveChannel writes the changed fields of a channel. Changes after the call are not written.
func (tx *Tx) SaveChannel(c *fermata.Channel) {
	tx.exec(`UPDATE channels SET name = $1, settings = $2, enabled = $3, last_sent_at = $4, last_error = $5, last_error_at = $6,
		failing_since = $7, alerted_at = $8, version = version + 1 WHERE workspace_id = $9 AND id = $10 AND version = $11`,
		c.Name, tx.seal([]byte(columnText(c.Settings)), tx.channelCell(c.ID)), boolColumn(c.Enabled), millis(c.LastSentAt), c.LastError, millis(c.LastErrorAt),
		millis(c.FailingSince), millis(c.AlertedAt), tx.workspace, c.ID, c.Version)
	c.Version++
}

// DeleteChannel deletes a channel, its state and its inbound records. The
// deliveries that were sent over it stay on record.
func (tx *Tx) DeleteChannel(id string) {
	tx.exec("DELETE FROM channels WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
	tx.execAny("DELETE FROM channel_state WHERE workspace_id = $1 AND channel_id = $2", tx.workspace, id)
	tx.execAny("DELETE FROM inbound WHERE workspace_id = $1 AND channel_id = $2", tx.workspace, id)
}

// TakeListenLease gives a process the lease to fetch the incoming messages of a
// channel until the given instant, or renews this lease. It reports whether the
// process has the lease.
func (tx *Tx) TakeListenLease(channelID, process string, until time.Time) (bool, error) {
	tx.execAny(`UPDATE channels SET listener = $1, listens_until = $2 WHERE workspace_id = $3 AND id = $4
		AND (listener = $1 OR listens_until <= $5)`,
		process, until.UnixMilli(), tx.workspace, channelID, tx.Now().UnixMilli())
	holders, err := list(tx.Reader, scanString, "SELECT listener FROM channels WHERE workspace_id = $1 AND id = $2", tx.workspace, channelID)
	return len(holders) == 1 && holders[0] == process, err
}

// EndListenLease ends the lease that [Tx.TakeListenLease] gave.
func (tx *Tx) EndListenLease(channelID, process string) {
	tx.execAny("UPDATE channels SET listener = '', listens_until = 0 WHERE workspace_id = $1 AND id = $2 AND listener = $3",
		tx.workspace, channelID, process)
}

// ChannelState returns the value that a channel stored under a key, or "" if
// there is none.
func (r Reader) ChannelState(channelID, key string) (string, error) {
	found, err := list(r, scanString, "SELECT value FROM channel_state WHERE workspace_id = $1 AND channel_id = $2 AND key = $3",
		r.workspace, channelID, key)
	if err != nil || len(found) == 0 {
		return "", err
	}
	value, err := r.unseal(found[0], r.channelStateCell(channelID, key))
	return string(value), err
}

func (r Reader) channelStateCell(channelID, key string) cell {
	return cell{"channel_state", "value", r.workspace, channelID + "/" + key}
}

// SetChannelState stores a value under a key.
func (tx *Tx) SetChannelState(channelID, key, value string) {
	tx.exec(`INSERT INTO channel_state (workspace_id, channel_id, key, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, channel_id, key) DO UPDATE SET value = excluded.value`, tx.workspace, channelID, key,
		tx.seal([]byte(value), tx.channelStateCell(channelID, key)))
}

// Plan is the state of the delivery planner of a workspace: its place in the
// event log, and the routes.
type Plan struct {
	Seq    int64
	Routes fermata.Routes
	// Chosen reports whether an administrator set other routes than the default
	// ones.
	Chosen bool
	// Earlier are subscriptions that were replaced before all events that they
	// cover were planned, the oldest first.
	Earlier []EarlierSubscription
}

// EarlierSubscription holds the event types to which a channel subscribed
// before a change. It applies to events with numbers up to UpTo.
type EarlierSubscription struct {
	ChannelID string   `json:"channel_id"`
	UpTo      int64    `json:"up_to"`
	Types     []string `json:"types"`
}

func scanPlan(rs rows) (Plan, error) {
	var p Plan
	var routes, earlier string
	if err := rs.Scan(&p.Seq, &routes, &earlier); err != nil {
		return p, err
	}
	if earlier != "" {
		if err := parseColumn("earlier", earlier, &p.Earlier); err != nil {
			return p, err
		}
	}
	if routes == "" {
		p.Routes = fermata.DefaultRoutes()
		return p, nil
	}
	err := parseColumn("routes", routes, &p.Routes)
	p.Chosen = columnText(p.Routes) != columnText(fermata.DefaultRoutes())
	return p, err
}

// Plan returns the workspace's plan. A Seq below 0 means that no deliveries are
// planned.
func (r Reader) Plan() (Plan, error) {
	found, err := list(r, scanPlan, "SELECT event_seq, routes, earlier FROM delivery_plans WHERE workspace_id = $1", r.workspace)
	if err != nil || len(found) == 0 {
		return Plan{Seq: -1, Routes: fermata.DefaultRoutes()}, err
	}
	return found[0], nil
}

// SetPlanned stores the number of the last event whose deliveries are planned.
// A number below 0 stops the planning. Of the earlier subscriptions it keeps
// those that cover events after seq.
func (tx *Tx) SetPlanned(seq int64, earlier []EarlierSubscription) {
	var kept string
	if left := slices.DeleteFunc(slices.Clone(earlier), func(s EarlierSubscription) bool { return s.UpTo <= seq }); len(left) > 0 {
		kept = columnText(left)
	}
	tx.exec(`INSERT INTO delivery_plans (workspace_id, event_seq, earlier) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id) DO UPDATE SET event_seq = excluded.event_seq, earlier = excluded.earlier`, tx.workspace, seq, kept)
}

// SetRoutes stores the routes.
func (tx *Tx) SetRoutes(r fermata.Routes) {
	tx.exec(`INSERT INTO delivery_plans (workspace_id, event_seq, routes) VALUES ($1, -1, $2)
		ON CONFLICT (workspace_id) DO UPDATE SET routes = excluded.routes`, tx.workspace, columnText(r))
}
