package engine

import (
	"context"
	"os/user"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// NewMember is a request to add a person.
type NewMember struct {
	Handle   string                  `json:"handle" minLength:"1" maxLength:"64" doc:"unique in the workspace; what assignees name"`
	Name     string                  `json:"name,omitempty" maxLength:"100"`
	Email    string                  `json:"email,omitempty" maxLength:"254"`
	Role     fermata.Role            `json:"role,omitempty" enum:"none,viewer,responder,operator,admin" doc:"default responder"`
	Groups   []string                `json:"groups,omitempty" maxItems:"50"`
	Projects map[string]fermata.Role `json:"projects,omitempty" doc:"role by project"`
}

// findOrAddMember returns the member with the handle. If there is none, it adds one.
func (e *Engine) findOrAddMember(tx *store.Tx, n NewMember, by fermata.Actor) (*fermata.Member, error) {
	m, err := tx.MemberByHandle(n.Handle)
	if err == nil || fermata.CodeOf(err) != fermata.CodeNotFound {
		return m, err
	}
	return addMember(tx, n, by)
}

// addMember adds a member whose handle and address are free.
func addMember(tx *store.Tx, n NewMember, by fermata.Actor) (*fermata.Member, error) {
	if n.Role == "" {
		n.Role = fermata.RoleResponder
	}
	m := &fermata.Member{
		ID: fermata.NewID(fermata.PrefixMember, tx.Now()), Handle: n.Handle, Name: n.Name, Email: n.Email, Role: n.Role,
		Projects: n.Projects, Groups: fermata.SortUnique(n.Groups), CreatedAt: tx.Now(),
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := checkEmailFree(tx.Reader, m); err != nil {
		return nil, err
	}
	tx.InsertMember(m)
	tx.Append(&fermata.Event{Type: fermata.EventMemberAdded, Actor: by, Data: encodeData(memberFacts(m))})
	return m, nil
}

// memberFacts returns the data about a member in events. It contains nothing
// that would have to be deleted later, such as a mail address.
func memberFacts(m *fermata.Member) map[string]any {
	return map[string]any{
		"member_id": m.ID, "handle": m.Handle, "role": m.Role, "groups": m.Groups, "projects": m.Projects,
		"disabled": m.DisabledAt != nil,
	}
}

func checkEmailFree(r store.Reader, m *fermata.Member) error {
	if m.Email == "" {
		return nil
	}
	other, err := r.MemberByEmail(m.Email)
	switch {
	case fermata.CodeOf(err) == fermata.CodeNotFound:
		return nil
	case err != nil:
		return err
	case other.ID != m.ID:
		return fermata.Invalid(fermata.Problem{Field: "email", Message: "is taken"})
	}
	return nil
}

// checkNameFree refuses a name that people would confuse with another member or with the server. It compares the name
// with the names and handles of members, and with the reserved names.
func checkNameFree(r store.Reader, m *fermata.Member) error {
	if m.Name == "" {
		return nil
	}
	skeletons := skeletonsOf(m.Name)
	if slices.Contains(skeletons, "") {
		return fermata.Invalid(fermata.Problem{Field: "name", Message: "has nothing that people can read"})
	}
	for _, reserved := range reservedNames() {
		if areAlike(skeletons, skeletonsOf(reserved)) || areAlike(skeletons, skeletonsOf("the "+reserved)) {
			return fermata.Invalid(fermata.Problem{Field: "name", Message: "stands for the server itself, or for any agent"})
		}
	}
	members, err := r.Members()
	if err != nil {
		return err
	}
	for _, other := range members {
		if other.ID != m.ID && (areAlike(skeletons, skeletonsOf(other.Name)) || areAlike(skeletons, skeletonsOf(other.Handle))) {
			return fermata.Invalid(fermata.Problem{Field: "name", Message: "looks like that of another member"}).
				WithHint("ask an admin to set it, if two people have the same name")
		}
	}
	return nil
}

// reservedNames returns the names of actors that are no people.
func reservedNames() []string {
	names := []string{"fermata", "server"}
	for _, kind := range fermata.ActorKinds {
		names = append(names, string(kind))
	}
	return names
}

// skeletonsOf returns the ways in which a name can be read: the skeletons (UTS #39) of the name as it is, in capitals
// and in small letters. Invisible characters, and signs and spaces between the letters, are left out.
func skeletonsOf(name string) []string {
	visible := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.IsDigit(r) {
			return r
		}
		if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return ' '
		}
		return -1
	}, norm.NFKC.String(name))
	var skeletons []string
	for _, written := range []string{visible, strings.ToUpper(visible), strings.ToLower(visible)} {
		skeleton := strings.ToLower(confusable.Skeleton(written))
		skeletons = append(skeletons, strings.Join(strings.Fields(skeleton), ""))
	}
	return skeletons
}

// areAlike reports whether two names can be read as the same.
func areAlike(a, b []string) bool {
	return slices.ContainsFunc(a, func(look string) bool { return look != "" && slices.Contains(b, look) })
}

// AddMember adds a person to the workspace.
func (e *Engine) AddMember(ctx context.Context, c fermata.Caller, n NewMember) (*fermata.Member, error) {
	if err := c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace); err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToManagePeople, func(tx *store.Tx) (*fermata.Member, error) {
		if err := checkHandleFree(tx.Reader, n.Handle); err != nil {
			return nil, err
		}
		return addMember(tx, n, c.Actor())
	})
}

func checkHandleFree(r store.Reader, handle string) error {
	_, err := r.MemberByHandle(handle)
	if err == nil {
		return fermata.Invalid(fermata.Problem{Field: "handle", Message: "is taken"})
	}
	if fermata.CodeOf(err) == fermata.CodeNotFound {
		return nil
	}
	return err
}

// Members lists the workspace's members, with their roles in the projects that the caller may see. An agent gets
// neither addresses nor roles in projects.
func (e *Engine) Members(ctx context.Context, c fermata.Caller) ([]*fermata.Member, error) {
	if err := c.CheckPermission(fermata.ToReadPeople, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	members, err := e.reader(ctx, c).Members()
	for _, m := range members {
		m.HideProjectsFrom(c)
		if c.Kind == fermata.ActorAgent {
			// An agent names people in questions. It need not know their addresses or their other projects.
			m.Email, m.Projects = "", nil
		}
	}
	return members, err
}

// findMember returns the member for a handle or id that a person typed.
func findMember(r store.Reader, handleOrID string) (*fermata.Member, error) {
	m, err := r.MemberByHandle(handleOrID)
	if err == nil || fermata.CodeOf(err) != fermata.CodeNotFound {
		return m, err
	}
	id, err := r.FindID("member", "members", fermata.PrefixMember, handleOrID)
	if err != nil {
		return nil, err
	}
	return r.Member(id)
}

// ChangeMember changes a member. Members may change their own name, but not to one that looks like another member's.
// Other changes need an admin. The last admin cannot be removed.
func (e *Engine) ChangeMember(ctx context.Context, c fermata.Caller, handleOrID string, ch fermata.MemberChange) (*fermata.Member, error) {
	found, err := findMember(e.reader(ctx, c), handleOrID)
	if err != nil {
		return nil, err
	}
	if ch.ChangesOnlyName() {
		err = c.CheckPermission(fermata.ToChangeOwn, fermata.OfMember(found.ID))
	} else {
		err = c.CheckPermission(fermata.ToManagePeople, fermata.InWorkspace)
	}
	if err != nil {
		return nil, err
	}
	return write(ctx, e, c, fermata.ToChangeOwn, func(tx *store.Tx) (*fermata.Member, error) {
		m, err := tx.Member(found.ID)
		if err != nil {
			return nil, err
		}
		before := *m
		if err := ch.Apply(m, tx.Now()); err != nil {
			return nil, err
		}
		if m.Name != before.Name && !c.HasScope(fermata.ScopeAdmin) {
			if err := checkNameFree(tx.Reader, m); err != nil {
				return nil, err
			}
		}
		return m, e.saveMember(tx, &before, m, c.Actor())
	})
}

// saveMember saves the changes of a member. If the member was disabled, it also ends their sessions, tokens, links
// and devices.
func (e *Engine) saveMember(tx *store.Tx, before, m *fermata.Member, by fermata.Actor) error {
	if err := checkEmailFree(tx.Reader, m); err != nil {
		return err
	}
	if isActiveAdmin(before) && !isActiveAdmin(m) {
		if err := checkOtherAdmin(tx.Reader, m.ID); err != nil {
			return err
		}
	}
	if m.DisabledAt != nil && before.DisabledAt == nil {
		tx.DeleteSessionsOf(m.ID)
		tx.RevokeTokensOf(m.ID)
		tx.DeleteLinksOf(m.ID, "")
		if err := deleteLinks(tx, func(l *fermata.Link) bool { return isMadeBy(l, m.ID) }); err != nil {
			return err
		}
		if err := removeDevices(tx, by, m.ID, anyDevice); err != nil {
			return err
		}
	}
	if m.DisabledAt == nil && before.DisabledAt != nil {
		// The member's answer links ended when the member was disabled, and must not work again.
		tx.RevokeAnswerLinks(m.ID)
	}
	if m.Email != before.Email {
		// A person who reads the old mailbox must not be able to sign in.
		tx.DeleteLinksOf(m.ID, fermata.SignInByMail)
	}
	tx.UpdateMember(m)
	tx.Append(&fermata.Event{Type: fermata.EventMemberChanged, Actor: by, Data: encodeData(memberFacts(m))})
	return nil
}

func isActiveAdmin(m *fermata.Member) bool {
	return m.Role == fermata.RoleAdmin && m.DisabledAt == nil
}

// checkOtherAdmin refuses a change that would leave the workspace without an admin.
func checkOtherAdmin(r store.Reader, exceptID string) error {
	members, err := r.Members()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(members, func(m *fermata.Member) bool { return m.ID != exceptID && isActiveAdmin(m) }) {
		return nil
	}
	return fermata.Errorf(fermata.CodePolicyViolation, "this is the last admin").
		WithHint("make somebody else an admin first")
}

// LocalCaller returns the only person of single-user mode. Their handle is the
// name of the user that runs the server.
func (e *Engine) LocalCaller(ctx context.Context) (fermata.Caller, error) {
	if c, ok := e.callers.get("local", time.Now()); ok {
		return c, nil
	}
	generation := e.callers.currentGeneration()
	handle := "local"
	if u, err := user.Current(); err == nil && u.Username != "" {
		handle = localHandle(u.Username)
	}
	var m *fermata.Member
	err := e.db.Write(ctx, store.DefaultWorkspace, func(tx *store.Tx) error {
		var err error
		m, err = e.findOrAddMember(tx, NewMember{Handle: handle, Role: fermata.RoleAdmin}, fermata.SystemActor)
		return err
	})
	if err != nil {
		return fermata.Caller{}, err
	}
	c := m.Caller()
	c.WorkspaceID, c.Role, c.Scopes = store.DefaultWorkspace, fermata.RoleAdmin, []fermata.Scope{fermata.ScopeAdmin}
	// Such a server has no sign-in, so the local user has the assurance of a session.
	c.Assurance = fermata.AssuranceSession
	e.callers.put("local", cachedCaller{caller: c, expiresAt: time.Now().Add(time.Hour)}, generation)
	return c, nil
}

// localHandle returns a handle for a user name, which may have other characters
// on some systems.
func localHandle(name string) string {
	handle := []rune{}
	for _, r := range name {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || slices.Contains([]rune("-_./"), r) {
			handle = append(handle, r)
		}
	}
	if len(handle) == 0 || len(handle) > 64 {
		return "local"
	}
	return string(handle)
}

// resolveMember returns the member for a typed handle or id. It refuses a caller who may not do v for this member.
func (e *Engine) resolveMember(ctx context.Context, c fermata.Caller, v fermata.Verb, handleOrID string) (*fermata.Member, error) {
	m, err := findMember(e.reader(ctx, c), handleOrID)
	if err != nil {
		return nil, err
	}
	return m, c.CheckPermission(v, fermata.OfMember(m.ID))
}
