package delivery

import (
	"context"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// people are the members of a workspace and their addresses.
type people struct {
	members []*fermata.Member
	byID    map[string]*fermata.Member
	// identities are the members' identities, by member and kind of channel.
	identities map[string]map[string]fermata.Identity
	devices    map[string][]*fermata.Device
}

// loadPeople returns the cached people, or reads them. An event that changes
// people clears the cache; for events of other processes, see hasUnseenChange.
func (w *workspace) loadPeople(ctx context.Context) (*people, error) {
	w.mu.Lock()
	p, generation := w.people, w.peopleGeneration
	w.mu.Unlock()
	if p != nil {
		return p, nil
	}
	r := w.s.db.Reader(ctx, w.id)
	head, err := r.Head()
	if err != nil {
		return nil, err
	}
	if p, err = readPeople(r); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.peopleGeneration == generation {
		w.people, w.peopleAt = p, head.Seq
	}
	return p, nil
}

// peopleEventTypes are the types of events that change which people are reached, or
// at which address.
var peopleEventTypes = []string{
	string(fermata.EventMemberAdded), string(fermata.EventMemberChanged), string(fermata.EventGroupChanged),
	string(fermata.EventIdentityChanged), string(fermata.EventDeviceAdded), string(fermata.EventDeviceRemoved),
}

// hasUnseenChange reports whether an event up to seq changed the people after
// this process read them. A plan that uses the known people would then miss a
// person who was added.
func (w *workspace) hasUnseenChange(r store.Reader, seq int64) (bool, error) {
	w.mu.Lock()
	p, at := w.people, w.peopleAt
	w.mu.Unlock()
	if p == nil || at >= seq {
		return false, nil
	}
	changes, err := r.Events(store.EventFilter{After: at, Before: seq + 1, Types: peopleEventTypes, Limit: 1})
	if err != nil || len(changes) > 0 {
		return len(changes) > 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.people == p {
		w.peopleAt = seq
	}
	return false, nil
}

func readPeople(r store.Reader) (*people, error) {
	p := &people{byID: map[string]*fermata.Member{}, identities: map[string]map[string]fermata.Identity{}, devices: map[string][]*fermata.Device{}}
	var err error
	if p.members, err = r.Members(); err != nil {
		return nil, err
	}
	for _, m := range p.members {
		p.byID[m.ID] = m
	}
	identities, err := r.Identities()
	if err != nil {
		return nil, err
	}
	for _, i := range identities {
		if p.identities[i.MemberID] == nil {
			p.identities[i.MemberID] = map[string]fermata.Identity{}
		}
		p.identities[i.MemberID][i.Kind] = i
	}
	devices, err := r.Devices()
	for _, d := range devices {
		p.devices[d.MemberID] = append(p.devices[d.MemberID], d)
	}
	return p, err
}

func (p *people) ids() []string {
	ids := make([]string, 0, len(p.members))
	for _, m := range p.members {
		ids = append(ids, m.ID)
	}
	return ids
}

// eligibleMembers lists the people who may answer a question.
func (p *people) eligibleMembers(q *fermata.Question) []*fermata.Member {
	var all []*fermata.Member
	for _, m := range p.members {
		if m.DisabledAt == nil && q.CheckMayAnswer(m.Caller()) == nil {
			all = append(all, m)
		}
	}
	return all
}

// maxMentions is the largest number of people that a message to a place names.
const maxMentions = 10

// assigneeIDs lists the people to whom a question is assigned, by their identities
// in the system of a kind of channel. It is empty for a question without
// assignees.
func (p *people) assigneeIDs(q *fermata.Question, kind string) []string {
	if len(q.Assignees) == 0 {
		return nil
	}
	var ids []string
	for _, m := range p.eligibleMembers(q) {
		if id := p.identities[m.ID][kind].ID; id != "" && len(ids) < maxMentions {
			ids = append(ids, id)
		}
	}
	return ids
}

// mentionNames lists the people whom a message to a place names: the assignees
// of the question, and the people whom its asker wants mentioned.
func (p *people) mentionNames(q *fermata.Question, info fermata.Channel) []string {
	ids := p.assigneeIDs(q, info.Kind)
	for _, name := range q.MentionedNames(info.Name, info.Kind) {
		ids = append(ids, p.accountName(name, info.Kind))
	}
	return fermata.SortUnique(ids)
}

// accountName returns a member's account in the system of a kind of channel.
// For a member without an account it returns the mail address, by which the
// remote system can find the account. It returns a name that is not a member's
// handle unchanged.
func (p *people) accountName(name, kind string) string {
	handle := strings.TrimPrefix(name, "@")
	for _, m := range p.members {
		if m.DisabledAt != nil || !strings.EqualFold(m.Handle, handle) {
			continue
		}
		if id := p.identities[m.ID][kind].ID; id != "" {
			return id
		}
		if m.Email != "" {
			return m.Email
		}
	}
	return name
}

// operators lists the members who are operators or admins.
func (p *people) operators() []*fermata.Member {
	var all []*fermata.Member
	for _, m := range p.members {
		if m.DisabledAt == nil && m.Role.AtLeast(fermata.RoleOperator) {
			all = append(all, m)
		}
	}
	return all
}

// address is one destination of a message.
type address struct{ member, device string }

// questionAddresses lists the addresses of a message about the question over a
// channel. They are those that the asker names for this channel, otherwise
// those of the members.
func (p *people) questionAddresses(q *fermata.Question, ch *openChannel, members []*fermata.Member) []address {
	info := ch.info()
	switch {
	case info.Kind == fermata.KindEmail:
		if to := q.MailAddresses(info.Name); len(to) > 0 {
			members = slices.DeleteFunc(slices.Clone(members), func(m *fermata.Member) bool {
				return !slices.ContainsFunc(to, func(address string) bool { return strings.EqualFold(address, m.Email) })
			})
		}
	case ch.kind.Audience == ToPeopleOrPlace && q.WantedPlace(info.Name, info.Kind) != "":
		return []address{{}}
	}
	return p.addresses(ch.kind, members)
}

// addresses lists the addresses of a message to the members over a channel. It
// is empty if no member can be reached there.
func (p *people) addresses(k Kind, members []*fermata.Member) []address {
	if k.Audience == ToPlace {
		return []address{{}}
	}
	if k.Audience == ToAsker {
		return nil
	}
	var all []address
	for _, m := range members {
		switch {
		case k.Name == fermata.KindPush:
			for _, d := range p.devices[m.ID] {
				all = append(all, address{m.ID, d.ID})
			}
		case p.identities[m.ID][k.Name].ID != "" || m.Email != "":
			all = append(all, address{member: m.ID})
		}
	}
	if len(all) == 0 && k.Audience == ToPeopleOrPlace {
		return []address{{}}
	}
	return all
}
