package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/store"
)

// Announcement is a message that needs no answer.
type Announcement struct {
	// Key identifies the message: messages with the same key are sent once.
	Key string
	// Channels are names of channels, or kinds of channels.
	Channels []string
	// Members are the handles of the recipients, for channels that reach
	// people. If it is empty, the recipients are the operators.
	Members     []string
	TaskID      string
	Title, Body string
}

// Announce sends a message, and returns the number of deliveries that it
// planned.
func (s *Service) Announce(ctx context.Context, workspace string, a Announcement) (int, error) {
	w := s.workspace(workspace)
	p, err := w.loadPeople(ctx)
	if err != nil {
		return 0, err
	}
	members, err := p.byHandle(a.Members)
	if err != nil {
		return 0, err
	}
	now, err := s.db.Now(ctx)
	if err != nil {
		return 0, err
	}
	b := &batch{w: w, channels: w.sortedChannels(), people: p, now: now}
	for _, name := range a.Channels {
		channels := channelsNamed(b.channels, name)
		if len(channels) == 0 {
			return 0, fermata.Errorf(fermata.CodeNotFound, "there is no channel %s that is switched on", name).
				WithHint("fermata channel list shows those that there are")
		}
		for _, ch := range channels {
			for _, to := range p.addresses(ch.kind, members) {
				row := b.newDelivery(ch, to, notice.Alert, now, fmt.Sprintf("announce/%s/%s/%s/%s", a.Key, ch.info().ID, to.member, to.device))
				row.TaskID, row.Title, row.Body = a.TaskID, a.Title, a.Body
				b.rows = append(b.rows, row)
			}
		}
	}
	if len(b.rows) == 0 {
		return 0, fermata.Errorf(fermata.CodeNotFound, "nobody can be reached over %s", strings.Join(a.Channels, ", "))
	}
	err = s.db.Write(ctx, workspace, func(tx *store.Tx) error {
		for _, row := range b.rows {
			tx.PlanDelivery(row)
		}
		return nil
	})
	if err == nil {
		w.wakeSenders()
	}
	return len(b.rows), err
}

// byHandle returns the members with the handles, or the operators if there are
// no handles.
func (p *people) byHandle(handles []string) ([]*fermata.Member, error) {
	if len(handles) == 0 {
		return p.operators(), nil
	}
	var found []*fermata.Member
	for _, handle := range handles {
		i := slices.IndexFunc(p.members, func(m *fermata.Member) bool { return m.Handle == handle && m.DisabledAt == nil })
		if i < 0 {
			return nil, fermata.NotFound("member", handle)
		}
		found = append(found, p.members[i])
	}
	return found, nil
}

// Settings returns the settings of the workspace's first enabled channel of a
// kind, including the secrets. It is for tools that use the same system as the
// channel.
func (s *Service) Settings(ctx context.Context, workspace, kind string) (json.RawMessage, error) {
	k, ok := s.kind(kind)
	if !ok {
		return nil, fermata.NotFound("kind of channels", kind)
	}
	rows, err := s.db.Reader(ctx, workspace).Channels()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Kind == kind && row.Enabled {
			return k.resolveSettings(row)
		}
	}
	return nil, fermata.NotFound("channel of the kind", kind)
}
