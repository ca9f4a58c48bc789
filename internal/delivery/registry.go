package delivery

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// addBuiltIn adds those built-in channels that the workspace does not have yet.
func (s *Service) addBuiltIn(ctx context.Context, workspace string) error {
	existing, err := s.db.Reader(ctx, workspace).Channels()
	if err != nil {
		return err
	}
	for _, k := range s.Kinds {
		if !k.BuiltIn || slices.ContainsFunc(existing, func(c *fermata.Channel) bool { return c.Name == k.Name }) {
			continue
		}
		err := s.db.Write(ctx, workspace, func(tx *store.Tx) error {
			if _, err := tx.ChannelByName(k.Name); fermata.CodeOf(err) != fermata.CodeNotFound {
				return err
			}
			// A push channel alone reaches no person; adding the first device starts the planning.
			if k.Name != fermata.KindPush {
				if err := startPlanning(tx); err != nil {
					return err
				}
			}
			tx.InsertChannel(&fermata.Channel{
				ID: fermata.NewID(fermata.PrefixChannel, tx.Now()), Name: k.Name, Kind: k.Name, Enabled: true, BuiltIn: true,
				Settings: map[string]any{}, CreatedAt: tx.Now(),
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// openChannel is a channel that this process uses.
type openChannel struct {
	w       *workspace
	kind    Kind
	channel Channel
	// openErr is why the channel could not be opened, or nil.
	openErr error
	handler http.Handler
	stop    context.CancelFunc
	// wakeup wakes the sender.
	wakeup chan struct{}

	mu  sync.Mutex
	row *fermata.Channel
	// inFlight counts the deliveries under way. backoffUntil is the instant until which the remote system
	// asked for a pause.
	inFlight     int
	backoffUntil time.Time
}

func (ch *openChannel) wake() {
	select {
	case ch.wakeup <- struct{}{}:
	default:
	}
}

// info returns the row of the channel as it was last read.
func (ch *openChannel) info() fermata.Channel {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return *ch.row
}

// reload opens new channels, closes removed ones, and reopens those whose name or settings changed.
func (w *workspace) reload(ctx context.Context) error {
	r := w.s.db.Reader(ctx, w.id)
	rows, err := r.Channels()
	if err != nil {
		return err
	}
	devices, err := r.Devices()
	if err != nil {
		return err
	}
	plan, err := r.Plan()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hasDevices, w.hasRoutes, w.scannedSeq = len(devices) > 0, plan.Chosen, 0
	enabled := map[string]bool{}
	for _, row := range rows {
		if !row.Enabled {
			continue
		}
		enabled[row.ID] = true
		old := w.channels[row.ID]
		if old != nil && sameChannel(old.row, row) {
			continue
		}
		if old != nil {
			old.stop()
		}
		w.channels[row.ID] = w.open(row) //nolint:contextcheck // a channel lives as long as the service, not as this call
	}
	for id, ch := range w.channels {
		if !enabled[id] {
			ch.stop()
			delete(w.channels, id)
		}
	}
	w.isLoaded = !w.changed
	return nil
}

// sameChannel reports whether a channel that was opened for one row can be used for the other.
func sameChannel(a, b *fermata.Channel) bool {
	return a.Name == b.Name && reflect.DeepEqual(a.Settings, b.Settings)
}

// open opens a channel, and starts its sender and its listener.
func (w *workspace) open(row *fermata.Channel) *openChannel {
	ch := &openChannel{w: w, row: row, wakeup: make(chan struct{}, 1), stop: func() {}}
	ch.kind, ch.channel, ch.openErr = w.s.makeChannel(w.id, row)
	if ch.openErr != nil {
		w.s.Log.Warn("a channel cannot be used", "channel", row.Name, "error", ch.openErr)
	}
	if receiver, ok := ch.channel.(Receiver); ok {
		ch.handler = receiver.Handler(ch.handleInbound)
	}
	run := w.s.currentRun()
	if run == nil {
		return ch
	}
	ctx, cancel := context.WithCancel(run.ctx)
	ch.stop = cancel
	run.parts.Go(func() { ch.send(ctx) })
	if listener, ok := ch.channel.(Listener); ok {
		run.parts.Go(func() { ch.listen(ctx, listener) })
	}
	return ch
}

func (s *Service) currentRun() *serviceRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// makeChannel creates a channel from its stored row.
func (s *Service) makeChannel(workspace string, row *fermata.Channel) (Kind, Channel, error) {
	k, ok := s.kind(row.Kind)
	if !ok {
		return Kind{Name: row.Kind}, nil, fermata.Errorf(fermata.CodeInvalidRequest, "this server has no channels of the kind %q", row.Kind).
			WithHint("remove the channel, or start a server that has them; those of email need --smtp and --mail-from")
	}
	settings, err := k.resolveSettings(row)
	if err != nil {
		return k, nil, err
	}
	channel, err := k.Open(settings, s.env(workspace, row))
	return k, channel, err
}

// hasFixedSettings reports whether the settings of a channel are those with which the server was started. Another channel of the
// same kind has settings of its own.
func (k Kind) hasFixedSettings(row *fermata.Channel) bool {
	return row.BuiltIn && k.FixedSettings != nil
}

// resolveSettings returns the settings with which a channel is opened. Secrets that are stored elsewhere are read.
func (k Kind) resolveSettings(row *fermata.Channel) (json.RawMessage, error) {
	if k.hasFixedSettings(row) {
		return k.FixedSettings, nil
	}
	resolved, err := k.resolveSecrets(row.Settings)
	if err != nil {
		return nil, err
	}
	return json.Marshal(resolved)
}

func (s *Service) env(workspace string, row *fermata.Channel) notice.Env {
	id := row.ID
	return notice.Env{
		Name: row.Name, PublicURL: s.PublicURL, HTTP: s.HTTP, Log: s.Log.With("channel", row.Name),
		Load: func(ctx context.Context, key string) (string, error) {
			return s.db.Reader(ctx, workspace).ChannelState(id, key)
		},
		Store: func(ctx context.Context, key, value string) error {
			return s.db.Write(ctx, workspace, func(tx *store.Tx) error {
				tx.SetChannelState(id, key, value)
				return nil
			})
		},
		LoadOrStore: func(ctx context.Context, key, value string) (kept string, err error) {
			err = s.db.Write(ctx, workspace, func(tx *store.Tx) (err error) {
				if kept, err = tx.ChannelState(id, key); err != nil || kept != "" {
					return err
				}
				kept = value
				tx.SetChannelState(id, key, value)
				return nil
			})
			return kept, err
		},
	}
}

// close stops every channel.
func (w *workspace) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, ch := range w.channels {
		ch.stop()
		delete(w.channels, id)
	}
	w.changed, w.isLoaded = true, false
}

// isActive reports whether there is anything to plan: a channel other than push, a device for push messages, or routes
// that an administrator chose and that may match no channel.
func (w *workspace) isActive() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isActiveLocked()
}

// isPlain reports whether it is known that nothing is configured, so that people read questions in the inbox.
func (w *workspace) isPlain() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.isLoaded && !w.isActiveLocked()
}

// isActiveLocked is [workspace.isActive] for a caller that holds the lock.
func (w *workspace) isActiveLocked() bool {
	for _, ch := range w.channels {
		if ch.kind.Name != fermata.KindPush {
			return true
		}
	}
	return w.hasDevices || w.hasRoutes
}

// sortedChannels lists the open channels, by name.
func (w *workspace) sortedChannels() []*openChannel {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []*openChannel
	for _, ch := range w.channels {
		all = append(all, ch)
	}
	slices.SortFunc(all, func(a, b *openChannel) int {
		if a.row.Name < b.row.Name {
			return -1
		}
		return 1
	})
	return all
}

// channelByID returns the open channel with the id.
func (w *workspace) channelByID(id string) *openChannel {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.channels[id]
}

// channelsNamed lists the open channels that a name in a route or a question means: the channel with this name, or
// all channels of this kind.
func channelsNamed(channels []*openChannel, name string) []*openChannel {
	var found []*openChannel
	for _, ch := range channels {
		info := ch.info()
		if info.Name == name {
			return []*openChannel{ch}
		}
		if info.Kind == name {
			found = append(found, ch)
		}
	}
	return found
}

// Handler returns the handler for the requests that a remote system sends to a channel of the workspace. If the
// channel has none, it returns a [fermata.CodeNotFound].
func (s *Service) Handler(workspace, name string) (http.Handler, error) {
	w := s.workspace(workspace)
	for _, ch := range w.sortedChannels() {
		if ch.info().Name == name && ch.handler != nil {
			return ch.handler, nil
		}
	}
	return nil, fermata.NotFound("channel that takes requests", name)
}
