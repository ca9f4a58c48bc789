package delivery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// unreachedReason returns why no person will be told about a question that is being asked, or "" if one will. It uses
// the channels and people that this process knows. The planner corrects it later.
func (s *Service) unreachedReason(r store.Reader, q *fermata.Question) (string, error) {
	w := s.workspace(r.Workspace())
	if len(q.Channels) == 0 && w.isPlain() {
		return "", nil
	}
	plan, err := r.Plan()
	if err != nil || !w.isActive() && !plan.Chosen && len(q.Channels) == 0 {
		// Nothing is configured: there is no channel and no chosen route, and the question names no channel. People
		// read it in the inbox.
		return "", err
	}
	b := &batch{w: w, channels: w.sortedChannels(), plan: plan}
	if b.people, err = w.cachedPeople(r); err != nil {
		return "", err
	}
	members := b.people.eligibleMembers(q)
	if len(members) > 0 {
		ids := make([]string, 0, len(members))
		for _, m := range members {
			ids = append(ids, m.ID)
		}
		if b.preferences, err = r.Preferences(ids); err != nil {
			return "", err
		}
	}
	reason := b.unreachedReason(q, b.resolveSteps(q.Channels, b.plan.Routes.ForType(q.Type)), members, q.CreatedAt)
	if reason == "" {
		return "", nil
	}
	if stale, err := areStale(r, b.channels); err != nil || stale {
		return "", err
	}
	return reason, nil
}

// areStale reports whether open channels differ from the stored ones. If so, this process did not know yet whom the stored
// ones reach. The channels are those that were used, and not the ones of now: they may have been opened in between.
func areStale(r store.Reader, channels []*openChannel) (bool, error) {
	rows, err := r.Channels()
	if err != nil {
		return false, err
	}
	open := make(map[string]*openChannel, len(channels))
	for _, ch := range channels {
		open[ch.info().ID] = ch
	}
	enabled := 0
	for _, row := range rows {
		if !row.Enabled {
			continue
		}
		enabled++
		if open[row.ID] == nil {
			return true, nil
		}
		if info := open[row.ID].info(); !sameChannel(&info, row) {
			return true, nil
		}
	}
	return enabled != len(open), nil
}

// cachedPeople returns the known people, or reads them.
func (w *workspace) cachedPeople(r store.Reader) (*people, error) {
	w.mu.Lock()
	p := w.people
	w.mu.Unlock()
	if p != nil {
		return p, nil
	}
	return readPeople(r)
}

// unreachedReason returns why none of the steps reaches a person in time, or "" if one does.
func (b *batch) unreachedReason(q *fermata.Question, steps []routeStep, members []*fermata.Member, asked time.Time) string {
	urgent := q.Type.Urgency() == fermata.UrgencyHigh
	if len(steps) == 0 && urgent {
		return describeMissingChannel(q, b.plan.Routes.ForType(q.Type))
	}
	var names []string
	broken, quiet := "", map[string]bool{}
	for _, s := range steps {
		info := s.channel.info()
		names = append(names, info.Name)
		if s.channel.openErr != nil {
			broken = info.Name
			continue
		}
		for _, a := range b.people.questionAddresses(q, s.channel, members) {
			switch reached, held := b.canReach(q, s, a, asked); {
			case reached:
				return ""
			case held:
				quiet[a.member] = true
			}
		}
	}
	switch {
	case len(quiet) > 0 && coversAll(quiet, members):
		return "those who may answer it have quiet hours until after its deadline"
	case len(quiet) > 0:
		reason := "some of those who may answer it have quiet hours until after its deadline, and the others cannot be reached over " +
			strings.Join(names, ", ")
		if broken != "" {
			reason += "; " + describeBrokenChannel(broken)
		}
		return reason
	case !urgent:
		// A question that is not urgent belongs in the inbox.
		return ""
	case broken != "":
		return describeBrokenChannel(broken)
	default:
		return "nobody who may answer it can be reached over " + strings.Join(names, ", ")
	}
}

func describeBrokenChannel(name string) string {
	return fmt.Sprintf("the channel %s does not work: fermata channel test %s", name, name)
}

// coversAll reports whether the set contains the id of every member.
func coversAll(ids map[string]bool, members []*fermata.Member) bool {
	return !slices.ContainsFunc(members, func(m *fermata.Member) bool { return !ids[m.ID] })
}

// canReach reports whether a step reaches the person at the address in time. held reports whether quiet hours prevent
// this.
func (b *batch) canReach(q *fermata.Question, s routeStep, a address, asked time.Time) (reached, held bool) {
	if a.member == "" {
		return true, false
	}
	prefs, info := b.preferences[a.member], s.channel.info()
	if !s.named && !prefs.Wants(info.Name, info.Kind, q.Type) {
		return false, false
	}
	held = prefs.MissesDeadline(q, asked.Add(s.delay))
	return !held, held
}

// describeMissingChannel returns a text that says that no suitable channel is enabled. These are the channels that the
// question names, or those of its route if it names none.
func describeMissingChannel(q *fermata.Question, route []fermata.RouteStep) string {
	who, names := "it names", q.Channels
	if len(names) == 0 {
		who = "its route names"
		for _, s := range route {
			names = append(names, s.Channel)
		}
	}
	if len(names) == 0 {
		return "there is no route for it"
	}
	return fmt.Sprintf("%s %s, and no such channel is turned on", who, strings.Join(fermata.SortUnique(names), ", "))
}
