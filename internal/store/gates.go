package store

import (
	"crypto/rand"
	"fmt"

	"github.com/fermata-hq/fermata"
)

const gateRuleColumns = "id, rule, owner, expires_at, used, created_at"

// storedRule is the JSON of the column rule.
type storedRule struct {
	*fermata.NewGateRule
	SessionOf *fermata.Actor `json:"session_of,omitempty"`
}

func (r Reader) scanGateRule(rs rows) (*fermata.GateRule, error) {
	g := &fermata.GateRule{WorkspaceID: r.workspace}
	var stored, owner string
	var expiresAt, createdAt int64
	if err := rs.Scan(&g.ID, &stored, &owner, &expiresAt, &g.Used, &createdAt); err != nil {
		return nil, err
	}
	g.ExpiresAt, g.CreatedAt = optionalInstant(expiresAt), instantOf(createdAt)
	if err := parseColumn("owner", owner, (*actor)(&g.Owner)); err != nil {
		return nil, err
	}
	rule := storedRule{NewGateRule: &g.NewGateRule}
	err := parseColumn("rule", stored, &rule)
	g.SessionOwner = rule.SessionOf
	return g, err
}

// GateRules lists the workspace's rules, the oldest first.
func (r Reader) GateRules() ([]*fermata.GateRule, error) {
	return list(r, r.scanGateRule, "SELECT "+gateRuleColumns+" FROM gate_rules WHERE workspace_id = $1 ORDER BY id", r.workspace)
}

// GateRule returns the rule with the id.
func (r Reader) GateRule(id string) (*fermata.GateRule, error) {
	return scanOne(r, "rule", id, r.scanGateRule,
		"SELECT "+gateRuleColumns+" FROM gate_rules WHERE workspace_id = $1 AND id = $2", r.workspace, id)
}

// InsertGateRule adds a rule.
func (tx *Tx) InsertGateRule(g *fermata.GateRule) {
	g.WorkspaceID = tx.workspace
	tx.exec(`INSERT INTO gate_rules (workspace_id, id, decision, rule, owner, expires_at, used, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tx.workspace, g.ID, string(g.Decision), columnText(storedRule{&g.NewGateRule, g.SessionOwner}), columnText(actor(g.Owner)), millis(g.ExpiresAt), g.Used,
		g.CreatedAt.UnixMilli())
}

// UseGateRule counts one use of a rule. The write fails if the rule was used
// since it was read.
func (tx *Tx) UseGateRule(g *fermata.GateRule) {
	tx.exec("UPDATE gate_rules SET used = used + 1 WHERE workspace_id = $1 AND id = $2 AND used = $3", tx.workspace, g.ID, g.Used)
	g.Used++
}

// DeleteGateRule removes a rule.
func (tx *Tx) DeleteGateRule(id string) {
	tx.exec("DELETE FROM gate_rules WHERE workspace_id = $1 AND id = $2", tx.workspace, id)
}

// GrantKey returns the key that signs the workspace's grants, or nil if there
// is none yet.
func (r Reader) GrantKey() ([]byte, error) {
	found, err := list(r, scanBytes, "SELECT secret FROM grant_keys WHERE workspace_id = $1", r.workspace)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return r.unseal(string(found[0]), r.grantKeyCell())
}

func (r Reader) grantKeyCell() cell { return cell{"grant_keys", "secret", r.workspace, ""} }

// GrantKey returns the key that signs the workspace's grants. It creates the
// key at the first use.
func (tx *Tx) GrantKey() ([]byte, error) {
	key, err := tx.Reader.GrantKey()
	if err != nil || key != nil {
		return key, err
	}
	key = make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	tx.exec("INSERT INTO grant_keys (workspace_id, secret, created_at) VALUES ($1, $2, $3)", tx.workspace,
		[]byte(tx.seal(key, tx.grantKeyCell())), tx.Now().UnixMilli())
	return key, nil
}

// GrantsUsed returns those of the approvals whose grant was used.
func (r Reader) GrantsUsed(questionIDs []string) (map[string]bool, error) {
	used := map[string]bool{}
	if len(questionIDs) == 0 {
		return used, nil
	}
	found, err := list(r, scanString, "SELECT question_id FROM grants_used WHERE workspace_id = $1 AND "+
		fmt.Sprintf(r.d.inList, "question_id", 2), r.workspace, columnText(questionIDs))
	for _, id := range found {
		used[id] = true
	}
	return used, err
}

// UseGrant records that the grant of an approval was used. The write fails if
// it was used before.
func (tx *Tx) UseGrant(questionID, callID string, by fermata.Actor) {
	tx.exec("INSERT INTO grants_used (workspace_id, question_id, used_by, call_id, used_at) VALUES ($1, $2, $3, $4, $5)",
		tx.workspace, questionID, columnText(actor(by)), callID, tx.Now().UnixMilli())
}
