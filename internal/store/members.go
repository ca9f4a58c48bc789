package store

import "github.com/fermata-hq/fermata"

const memberColumns = "id, handle, role, member_groups, created_at, name, email, projects, subject, disabled_at"

func scanMember(rs rows) (*fermata.Member, error) {
	m := &fermata.Member{}
	var role, groups, projects string
	var createdAt, disabledAt int64
	if err := rs.Scan(&m.ID, &m.Handle, &role, &groups, &createdAt, &m.Name, &m.Email, &projects, &m.Subject, &disabledAt); err != nil {
		return nil, err
	}
	m.Role, m.CreatedAt, m.DisabledAt = fermata.Role(role), instantOf(createdAt), optionalInstant(disabledAt)
	if err := parseColumn("projects", projects, &m.Projects); err != nil {
		return nil, err
	}
	return m, parseColumn("member_groups", groups, &m.Groups)
}

// Member returns the member with the id.
func (r Reader) Member(id string) (*fermata.Member, error) {
	return scanOne(r, "member", id, scanMember,
		"SELECT "+memberColumns+" FROM members WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// MemberByHandle returns the member with the handle.
func (r Reader) MemberByHandle(handle string) (*fermata.Member, error) {
	return scanOne(r, "member", handle, scanMember,
		"SELECT "+memberColumns+" FROM members WHERE workspace_id = $1 AND handle = $2", r.workspace, handle)
}

// MemberByEmail returns the member with the mail address. The address must be
// in its canonical spelling.
func (r Reader) MemberByEmail(email string) (*fermata.Member, error) {
	return scanOne(r, "member", email, scanMember,
		"SELECT "+memberColumns+" FROM members WHERE workspace_id = $1 AND email = $2 AND email <> ''", r.workspace, email)
}

// MemberBySubject returns the member with this subject at the identity
// provider.
func (r Reader) MemberBySubject(subject string) (*fermata.Member, error) {
	return scanOne(r, "member", subject, scanMember,
		"SELECT "+memberColumns+" FROM members WHERE workspace_id = $1 AND subject = $2 AND subject <> ''", r.workspace, subject)
}

// Members lists the workspace's members by handle.
func (r Reader) Members() ([]*fermata.Member, error) {
	return list(r, scanMember, "SELECT "+memberColumns+" FROM members WHERE workspace_id = $1 ORDER BY handle", r.workspace)
}

// InsertMember adds a member.
func (tx *Tx) InsertMember(m *fermata.Member) {
	tx.exec(`INSERT INTO members (workspace_id, id, handle, role, member_groups, created_at, name, email, projects, subject, disabled_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		tx.workspace, m.ID, m.Handle, string(m.Role), columnText(m.Groups), m.CreatedAt.UnixMilli(), m.Name, m.Email, projectRoles(m),
		m.Subject, millis(m.DisabledAt))
}

// UpdateMember writes the fields of a member that may change.
func (tx *Tx) UpdateMember(m *fermata.Member) {
	tx.exec(`UPDATE members SET role = $1, member_groups = $2, name = $3, email = $4, projects = $5, subject = $6, disabled_at = $7
		WHERE workspace_id = $8 AND id = $9`,
		string(m.Role), columnText(m.Groups), m.Name, m.Email, projectRoles(m), m.Subject, millis(m.DisabledAt), tx.workspace, m.ID)
}

func projectRoles(m *fermata.Member) string {
	if len(m.Projects) == 0 {
		return ""
	}
	return columnText(m.Projects)
}

func scanGroup(rs rows) (*fermata.Group, error) {
	g := &fermata.Group{}
	var createdAt int64
	if err := rs.Scan(&g.Name, &g.Description, &createdAt); err != nil {
		return nil, err
	}
	g.CreatedAt = optionalInstant(createdAt)
	return g, nil
}

// Groups lists the groups that were created. A member may also belong to a
// group that was never created.
func (r Reader) Groups() ([]*fermata.Group, error) {
	return list(r, scanGroup, "SELECT name, description, created_at FROM member_groups WHERE workspace_id = $1 ORDER BY name", r.workspace)
}

// SaveGroup creates a group, or writes its description. Changes after the call are not written.
func (tx *Tx) SaveGroup(g *fermata.Group) {
	tx.exec(`INSERT INTO member_groups (workspace_id, name, description, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id, name) DO UPDATE SET description = excluded.description`,
		tx.workspace, g.Name, g.Description, millis(g.CreatedAt))
}

// DeleteGroup deletes a group, if it was created.
func (tx *Tx) DeleteGroup(name string) {
	tx.execAny("DELETE FROM member_groups WHERE workspace_id = $1 AND name = $2", tx.workspace, name)
}
