package store

// AnswerLinkGeneration returns how many times the member's answer links were
// revoked.
func (r Reader) AnswerLinkGeneration(memberID string) (int64, error) {
	found, err := list(r, scanInt, "SELECT generation FROM answer_link_generations WHERE workspace_id = $1 AND member_id = $2", r.workspace, memberID)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0], nil
}

// RevokeAnswerLinks makes every answer link of the member invalid.
func (tx *Tx) RevokeAnswerLinks(memberID string) {
	tx.exec(`INSERT INTO answer_link_generations (workspace_id, member_id, generation) VALUES ($1, $2, 1)
		ON CONFLICT (workspace_id, member_id) DO UPDATE SET generation = answer_link_generations.generation + 1`, tx.workspace, memberID)
}
