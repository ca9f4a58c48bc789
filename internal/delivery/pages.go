package delivery

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// pageShareInterval is how often processes tell each other which members have a
	// page open. pageShareLifetime is how long this stays valid.
	pageShareInterval = 15 * time.Second
	pageShareLifetime = 40 * time.Second
)

// openPages counts the pages that members have open at this process.
type openPages struct {
	mu sync.Mutex
	// open is the number of open pages, by workspace and member.
	open map[string]map[string]int
	// remote are the members with a page open at other processes, as they were
	// last read.
	remote map[string]remotePages
}

type remotePages struct {
	members []string
	until   time.Time
}

func newOpenPages() *openPages {
	return &openPages{open: map[string]map[string]int{}, remote: map[string]remotePages{}}
}

// TrackPage records that a member has a page open. The caller must call closed
// when the page is closed.
func (s *Service) TrackPage(workspace, memberID string) (closed func()) {
	s.pages.add(workspace, memberID, 1)
	return sync.OnceFunc(func() { s.pages.add(workspace, memberID, -1) })
}

func (p *openPages) add(workspace, memberID string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	members := p.open[workspace]
	if members == nil {
		members = map[string]int{}
		p.open[workspace] = members
	}
	if members[memberID] += n; members[memberID] <= 0 {
		delete(members, memberID)
	}
	if len(members) == 0 {
		delete(p.open, workspace)
	}
}

// localMembers lists the members with a page open at this process, by workspace.
func (p *openPages) localMembers() map[string][]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string][]string{}
	for workspace, members := range p.open {
		all[workspace] = slices.Sorted(maps.Keys(members))
	}
	return all
}

// hasOpenPage reports whether one of the members has a page open at any process.
func (s *Service) hasOpenPage(ctx context.Context, workspace string, members ...string) (bool, error) {
	s.pages.mu.Lock()
	for _, m := range members {
		if s.pages.open[workspace][m] > 0 {
			s.pages.mu.Unlock()
			return true, nil
		}
	}
	remote, ok := s.pages.remote[workspace]
	s.pages.mu.Unlock()
	if s.db.Dialect() == "sqlite" {
		return false, nil
	}
	if !ok || time.Now().After(remote.until) {
		now, err := s.db.Now(ctx)
		if err != nil {
			return false, err
		}
		remote.members, err = s.db.Reader(ctx, workspace).MembersWithOpenPage(s.process, now)
		if err != nil {
			return false, err
		}
		remote.until = time.Now().Add(time.Second)
		s.pages.mu.Lock()
		s.pages.remote[workspace] = remote
		s.pages.mu.Unlock()
	}
	return slices.ContainsFunc(members, func(m string) bool { return slices.Contains(remote.members, m) }), nil
}

// sharePages tells other processes which members have a page open here. On
// SQLite there is only one process, so it does nothing.
func (s *Service) sharePages(ctx context.Context) {
	if s.db.Dialect() == "sqlite" {
		return
	}
	tick := time.NewTicker(pageShareInterval)
	defer tick.Stop()
	announced := map[string]bool{}
	for {
		local := s.pages.localMembers()
		for workspace := range announced {
			if _, ok := local[workspace]; !ok {
				local[workspace] = nil
			}
		}
		for workspace, members := range local {
			err := s.db.Write(ctx, workspace, func(tx *store.Tx) error {
				tx.SetOpenPages(s.process, members, tx.Now().Add(pageShareLifetime))
				return nil
			})
			if err != nil && ctx.Err() == nil {
				s.Log.WarnContext(ctx, "tell who has a page open", "error", err)
				continue
			}
			if announced[workspace] = true; members == nil {
				delete(announced, workspace)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
