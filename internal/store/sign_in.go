package store

import (
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
)

const sessionColumns = "id, workspace_id, hash, member_id, method, assurance, user_agent, created_at, last_seen_at, expires_at, made_with"

func scanSession(rs rows) (*fermata.BrowserSession, error) {
	s := &fermata.BrowserSession{}
	var method, assurance string
	var createdAt, lastSeenAt, expiresAt int64
	if err := rs.Scan(&s.ID, &s.WorkspaceID, &s.Hash, &s.MemberID, &method, &assurance, &s.UserAgent, &createdAt, &lastSeenAt, &expiresAt, &s.CreatorTokenID); err != nil {
		return nil, err
	}
	s.Method, s.Assurance = fermata.SignInMethod(method), fermata.Assurance(assurance)
	s.CreatedAt, s.LastSeenAt, s.ExpiresAt = instantOf(createdAt), instantOf(lastSeenAt), instantOf(expiresAt)
	return s, nil
}

// SessionByHash returns the session with the hash, from any workspace. The
// session names its workspace.
func (r Reader) SessionByHash(hash string) (*fermata.BrowserSession, error) {
	return scanOne(r, "session", "", scanSession, "SELECT "+sessionColumns+" FROM browser_sessions WHERE hash = $1", hash)
}

// Session returns the session with the id.
func (r Reader) Session(id string) (*fermata.BrowserSession, error) {
	return scanOne(r, "session", id, scanSession, "SELECT "+sessionColumns+" FROM browser_sessions WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// SessionsOf lists a member's sessions, the most recently used first.
func (r Reader) SessionsOf(memberID string) ([]*fermata.BrowserSession, error) {
	return list(r, scanSession, "SELECT "+sessionColumns+
		" FROM browser_sessions WHERE member_id = $1 AND workspace_id = $2 ORDER BY last_seen_at DESC, id DESC", memberID, r.workspace)
}

// Sessions lists the sessions of all members.
func (r Reader) Sessions() ([]*fermata.BrowserSession, error) {
	return list(r, scanSession, "SELECT "+sessionColumns+" FROM browser_sessions WHERE workspace_id = $1 ORDER BY id", r.workspace)
}

// InsertSession adds a session, and deletes expired sessions.
func (tx *Tx) InsertSession(s *fermata.BrowserSession) {
	s.WorkspaceID = tx.workspace
	tx.execAny("DELETE FROM browser_sessions WHERE expires_at <= $1", tx.Now().UnixMilli())
	tx.exec(`INSERT INTO browser_sessions (workspace_id, id, hash, member_id, method, assurance, user_agent, created_at, last_seen_at, expires_at, made_with)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		tx.workspace, s.ID, s.Hash, s.MemberID, string(s.Method), string(s.Assurance), s.UserAgent,
		s.CreatedAt.UnixMilli(), s.LastSeenAt.UnixMilli(), s.ExpiresAt.UnixMilli(), s.CreatorTokenID)
}

// TouchSession records when a session was last used.
func (tx *Tx) TouchSession(id string, now time.Time) {
	tx.execAny("UPDATE browser_sessions SET last_seen_at = $1 WHERE workspace_id = $2 AND id = $3", now.UnixMilli(), tx.workspace, id)
}

// DeleteSession ends a session. It is not an error if the session has ended
// before.
func (tx *Tx) DeleteSession(id string) {
	tx.execAny("DELETE FROM browser_sessions WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
}

// DeleteSessionsOf ends every session of a member.
func (tx *Tx) DeleteSessionsOf(memberID string) {
	tx.execAny("DELETE FROM browser_sessions WHERE member_id = $1 AND workspace_id = $2", memberID, tx.workspace)
}

const linkColumns = "id, workspace_id, hash, method, assurance, member_id, invite, created_by, created_at, expires_at, used_at, made_with"

func scanSignInLink(rs rows) (*fermata.Link, error) {
	l := &fermata.Link{}
	var method, assurance, invite, createdBy string
	var createdAt, expiresAt, usedAt int64
	if err := rs.Scan(&l.ID, &l.WorkspaceID, &l.Hash, &method, &assurance, &l.MemberID, &invite, &createdBy, &createdAt, &expiresAt, &usedAt, &l.CreatorTokenID); err != nil {
		return nil, err
	}
	l.Method, l.Assurance = fermata.SignInMethod(method), fermata.Assurance(assurance)
	l.CreatedAt, l.ExpiresAt, l.UsedAt = instantOf(createdAt), instantOf(expiresAt), optionalInstant(usedAt)
	if err := parseColumn("created_by", createdBy, (*actor)(&l.CreatedBy)); err != nil {
		return nil, err
	}
	return l, parseColumn("invite", invite, &l.Invite)
}

// LinkByHash returns the sign-in link with the hash, from any workspace. The
// link names its workspace.
func (r Reader) LinkByHash(hash string) (*fermata.Link, error) {
	return scanOne(r, "link", "", scanSignInLink, "SELECT "+linkColumns+" FROM sign_in_links WHERE hash = $1", hash)
}

// UnusedLinks lists the sign-in links and invitations that can still be used.
func (r Reader) UnusedLinks(now time.Time) ([]*fermata.Link, error) {
	return list(r, scanSignInLink, "SELECT "+linkColumns+
		" FROM sign_in_links WHERE workspace_id = $1 AND used_at = 0 AND expires_at > $2 ORDER BY id", r.workspace, now.UnixMilli())
}

// Invitations lists the invitations that were not accepted and have not
// expired, the oldest first.
func (r Reader) Invitations(now time.Time) ([]*fermata.Link, error) {
	links, err := r.UnusedLinks(now)
	return slices.DeleteFunc(links, func(l *fermata.Link) bool { return l.Method != fermata.SignInByInvitation }), err
}

// InsertLink adds a sign-in link, and deletes expired links.
func (tx *Tx) InsertLink(l *fermata.Link) {
	l.WorkspaceID = tx.workspace
	tx.execAny("DELETE FROM sign_in_links WHERE expires_at <= $1", tx.Now().UnixMilli())
	tx.exec(`INSERT INTO sign_in_links (workspace_id, id, hash, method, assurance, member_id, invite, created_by, created_at, expires_at, made_with)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		tx.workspace, l.ID, l.Hash, string(l.Method), string(l.Assurance), l.MemberID, columnText(l.Invite), columnText(actor(l.CreatedBy)),
		l.CreatedAt.UnixMilli(), l.ExpiresAt.UnixMilli(), l.CreatorTokenID)
}

// UseLink marks a link as used. The write fails if the link was used before.
func (tx *Tx) UseLink(l *fermata.Link) {
	now := tx.Now()
	l.UsedAt = &now
	tx.exec("UPDATE sign_in_links SET used_at = $1, member_id = $2 WHERE workspace_id = $3 AND id = $4 AND used_at = 0",
		now.UnixMilli(), l.MemberID, tx.workspace, l.ID)
}

// DeleteLink removes a link.
func (tx *Tx) DeleteLink(id string) {
	tx.exec("DELETE FROM sign_in_links WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
}

// DeleteLinksOf deletes the sign-in links of a member: those of one method, or
// all if the method is empty.
func (tx *Tx) DeleteLinksOf(memberID string, method fermata.SignInMethod) {
	tx.execAny("DELETE FROM sign_in_links WHERE member_id = $1 AND workspace_id = $2 AND ($3 = '' OR method = $3)",
		memberID, tx.workspace, string(method))
}

// Flow is a sign-in that has begun and is not complete.
type Flow struct {
	Workspace string
	// Kind is oidc, passkey or add_passkey.
	Kind string
	Data string
	// Hash is the hash of a secret. Only the browser that began the sign-in has
	// this secret, so only this browser can complete the sign-in.
	Hash      string
	ExpiresAt time.Time
}

func scanFlow(rs rows) (Flow, error) {
	var f Flow
	var expiresAt int64
	err := rs.Scan(&f.Workspace, &f.Kind, &f.Data, &f.Hash, &expiresAt)
	f.ExpiresAt = instantOf(expiresAt)
	return f, err
}

// InsertFlow adds a flow, and deletes expired flows.
func (tx *Tx) InsertFlow(f Flow) {
	tx.execAny("DELETE FROM sign_in_flows WHERE expires_at <= $1", tx.Now().UnixMilli())
	tx.exec("INSERT INTO sign_in_flows (workspace_id, kind, data, hash, expires_at) VALUES ($1, $2, $3, $4, $5)",
		tx.workspace, f.Kind, f.Data, f.Hash, f.ExpiresAt.UnixMilli())
}

// TakeFlow returns a flow and deletes it, so that there is only one attempt to
// complete it, whether or not the attempt succeeds.
func (tx *Tx) TakeFlow(kind, hash string) (Flow, error) {
	f, err := scanOne(tx.Reader, "sign-in", "", scanFlow,
		"SELECT workspace_id, kind, data, hash, expires_at FROM sign_in_flows WHERE workspace_id = $1 AND kind = $2 AND hash = $3",
		tx.workspace, kind, hash)
	if err == nil {
		tx.exec("DELETE FROM sign_in_flows WHERE hash = $1", hash)
	}
	return f, err
}

const passkeyColumns = "id, member_id, name, credential_id, credential, created_at, last_used_at"

func scanPasskey(rs rows) (*fermata.Passkey, error) {
	p := &fermata.Passkey{}
	var createdAt, lastUsedAt int64
	err := rs.Scan(&p.ID, &p.MemberID, &p.Name, &p.CredentialID, &p.Credential, &createdAt, &lastUsedAt)
	p.CreatedAt, p.LastUsedAt = instantOf(createdAt), optionalInstant(lastUsedAt)
	return p, err
}

// PasskeysOf lists a member's passkeys, the oldest first.
func (r Reader) PasskeysOf(memberID string) ([]*fermata.Passkey, error) {
	return list(r, scanPasskey, "SELECT "+passkeyColumns+" FROM passkeys WHERE member_id = $1 AND workspace_id = $2 ORDER BY id", memberID, r.workspace)
}

// Passkeys lists the passkeys of all members.
func (r Reader) Passkeys() ([]*fermata.Passkey, error) {
	return list(r, scanPasskey, "SELECT "+passkeyColumns+" FROM passkeys WHERE workspace_id = $1 ORDER BY id", r.workspace)
}

// Passkey returns the passkey with the id.
func (r Reader) Passkey(id string) (*fermata.Passkey, error) {
	return scanOne(r, "passkey", id, scanPasskey, "SELECT "+passkeyColumns+" FROM passkeys WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// InsertPasskey adds a passkey.
func (tx *Tx) InsertPasskey(p *fermata.Passkey) {
	tx.exec(`INSERT INTO passkeys (workspace_id, id, member_id, name, credential_id, credential, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		tx.workspace, p.ID, p.MemberID, p.Name, p.CredentialID, p.Credential, p.CreatedAt.UnixMilli())
}

// UpdatePasskey stores the data of a passkey that a sign-in changed: the
// credential with its counter, and the last use.
func (tx *Tx) UpdatePasskey(p *fermata.Passkey) {
	tx.exec("UPDATE passkeys SET credential = $1, last_used_at = $2 WHERE workspace_id = $3 AND id = $4",
		p.Credential, millis(p.LastUsedAt), tx.workspace, p.ID)
}

// DeletePasskey removes a passkey.
func (tx *Tx) DeletePasskey(id string) {
	tx.exec("DELETE FROM passkeys WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
}
