package store

import (
	"time"

	"github.com/fermata-hq/fermata"
)

const tokenColumns = "id, workspace_id, hash, name, kind, member_id, scopes, projects, created_at, expires_at, last_used_at, revoked_at"

func scanToken(rs rows) (*fermata.Token, error) {
	t := &fermata.Token{}
	var kind, scopes, projects string
	var createdAt, expiresAt, lastUsedAt, revokedAt int64
	if err := rs.Scan(&t.ID, &t.WorkspaceID, &t.Hash, &t.Name, &kind, &t.MemberID, &scopes, &projects, &createdAt, &expiresAt,
		&lastUsedAt, &revokedAt); err != nil {
		return nil, err
	}
	t.Kind, t.CreatedAt = fermata.ActorKind(kind), instantOf(createdAt)
	t.ExpiresAt, t.LastUsedAt, t.RevokedAt = optionalInstant(expiresAt), optionalInstant(lastUsedAt), optionalInstant(revokedAt)
	if err := parseColumn("projects", projects, &t.Projects); err != nil {
		return nil, err
	}
	return t, parseColumn("scopes", scopes, &t.Scopes)
}

// TokenByHash returns the token with the hash, from any workspace. The token
// names its workspace.
func (r Reader) TokenByHash(hash string) (*fermata.Token, error) {
	return scanOne(r, "token", "", scanToken, "SELECT "+tokenColumns+" FROM tokens WHERE hash = $1", hash)
}

// Tokens lists the workspace's tokens.
func (r Reader) Tokens() ([]*fermata.Token, error) {
	return list(r, scanToken, "SELECT "+tokenColumns+" FROM tokens WHERE workspace_id = $1 ORDER BY id", r.workspace)
}

// Token returns the token with the id.
func (r Reader) Token(id string) (*fermata.Token, error) {
	return scanOne(r, "token", id, scanToken, "SELECT "+tokenColumns+" FROM tokens WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// InsertToken adds a token. Its secret is not stored.
func (tx *Tx) InsertToken(t *fermata.Token) {
	t.WorkspaceID = tx.workspace
	tx.exec(`INSERT INTO tokens (workspace_id, id, hash, name, kind, member_id, scopes, projects, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		tx.workspace, t.ID, t.Hash, t.Name, string(t.Kind), t.MemberID, columnText(t.Scopes), columnText(t.Projects), t.CreatedAt.UnixMilli(), millis(t.ExpiresAt))
}

// RevokeToken stores that a token was revoked.
func (tx *Tx) RevokeToken(t *fermata.Token) {
	tx.exec("UPDATE tokens SET revoked_at = $1 WHERE workspace_id = $2 AND id = $3", millis(t.RevokedAt), tx.workspace, t.ID)
}

// TouchToken records when a token was last used.
func (tx *Tx) TouchToken(id string, now time.Time) {
	tx.execAny("UPDATE tokens SET last_used_at = $1 WHERE workspace_id = $2 AND id = $3", now.UnixMilli(), tx.workspace, id)
}

// RevokeTokensOf revokes every token of a member.
func (tx *Tx) RevokeTokensOf(memberID string) {
	tx.execAny("UPDATE tokens SET revoked_at = $1 WHERE workspace_id = $2 AND member_id = $3 AND revoked_at = 0",
		tx.Now().UnixMilli(), tx.workspace, memberID)
}
