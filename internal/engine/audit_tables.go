package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
)

// The events record what happened, but the server decides by the tables. So the audit compares the tables with the
// events: every question with what was asked, the votes and how it ended, every used grant, the creator of each task,
// and every message. It also compares the policy, members, tokens, passkeys, identities, sessions, sign-in links and
// gate rules with the last event about each.

// checkLatestState compares the tables with the last events: the policy, members, tokens and all other objects for which the
// last event decides. The checks in follow compare the rest, page by page.
func (v *verification) checkLatestState() error {
	p, err := v.r.Policy()
	if err != nil {
		return err
	}
	if problem := policyDifference(p, v.recorded.policy); problem != "" {
		return v.reportProblem("%s", problem)
	}
	for _, check := range []func() error{
		v.checkMembers, v.checkTokens, v.checkPasskeys, v.checkIdentities, v.checkRules, v.checkSessions, v.checkLinks, v.checkWorkflows,
		v.checkOpenQuestions, v.checkTotals,
	} {
		if err := check(); err != nil || v.report.Problem != "" {
			return err
		}
	}
	return nil
}

// policyDifference says how a policy differs from the last event about it, or "". The event is nil if there is none.
func policyDifference(p fermata.Policy, last *fermata.Event) string {
	recorded, source := fermata.DefaultPolicy(), "the policy of a new workspace"
	if last != nil {
		source = fmt.Sprintf("event %d", last.Seq)
		if err := json.Unmarshal(last.Data, &recorded); err != nil {
			return fmt.Sprintf("event %d holds no policy", last.Seq)
		}
	}
	if !reflect.DeepEqual(factsOf(recorded), factsOf(p)) {
		return "the policy is another one than " + source + " says"
	}
	return ""
}

func (v *verification) checkMembers() error {
	members, err := v.r.Members()
	for _, m := range members {
		e := v.recorded.members[m.ID]
		if e == nil {
			return v.reportProblem("no event says who added the member %s", m.Handle)
		}
		if name := firstDifference(eventFacts(e), factsOf(memberFacts(m)), "handle", "role", "projects", "disabled"); name != "" {
			return v.reportProblem("the member %s has another %s than event %d says", m.Handle, name, e.Seq)
		}
		if !slices.Equal(fermata.SortUnique(m.Groups), fermata.SortUnique(v.recorded.groups[m.ID])) {
			return v.reportProblem("the member %s is in other groups than the events say", m.Handle)
		}
	}
	if err != nil {
		return err
	}
	for id, times := range v.recorded.linkRevocations {
		generation, err := v.r.AnswerLinkGeneration(id)
		if err != nil {
			return err
		}
		if generation < times {
			return v.reportProblem("the answer links of the member %s were taken back %d times, and could be used again", id, times)
		}
	}
	return nil
}

func (v *verification) checkTokens() error {
	tokens, err := v.r.Tokens()
	if err != nil {
		return err
	}
	members, err := v.r.Members()
	handles := fermata.HandlesByID(members)
	for _, t := range tokens {
		e := v.recorded.tokens[t.ID]
		if e == nil {
			return v.reportProblem("no event says who made the token %s", t.ID)
		}
		t.Member = handles[t.MemberID]
		if name := firstDifference(eventFacts(e), factsOf(tokenFacts(t)), "name", "kind", "scopes", "projects", "member", "expires_at", "fingerprint"); name != "" {
			return v.reportProblem("the token %s has another %s than event %d says", t.ID, name, e.Seq)
		}
		if v.recorded.revokedTokens[t.ID] && t.RevokedAt == nil {
			return v.reportProblem("the token %s was revoked, and is good again", t.ID)
		}
	}
	return err
}

func (v *verification) checkPasskeys() error {
	keys, err := v.r.Passkeys()
	for _, p := range keys {
		e := v.recorded.passkeys[p.ID]
		if e == nil {
			return v.reportProblem("no event says who added the passkey %s", p.ID)
		}
		if name := firstDifference(eventFacts(e), factsOf(passkeyFacts(p)), "credential_id", "public_key"); name != "" || e.Actor.ID != p.MemberID {
			return v.reportProblem("the passkey %s has another %s than event %d says", p.ID, cmp.Or(name, "member"), e.Seq)
		}
	}
	return err
}

func (v *verification) checkIdentities() error {
	identities, err := v.r.Identities()
	for _, i := range identities {
		e := v.recorded.identities[i.MemberID+"/"+i.Kind]
		if e == nil || textOf(eventFacts(e), "id") != i.ID {
			return v.reportProblem("no event says that %q is who the member %s is in %s", i.ID, i.MemberID, i.Kind)
		}
	}
	return err
}

// ruleFactNames are the names of the facts of a rule that never change. The number of uses is not one of them.
var ruleFactNames = []string{"tool", "args", "decision", "project", "task_id", "session_key", "session_of", "uses", "risk", "expires_at", "owner"}

func (v *verification) checkRules() error {
	rules, err := v.r.GateRules()
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, rule := range rules {
		found[rule.ID] = true
		e := v.recorded.rules[rule.ID]
		if e == nil {
			return v.reportProblem("no event says who made the rule %s", rule.ID)
		}
		// The event contains the whole rule, so a missing fact means an empty one.
		if name := firstDifferenceIn(eventFacts(e), factsOf(rule), ruleFactNames, true); name != "" {
			return v.reportProblem("the rule %s has another %s than event %d says", rule.ID, name, e.Seq)
		}
	}
	for _, rule := range rules {
		if rule.IsLimited() && rule.Used != v.recorded.ruleUses[rule.ID] {
			return v.reportProblem("the rule %s was used %d times, and the events record %d", rule.ID, rule.Used, v.recorded.ruleUses[rule.ID])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.recorded.rules)) {
		if !found[id] {
			return v.reportProblem("the rule %s is gone, and no event says so", id)
		}
	}
	return nil
}

// checkWorkflows compares each workflow with its last event: the definition for new runs, the project, and whether
// triggers start runs.
func (v *verification) checkWorkflows() error {
	workflows, err := v.r.Workflows()
	for _, w := range workflows {
		e := v.recorded.workflows[w.Name]
		if e == nil {
			return v.reportProblem("no event says who stored the workflow %s", w.Name)
		}
		if name := firstDifference(eventFacts(e), map[string]any{"hash": w.Hash, "enabled": w.Enabled, "project": w.Project}, "hash", "enabled", "project"); name != "" {
			return v.reportProblem("the workflow %s has another %s than event %d says", w.Name, name, e.Seq)
		}
	}
	return err
}

// checkSessions compares the browser sessions with the events. A session that has ended has no row.
func (v *verification) checkSessions() error {
	sessions, err := v.r.Sessions()
	for _, s := range sessions {
		e := v.recorded.sessions[s.ID]
		if e == nil {
			return v.reportProblem("no event says who signed in with the session %s", s.ID)
		}
		if e.Actor.ID != s.MemberID {
			return v.reportProblem("the session %s is another member's than event %d says", s.ID, e.Seq)
		}
		if name := firstDifference(eventFacts(e), factsOf(sessionFacts(s)), "method", "assurance", "created_at", "expires_at", "fingerprint", "token_id"); name != "" {
			return v.reportProblem("the session %s has another %s than event %d says", s.ID, name, e.Seq)
		}
	}
	return err
}

// linkFactNames are the names of the facts of a sign-in link or an invitation that an event contains.
var linkFactNames = []string{"member_id", "role", "groups", "projects", "method", "assurance", "expires_at", "fingerprint", "token_id"}

// checkLinks compares the sign-in links and invitations that can still be used with the events.
func (v *verification) checkLinks() error {
	now, err := v.e.db.Now(v.ctx)
	if err != nil {
		return err
	}
	links, err := v.r.UnusedLinks(now)
	for _, l := range links {
		e := v.recorded.links[l.ID]
		if e == nil {
			return v.reportProblem("no event says who made the sign-in link %s", l.ID)
		}
		if v.recorded.usedLinks[l.ID] {
			return v.reportProblem("the sign-in link %s was used, and could be used again", l.ID)
		}
		if name := firstDifference(eventFacts(e), factsOf(linkFacts(l)), linkFactNames...); name != "" {
			return v.reportProblem("the sign-in link %s has another %s than event %d says", l.ID, name, e.Seq)
		}
	}
	return err
}

// checkTotals finds tasks, questions and messages without an event.
func (v *verification) checkTotals() error {
	totals, err := v.r.Totals()
	if err != nil {
		return err
	}
	for _, total := range []struct {
		noun      string
		said, are int64
	}{
		{"tasks", v.recorded.taskCount, totals.Tasks}, {"questions", v.recorded.questionCount, totals.Questions}, {"messages", v.recorded.messageCount, totals.Messages},
	} {
		if total.said != total.are {
			return v.reportProblem("there are %d %s, and the events record %d", total.are, total.noun, total.said)
		}
	}
	return nil
}

// checkTasks compares tasks with the events that created and claimed them: the creator, origin, project and holder.
func (v *verification) checkTasks(events []*fermata.Event) error {
	made := eventsBy(events, fermata.EventTaskCreated, func(e *fermata.Event) string { return e.TaskID })
	rows, err := v.r.TaskOrigins(slices.Collect(maps.Keys(made)))
	for _, o := range rows {
		e := made[o.ID]
		if project, ok := eventFacts(e)["project"]; o.CreatedBy != e.Actor || ok && project != o.Project {
			return v.reportProblem("the task %s has another maker or project than event %d says", o.ID, e.Seq)
		}
		if hash, ok := eventFacts(e)["origin_hash"]; ok && hash != o.OriginHash() {
			return v.reportProblem("the task %s has another parent, runner, session or spec than event %d says", o.ID, e.Seq)
		}
	}
	if err != nil {
		return err
	}
	claims := eventsBy(events, fermata.EventTaskClaimed, func(e *fermata.Event) string { return e.TaskID })
	rows, err = v.r.TaskOrigins(slices.Collect(maps.Keys(claims)))
	for _, o := range rows {
		e := claims[o.ID]
		holders := map[string]any{"worker_token_id": o.WorkerTokenID, "agent_token_id": o.AgentTokenID}
		if e.RunID == o.RunID && firstDifference(eventFacts(e), holders, "worker_token_id", "agent_token_id") != "" {
			return v.reportProblem("the task %s has another holder than event %d says", o.ID, e.Seq)
		}
	}
	return err
}

// checkMessages compares the messages of the events with their rows.
func (v *verification) checkMessages(events []*fermata.Event) error {
	posted := eventsBy(events, fermata.EventMessagePosted, func(e *fermata.Event) string { return textOf(eventFacts(e), "message_id") })
	rows, err := v.r.MessagesByID(slices.Collect(maps.Keys(posted)))
	for _, m := range rows {
		e := posted[m.ID]
		name := firstDifference(eventFacts(e), factsOf(messageFacts(m)), "kind", "content_hash")
		switch {
		case name == "content_hash":
			name = "text"
		case m.Author != e.Actor:
			name = "author"
		case m.TaskID != e.TaskID || m.QuestionID != e.QuestionID:
			name = "place"
		}
		if name != "" {
			return v.reportProblem("the message %s has another %s than event %d says", m.ID, name, e.Seq)
		}
	}
	return err
}

// checkGrants finds used grants that could be used again.
func (v *verification) checkGrants(events []*fermata.Event) error {
	var ids []string
	for _, e := range events {
		if e.Type == fermata.EventGrantUsed {
			ids = append(ids, e.QuestionID)
		}
	}
	used, err := v.r.GrantsUsed(ids)
	for _, id := range ids {
		if err == nil && !used[id] {
			return v.reportProblem("the grant of %s was used, and could be used again", id)
		}
	}
	return err
}
