package engine_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/test/patience"
)

// TestAuditFindsEdits: the audit finds every change of the events that was made directly in the database.
func TestAuditFindsEdits(t *testing.T) {
	for name, edit := range map[string]string{
		"data":                   `UPDATE events SET data = '{}' WHERE seq = 3`,
		"type":                   `UPDATE events SET type = 'x' WHERE seq = 3`,
		"who":                    `UPDATE events SET actor_name = 'mallory' WHERE seq = 3`,
		"when":                   `UPDATE events SET at = at + 1 WHERE seq = 3`,
		"which":                  `UPDATE events SET task_id = 'task_x' WHERE seq = 3`,
		"hash":                   `UPDATE events SET prev_hash = 'x' WHERE seq = 3`,
		"first":                  `UPDATE events SET data = '{}' WHERE seq = 1`,
		"last":                   `UPDATE events SET data = '{}' WHERE seq = (SELECT max(seq) FROM events)`,
		"delete":                 `DELETE FROM events WHERE seq = 3`,
		"delete the first":       `DELETE FROM events WHERE seq = 1`,
		"truncate":               `DELETE FROM events WHERE seq > 4`,
		"delete all":             `DELETE FROM events`,
		"reorder":                `UPDATE events SET seq = -3 WHERE seq = 3; UPDATE events SET seq = 3 WHERE seq = 4; UPDATE events SET seq = 4 WHERE seq = -3`,
		"close the gap":          `DELETE FROM events WHERE seq = 3; UPDATE events SET seq = seq - 1 WHERE seq = 4`,
		"add":                    `INSERT INTO events (workspace_id, seq, type, actor_kind, at, prev_hash) SELECT id, event_seq + 1, 'x', 'human', 1, event_hash FROM workspaces`,
		"truncate with the head": `DELETE FROM events WHERE seq > 4; UPDATE workspaces SET event_seq = 4`,
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				_, q := w.createSuspended(format)
				w.answer(q.ID, "toml")
				report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
				w.OK(err)
				if !report.OK || report.Events != w.events() {
					w.Fatalf("before the edit: %+v", report)
				}
				w.forge(edit)
				report, err = w.Engine.VerifyAudit(w.Context(), w.alice)
				w.OK(err)
				if report.OK || report.Problem == "" {
					w.Fatalf("the edit was not found: %+v", report)
				}
			})
		})
	}
}

// TestAuditFindsEditsOfTables: the audit finds a direct change of the tables by which the server decides, although no
// event was changed.
func TestAuditFindsEditsOfTables(t *testing.T) {
	for name, edit := range map[string]struct{ sql, problem string }{
		"an answer":               {`UPDATE questions SET resolution = replace(resolution, 'toml', 'yaml') WHERE status = 'answered'`, "another answers than event"},
		"who answered":            {`UPDATE questions SET resolution = replace(resolution, 'mem_', 'mem_x') WHERE status = 'answered'`, "another by than event"},
		"how that one was known":  {`UPDATE questions SET resolution = replace(resolution, '"assurance":"', '"assurance":"x') WHERE status = 'answered'`, "another assurance than event"},
		"the end":                 {`UPDATE questions SET status = 'timed_out' WHERE status = 'answered'`, "another end than event"},
		"an end without an event": {`UPDATE questions SET status = 'answered', resolution = '{"status":"answered","decided_by":"human","answer":"approve"}' WHERE status = 'pending'`, "another end than the events say"},
		"a risk":                  {`UPDATE questions SET asked = replace(asked, '"risk":"medium"', '"risk":"low"') WHERE status = 'pending'`, "another risk than event"},
		"an action":               {`UPDATE questions SET asked = replace(asked, '"action_hash":"', '"action_hash":"0') WHERE status = 'pending'`, "another action_hash than event"},
		"what an action does":     {`UPDATE questions SET asked = ` + replaceActionSQL(`{"tool":"Bash","input":{"command":"make"}}`, `{"tool":"Bash","input":{"command":"evil"}}`) + ` WHERE status = 'pending'`, "another action_hash than event"},
		"a question that is gone": {`UPDATE questions SET id = 'x' || id WHERE status = 'answered'`, "there is no such question"},
		"a role":                  {`UPDATE members SET role = 'viewer' WHERE handle = 'alice'`, "the member alice has another role than event"},
		"a member without events": {`UPDATE members SET id = 'mem_x' WHERE handle = 'alice'`, "no event says who added the member alice"},
		"the policy":              {`UPDATE workspaces SET policy = '{"gate_default":"allow"}'`, "the policy is another one than"},
		"a group":                 {`UPDATE members SET member_groups = '["admins"]' WHERE handle = 'alice'`, "the member alice is in other groups"},
		"a token's scopes":        {`UPDATE tokens SET scopes = '["ask","work"]' WHERE name = 'audited'`, "another scopes than event"},
		"a token's projects":      {`UPDATE tokens SET projects = '' WHERE name = 'audited'`, "another projects than event"},
		"a token's secret":        {`UPDATE tokens SET hash = 'x' WHERE name = 'audited'`, "another fingerprint than event"},
		"a token's life":          {`UPDATE tokens SET expires_at = expires_at + 1000 WHERE name = 'audited'`, "another expires_at than event"},
		"a revoked token":         {`UPDATE tokens SET revoked_at = 0 WHERE name = 'revoked'`, "was revoked, and is good again"},
		"a token without events":  {`UPDATE tokens SET id = 'tok_x' WHERE name = 'audited'`, "no event says who made the token"},
		"a passkey": {`INSERT INTO passkeys (workspace_id, id, member_id, name, credential_id, credential, created_at) SELECT workspace_id, 'pk_x', id, 'x', 'x', '{}', 1 FROM members WHERE handle = 'alice'`,
			"no event says who added the passkey"},
		"who somebody is elsewhere":  {`INSERT INTO identities (workspace_id, kind, id, member_id, created_at) SELECT workspace_id, 'slack', 'U1', id, 1 FROM members WHERE handle = 'alice'`, "no event says that"},
		"a rule":                     {`UPDATE gate_rules SET rule = replace(rule, '"deny"', '"allow"')`, "another decision than event"},
		"whose session a rule is":    {`UPDATE gate_rules SET rule = replace(rule, '"session_of":{"kind":"agent"', '"session_of":{"kind":"human"')`, "another session_of than event"},
		"a rule that is gone":        {`DELETE FROM gate_rules`, "is gone, and no event says so"},
		"a rule without events":      {`UPDATE gate_rules SET id = 'x' || id`, "no event says who made the rule"},
		"a grant that was used":      {`DELETE FROM grants_used`, "could be used again"},
		"what is asked":              {`UPDATE questions SET asked = replace(asked, 'it is due', 'it is safe') WHERE status = 'pending'`, "another text, asker or rule than event"},
		"an option":                  {`UPDATE questions SET asked = replace(asked, 'toml', 'yaml2') WHERE status = 'answered'`, "another text, asker or rule than event"},
		"the rule at the deadline":   {`UPDATE questions SET asked = replace(asked, '"on_timeout":"fail"', '"on_timeout":"skip"') WHERE status = 'pending'`, "another text, asker or rule than event"},
		"who asks":                   {`UPDATE questions SET asked = replace(asked, 'tok_agent', 'tok_other') WHERE status = 'pending'`, "another text, asker or rule than event"},
		"a project":                  {`UPDATE questions SET project = 'secret' WHERE status = 'pending'`, "another project than event"},
		"who is asked":               {`UPDATE questions SET assignees = '["mallory"]' WHERE status = 'pending'`, "another assignees than the events say"},
		"a deadline":                 {`UPDATE questions SET deadline = 4102444800000 WHERE status = 'pending'`, "another deadline than the events say"},
		"a vote":                     {`UPDATE questions SET votes = '[{"by":{"kind":"human","id":"mem_x","name":"bob"},"value":"approve","at":"2026-01-01T00:00:00Z"}]' WHERE status = 'pending'`, "another votes than the events say"},
		"a name of who voted":        {`UPDATE questions SET votes = replace(votes, 'alice', 'mallory') WHERE votes <> ''`, "another votes than"},
		"a held answer":              {`UPDATE questions SET resolution = '{"by":{"kind":"human","id":"mem_x","name":"bob"},"at":"2026-01-01T00:00:00Z","release_at":"2226-01-01T00:00:00Z"}' WHERE status = 'pending'`, "another held answer than the events say"},
		"a name of who answered":     {`UPDATE questions SET resolution = replace(resolution, '"name":"alice"', '"name":"mallory"') WHERE status = 'answered'`, "another answered_by than event"},
		"a late answer":              {`UPDATE questions SET resolution = replace(resolution, '"json"', '"yaml"') WHERE status = 'timed_out'`, "another late answers than the events say"},
		"a shown answer":             {`UPDATE questions SET resolution = replace(resolution, '"answer":"toml","answers"', '"answer":"yaml","answers"') WHERE status = 'answered'`, "another answer than event"},
		"when it was answered":       {`UPDATE questions SET resolution = replace(resolution, '"at":"2', '"at":"3') WHERE status = 'answered'`, "another seconds than event"},
		"when it was asked":          {`UPDATE questions SET created_at = created_at - 1 WHERE status = 'pending'`, "another time than event"},
		"a comment of a vote":        {`UPDATE questions SET votes = replace(votes, '"value":"approve"', '"value":"approve","comment":"It is saved."') WHERE votes <> ''`, "another votes than"},
		"when a vote was cast":       {`UPDATE questions SET votes = replace(votes, '"at":"2', '"at":"1') WHERE votes <> ''`, "another votes than"},
		"a rule that ends":           {`UPDATE gate_rules SET expires_at = 1 WHERE expires_at = 0`, "another expires_at than event"},
		"a rule that was used up":    {`UPDATE gate_rules SET used = 0`, "was used 0 times, and the events record 1"},
		"a question without events":  {`INSERT INTO questions (workspace_id, id, task_id, project, type, status, title, priority, deadline, asked, created_at) SELECT workspace_id, 'q_x', task_id, project, 'non_blocking', status, title, priority, deadline, asked, created_at FROM questions WHERE status = 'pending' LIMIT 1`, "questions, and the events record"},
		"who made a task":            {`UPDATE tasks SET created_by = replace(created_by, 'tok_agent', 'tok_other')`, "another maker or project than event"},
		"a task's project":           {`UPDATE tasks SET project = 'secret'`, "another maker or project than event"},
		"a message":                  {`UPDATE messages SET body = 'Delete it all'`, "another text than event"},
		"who wrote a message":        {`UPDATE messages SET author = replace(author, 'alice', 'bob')`, "another author than event"},
		"a message without events":   {`INSERT INTO messages (workspace_id, id, task_id, kind, author, body, created_at) SELECT workspace_id, 'msg_x', task_id, kind, author, body, created_at FROM messages`, "messages, and the events record"},
		"how one signed in":          {`UPDATE browser_sessions SET assurance = 'passkey'`, "another assurance than event"},
		"who signed in":              {`UPDATE browser_sessions SET member_id = 'mem_admin'`, "is another member's than event"},
		"a session's secret":         {`UPDATE browser_sessions SET hash = 'x'`, "another fingerprint than event"},
		"a session's life":           {`UPDATE browser_sessions SET expires_at = expires_at + 1000`, "another expires_at than event"},
		"when one signed in":         {`UPDATE browser_sessions SET created_at = created_at + 1000`, "another created_at than event"},
		"links that were taken back": {`DELETE FROM answer_link_generations`, "could be used again"},
		"a session beyond time":      {`UPDATE browser_sessions SET expires_at = 9000000000000000`, "another expires_at than event"},
		"a session's token":          {`UPDATE browser_sessions SET made_with = 'tok_other'`, "another token_id than event"},
		"a link's token":             {`UPDATE sign_in_links SET made_with = 'tok_other' WHERE method = 'link' AND used_at = 0`, "another token_id than event"},
		"a session without events":   {`UPDATE browser_sessions SET id = 'ses_x'`, "no event says who signed in"},
		"whom a link signs in":       {`UPDATE sign_in_links SET member_id = 'mem_admin' WHERE method = 'link' AND used_at = 0`, "another member_id than event"},
		"a link's secret":            {`UPDATE sign_in_links SET hash = 'x' WHERE method = 'link' AND used_at = 0`, "another fingerprint than event"},
		"a link that was used":       {`UPDATE sign_in_links SET used_at = 0 WHERE method = 'link'`, "was used, and could be used again"},
		"a link in a mail":           {`UPDATE sign_in_links SET member_id = 'mem_admin' WHERE method = 'email'`, "another member_id than event"},
		"what an invitation gives":   {`UPDATE sign_in_links SET invite = replace(invite, 'viewer', 'admin')`, "another role than event"},
		"a link without events":      {`UPDATE sign_in_links SET id = 'link_x' WHERE method = 'email'`, "no event says who made the sign-in link"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(w *world) {
				_, q := w.createSuspended(format)
				w.answer(q.ID, "toml")
				w.OK(w.verify(w.approveAction("").Grant, removeOld))
				w.createSettings()
				w.createSignIns()
				w.OK(w.Engine.RevokeAnswerLinks(w.Context(), admin, "alice"))
				w.createVotes()
				task, _ := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Run?", Body: "Since it is due.", OnTimeout: fermata.FailTask, Action: []byte(`{"tool":"Bash","input":{"command":"make"}}`)})
				w.say(task.ID, "Wait for me")
				report, err := w.Engine.VerifyAudit(w.Context(), admin)
				w.OK(err)
				if !report.OK {
					w.Fatalf("before the edit: %+v", report)
				}
				w.forge(edit.sql)
				report, err = w.Engine.VerifyAudit(w.Context(), admin)
				w.OK(err)
				if report.OK || !strings.Contains(report.Problem, edit.problem) {
					w.Fatalf("got %+v, want %q", report, edit.problem)
				}
			})
		})
	}
}

// createSettings creates one object of each kind by which the server decides, except questions, and changes it.
func (w *world) createSettings() {
	w.Helper()
	token := func(name string, expires fermata.Timeout) *fermata.Token {
		t, err := w.Engine.CreateToken(w.Context(), admin, fermata.NewToken{Name: name, Scopes: []fermata.Scope{fermata.ScopeAsk}, Projects: []string{"web"}, ExpiresIn: expires})
		w.OK(err)
		return t
	}
	token("audited", "90d")
	_, err := w.Engine.RevokeToken(w.Context(), admin, token("revoked", "").ID)
	w.OK(err)
	_, err = w.Engine.AddGateRule(w.Context(), admin, fermata.NewGateRule{Tool: "Bash", Args: map[string]string{"command": "rm *"}, Decision: fermata.GateDeny})
	w.OK(err)
	_, err = w.Engine.AddGateRule(w.Context(), admin, fermata.NewGateRule{Tool: "Write", Decision: fermata.GateAllow, Uses: 1})
	w.OK(err)
	w.gate(fermata.GateCall{SessionKey: "claude:1", CallID: "c1", Runner: "claude", Tool: "Write", Input: []byte(`{"file_path":"a"}`), Dir: "/work"}, fermata.GateAllow)
	w.gate(fermata.GateCall{SessionKey: "claude:2", CallID: "c1", Runner: "claude", Tool: "Edit", Input: []byte(`{"file_path":"a"}`), Dir: "/work"}, fermata.GateAsk)
	_, err = w.Engine.AddGateRule(w.Context(), admin, fermata.NewGateRule{Tool: "Edit", Decision: fermata.GateAllow, SessionKey: "claude:2"})
	w.OK(err)
	gone, err := w.Engine.AddGateRule(w.Context(), admin, fermata.NewGateRule{Tool: "Read", Decision: fermata.GateAllow, Uses: 3, ExpiresIn: "1h"})
	w.OK(err)
	_, err = w.Engine.RemoveGateRule(w.Context(), admin, gone.ID)
	w.OK(err)
	for _, name := range []string{"ops", "gone"} {
		_, err = w.Engine.AddGroup(w.Context(), admin, fermata.NewGroup{Name: name, Members: []string{"alice"}})
		w.OK(err)
	}
	renamed := "operations"
	_, err = w.Engine.ChangeGroup(w.Context(), admin, "ops", fermata.GroupChange{Name: &renamed})
	w.OK(err)
	w.OK(w.Engine.DeleteGroup(w.Context(), admin, "gone"))
}

// createSignIns creates a session, unused links and an invitation.
func (w *world) createSignIns() {
	w.Helper()
	email := "alice@example.com"
	_, err := w.Engine.ChangeMember(w.Context(), admin, w.alice.MemberID, fermata.MemberChange{Email: &email})
	w.OK(err)
	w.signIn("alice", engine.Browser{})
	_, err = w.Engine.MakeLink(w.Context(), admin, "alice")
	w.OK(err)
	_, err = w.Engine.MakeMailLink(w.Context(), email)
	w.OK(err)
	_, err = w.Engine.Invite(w.Context(), admin, fermata.NewInvitation{Handle: "guest", Role: fermata.RoleViewer})
	w.OK(err)
}

// createVotes creates a question with votes of two people, and a question that is answered after its deadline.
func (w *world) createVotes() {
	w.Helper()
	bob := w.Person("bob")
	_, q := w.createSuspended(fermata.Ask{Type: fermata.Approval, Title: "Deploy?", Approvals: &fermata.Quorum{Required: 2}, Action: []byte(`{"tool":"deploy"}`)})
	for _, c := range []fermata.Caller{w.alice, bob} {
		_, err := w.approve(c, q, fermata.Approve)
		w.OK(err)
	}
	late := format
	late.Timeout, late.OnTimeout, late.Title = "5m", fermata.SkipTask, "In time?"
	_, q = w.createSuspended(late)
	w.sweep(6 * time.Minute)
	w.answer(q.ID, "json")
}

// TestAuditOfAPolicyThatWasChanged: a change that people make through the server is no fault.
func TestAuditOfAPolicyThatWasChanged(t *testing.T) {
	each(t, func(w *world) {
		p, err := w.Engine.Policy(w.Context(), admin)
		w.OK(err)
		p.GateDefault = fermata.GateDeny
		_, err = w.Engine.SetPolicy(w.Context(), admin, p)
		w.OK(err)
		viewer := fermata.RoleViewer
		_, err = w.Engine.ChangeMember(w.Context(), admin, w.alice.MemberID, fermata.MemberChange{Role: &viewer})
		w.OK(err)
		report, err := w.Engine.VerifyAudit(w.Context(), admin)
		w.OK(err)
		w.Equal("", report.Problem)
		w.forge(`UPDATE workspaces SET policy = replace(policy, 'deny', 'allow')`)
		report, err = w.Engine.VerifyAudit(w.Context(), admin)
		w.OK(err)
		w.Equal(false, report.OK)
	})
}

func TestAuditOfNothing(t *testing.T) {
	each(t, func(w *world) {
		w.forge("DELETE FROM tokens; DELETE FROM members; DELETE FROM events; UPDATE workspaces SET event_seq = 0, event_hash = ''")
		report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
		w.OK(err)
		w.Equal("", report.Problem)
	})
}

// TestAuditWhileWriting: events that are added during the audit are no fault.
func TestAuditWhileWriting(t *testing.T) {
	each(t, func(w *world) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := w.Engine.CreateTask(w.Context(), w.agent, fermata.NewTask{Title: "x"}); err != nil {
					w.Errorf("create: %v", err)
					return
				}
			}
		}()
		for range 20 {
			report, err := w.Engine.VerifyAudit(w.Context(), w.alice)
			if err != nil || !report.OK {
				w.Errorf("%+v, %v", report, err)
			}
		}
		close(stop)
		patience.Receive(w, "the writer stops", stopped)
	})
}

// replaceActionSQL returns the SQL that replaces the action of a question by another one.
func replaceActionSQL(action, other string) string {
	encoded := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("replace(asked, '%s', '%s')", encoded([]byte(action)), encoded([]byte(other)))
}
