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

// The events tell what happened, but the server decides by the tables. So the audit compares the tables with the events:
// every question with what was asked and how it ended, every used grant, and the last word of the events about the policy,
// members, tokens, passkeys, identities and the rules of gates.

// checkQuestions compares the questions that the events open or close with their rows.
func (v *verification) checkQuestions(events []*fermata.Event) error {
	about := slices.DeleteFunc(slices.Clone(events), func(e *fermata.Event) bool {
		return e.Type != fermata.EventQuestionAsked && !slices.Contains(closingEvents, e.Type)
	})
	var ids []string
	for _, e := range about {
		ids = append(ids, e.QuestionID)
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	found, err := v.r.QuestionsByID(slices.Compact(ids))
	if err != nil {
		return err
	}
	rows := map[string]*fermata.Question{}
	for _, q := range found {
		rows[q.ID] = q
	}
	for _, e := range about {
		q := rows[e.QuestionID]
		if q == nil {
			return v.fail("event %d names the question %s, and there is no such question", e.Seq, e.QuestionID)
		}
		if name := questionDiffers(q, e); name != "" {
			return v.fail("the question %s has another %s than event %d says", q.ID, name, e.Seq)
		}
		for _, member := range q.Signers() {
			if err := q.CheckSigned(member); err != nil {
				return v.fail("the question %s: %v", q.ID, err)
			}
		}
	}
	return nil
}

// closingEvents are the types of the events that close a question.
var closingEvents = []fermata.EventType{fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled}

// questionDiffers returns the name of a fact in which a question differs from the event that opened or closed it. It returns
// "" if there is none.
func questionDiffers(q *fermata.Question, e *fermata.Event) string {
	said := dataOf(e)
	if e.Type == fermata.EventQuestionAsked {
		return differs(said, plain(askedFacts(q)), "type", "title", "risk", "items", "approvals", "action_hash")
	}
	switch {
	case closedEvents[q.Status] != e.Type || q.Resolution == nil:
		return "end"
	case q.Resolution.Approved() && q.Resolution.ActionHash != "" && !fermata.HasHash(approvedAction(q), q.Resolution.ActionHash):
		return "action"
	}
	return differs(said, plain(closedOf(q)), "type", "decided_by", "by", "assurance", "channel", "outcome", "answers", "comment", "action_hash", "votes", "signed")
}

// approvedAction returns the action that people approved: the edited one, or that of the question.
func approvedAction(q *fermata.Question) json.RawMessage {
	if r := q.Resolution; r != nil && len(r.Action) > 0 {
		return r.Action
	}
	return q.Action
}

// checkRest compares the tables that checkQuestions and checkGrants do not. It also looks for questions that ended without an
// event.
func (v *verification) checkRest() error {
	p, err := v.r.Policy()
	if err != nil {
		return err
	}
	said, by := fermata.DefaultPolicy(), "the policy of a new workspace"
	if e := v.last.policy; e != nil {
		by = fmt.Sprintf("event %d", e.Seq)
		if err := json.Unmarshal(e.Data, &said); err != nil {
			return v.fail("event %d holds no policy", e.Seq)
		}
	}
	if !reflect.DeepEqual(plain(said), plain(p)) {
		return v.fail("the policy is another one than %s says", by)
	}
	for _, check := range []func() error{v.checkMembers, v.checkTokens, v.checkPasskeys, v.checkIdentities, v.checkRules} {
		if err := check(); err != nil || v.report.Problem != "" {
			return err
		}
	}
	ids, err := v.r.ClosedWithoutEvent(closingEvents, 1)
	if err == nil && len(ids) > 0 {
		return v.fail("the question %s ended, and no event says so", ids[0])
	}
	return err
}

func (v *verification) checkMembers() error {
	members, err := v.r.Members()
	for _, m := range members {
		e := v.last.members[m.ID]
		if e == nil {
			return v.fail("no event says who added the member %s", m.Handle)
		}
		if name := differs(dataOf(e), plain(memberFacts(m)), "handle", "role", "projects", "disabled"); name != "" {
			return v.fail("the member %s has another %s than event %d says", m.Handle, name, e.Seq)
		}
		if !slices.Equal(fermata.Distinct(m.Groups), fermata.Distinct(v.last.groups[m.ID])) {
			return v.fail("the member %s is in other groups than the events say", m.Handle)
		}
	}
	return err
}

func (v *verification) checkTokens() error {
	tokens, err := v.r.Tokens()
	if err != nil {
		return err
	}
	members, err := v.r.Members()
	handles := fermata.HandlesByID(members)
	for _, t := range tokens {
		e := v.last.tokens[t.ID]
		if e == nil {
			return v.fail("no event says who made the token %s", t.ID)
		}
		t.Member = handles[t.MemberID]
		if name := differs(dataOf(e), plain(tokenFacts(t)), "name", "kind", "scopes", "projects", "member", "expires_at", "fingerprint"); name != "" {
			return v.fail("the token %s has another %s than event %d says", t.ID, name, e.Seq)
		}
		if v.last.revoked[t.ID] && t.RevokedAt == nil {
			return v.fail("the token %s was revoked, and is good again", t.ID)
		}
	}
	return err
}

func (v *verification) checkPasskeys() error {
	keys, err := v.r.Passkeys()
	for _, p := range keys {
		e := v.last.passkeys[p.ID]
		if e == nil {
			return v.fail("no event says who added the passkey %s", p.ID)
		}
		if name := differs(dataOf(e), plain(passkeyFacts(p)), "credential_id", "public_key"); name != "" || e.Actor.ID != p.MemberID {
			return v.fail("the passkey %s has another %s than event %d says", p.ID, cmp.Or(name, "member"), e.Seq)
		}
	}
	return err
}

func (v *verification) checkIdentities() error {
	identities, err := v.r.Identities()
	for _, i := range identities {
		e := v.last.identities[i.MemberID+"/"+i.Kind]
		if e == nil || textOf(dataOf(e), "id") != i.ID {
			return v.fail("no event says that %q is who the member %s is in %s", i.ID, i.MemberID, i.Kind)
		}
	}
	return err
}

// ruleFacts are the facts of a rule that never change. The number of its uses does change.
var ruleFacts = []string{"tool", "args", "decision", "project", "task_id", "session_key", "uses", "risk", "expires_at", "owner"}

func (v *verification) checkRules() error {
	rules, err := v.r.GateRules()
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, rule := range rules {
		there[rule.ID] = true
		e := v.last.rules[rule.ID]
		if e == nil {
			return v.fail("no event says who made the rule %s", rule.ID)
		}
		if name := differs(dataOf(e), plain(rule), ruleFacts...); name != "" {
			return v.fail("the rule %s has another %s than event %d says", rule.ID, name, e.Seq)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.last.rules)) {
		if !there[id] {
			return v.fail("the rule %s is gone, and no event says so", id)
		}
	}
	return nil
}

// checkGrants finds grants that were used and could be used again.
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
			return v.fail("the grant of %s was used, and could be used again", id)
		}
	}
	return err
}

// dataOf returns what an event adds.
func dataOf(e *fermata.Event) map[string]any {
	var facts map[string]any
	_ = json.Unmarshal(e.Data, &facts) // the chain says whether it is as it was written
	return facts
}

// plain returns the facts that one reads from the JSON of a value.
func plain(v any) map[string]any {
	var facts map[string]any
	_ = json.Unmarshal(data(v), &facts) // it was just written
	return facts
}

// differs returns the first name under which the event has another value than the row, or "". Older events of questions lack
// the hash of the action and other facts. A fact that they lack is not compared.
func differs(said, now map[string]any, names ...string) string {
	_, whole := said["action_hash"]
	for _, name := range names {
		if was, ok := said[name]; (ok || whole) && !isSame(was, now[name]) {
			return name
		}
	}
	return ""
}

// isSame reports whether two values are equal. What is left out is the same as what is empty.
func isSame(a, b any) bool {
	return reflect.DeepEqual(a, b) || isEmpty(a) && isEmpty(b)
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}
