package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Groups lists the groups that were created, and those that only the groups of members name.
func (e *Engine) Groups(ctx context.Context, c fermata.Caller) ([]*fermata.Group, error) {
	if err := c.CheckPermission(fermata.ToReadPeople, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	return loadGroups(e.reader(ctx, c))
}

func loadGroups(r store.Reader) ([]*fermata.Group, error) {
	all, err := r.Groups()
	if err != nil {
		return nil, err
	}
	members, err := r.Members()
	if err != nil {
		return nil, err
	}
	byName := map[string]*fermata.Group{}
	for _, g := range all {
		g.Members, byName[g.Name] = []string{}, g
	}
	for _, m := range members {
		for _, name := range m.Groups {
			if byName[name] == nil {
				byName[name] = &fermata.Group{Name: name}
				all = append(all, byName[name])
			}
			byName[name].Members = append(byName[name].Members, m.Handle)
		}
	}
	slices.SortFunc(all, func(a, b *fermata.Group) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func findGroup(r store.Reader, name string) (*fermata.Group, error) {
	all, err := loadGroups(r)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(g *fermata.Group) bool { return g.Name == name })
	if i < 0 {
		return nil, fermata.NotFound("group", name)
	}
	return all[i], nil
}

// AddGroup creates a group with its members. The name must be free.
func (e *Engine) AddGroup(ctx context.Context, c fermata.Caller, n fermata.NewGroup) (*fermata.Group, error) {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return nil, err
	}
	if err := n.Check(); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToManagePeople, func(tx *store.Tx) (*fermata.Group, error) {
		_, err := findGroup(tx.Reader, n.Name)
		if err == nil {
			return nil, fermata.Invalid(fermata.Problem{Field: "name", Message: "is taken"})
		}
		if fermata.CodeOf(err) != fermata.CodeNotFound {
			return nil, err
		}
		now := tx.Now()
		g := &fermata.Group{Name: n.Name, Description: n.Description, Members: []string{}, CreatedAt: &now}
		return g, saveGroup(tx, g, n.Name, n.Members, c.Actor())
	})
}

// ChangeGroup changes a group. Open questions keep the old name, so rename a
// group only if no open question is for it.
func (e *Engine) ChangeGroup(ctx context.Context, c fermata.Caller, name string, ch fermata.GroupChange) (*fermata.Group, error) {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToManagePeople, func(tx *store.Tx) (*fermata.Group, error) {
		g, err := findGroup(tx.Reader, name)
		if err != nil {
			return nil, err
		}
		if ch.Description != nil {
			g.Description = *ch.Description
		}
		members := ch.Members
		if members == nil {
			members = g.Members
		}
		if ch.Name != nil && *ch.Name != name {
			if _, err := findGroup(tx.Reader, *ch.Name); fermata.CodeOf(err) != fermata.CodeNotFound {
				return nil, cmp.Or(err, error(fermata.Invalid(fermata.Problem{Field: "name", Message: "is taken"})))
			}
			g.Name = *ch.Name
			tx.DeleteGroup(name)
		}
		if err := (fermata.NewGroup{Name: g.Name, Description: g.Description}).Check(); err != nil {
			return nil, err
		}
		if g.CreatedAt == nil {
			now := tx.Now()
			g.CreatedAt = &now
		}
		return g, saveGroup(tx, g, name, members, c.Actor())
	})
}

// saveGroup saves the group, and updates the groups of every member.
func saveGroup(tx *store.Tx, g *fermata.Group, oldName string, handles []string, by fermata.Actor) error {
	tx.SaveGroup(g)
	members, err := tx.Members()
	if err != nil {
		return err
	}
	g.Members = fermata.SortUnique(handles)
	for _, handle := range g.Members {
		if !slices.ContainsFunc(members, func(m *fermata.Member) bool { return m.Handle == handle }) {
			return fermata.Invalid(fermata.Problem{Field: "members", Message: "there is no member " + handle})
		}
	}
	for _, m := range members {
		next := slices.DeleteFunc(slices.Clone(m.Groups), func(name string) bool { return name == oldName || name == g.Name })
		if slices.Contains(g.Members, m.Handle) {
			next = append(next, g.Name)
		}
		if err := saveMemberGroups(tx, m, fermata.SortUnique(next)); err != nil {
			return err
		}
	}
	if g.Members == nil {
		g.Members = []string{}
	}
	tx.Append(&fermata.Event{
		Type: fermata.EventGroupChanged, Actor: by, Data: encodeData(map[string]any{"name": g.Name, "was": oldName, "members": g.Members}),
	})
	return nil
}

// saveMemberGroups saves the groups of a member, if they changed.
func saveMemberGroups(tx *store.Tx, m *fermata.Member, groups []string) error {
	if slices.Equal(m.Groups, groups) {
		return nil
	}
	m.Groups = groups
	if err := m.Check(); err != nil {
		return err
	}
	tx.UpdateMember(m)
	return nil
}

// DeleteGroup removes a group. After that, no person may answer a question that
// was only for this group, so it ends at its deadline unless it is assigned to
// others.
func (e *Engine) DeleteGroup(ctx context.Context, c fermata.Caller, name string) error {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return err
	}
	return e.db.Write(ctx, c.WorkspaceID, func(tx *store.Tx) error {
		if _, err := findGroup(tx.Reader, name); err != nil {
			return err
		}
		members, err := tx.Members()
		if err != nil {
			return err
		}
		for _, m := range members {
			next := slices.DeleteFunc(slices.Clone(m.Groups), func(g string) bool { return g == name })
			if err := saveMemberGroups(tx, m, fermata.SortUnique(next)); err != nil {
				return err
			}
		}
		tx.DeleteGroup(name)
		tx.Append(&fermata.Event{
			Type: fermata.EventGroupChanged, Actor: c.Actor(), Data: encodeData(map[string]any{"name": name, "was": name, "deleted": true}),
		})
		return nil
	})
}
