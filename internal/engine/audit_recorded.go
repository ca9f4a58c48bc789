package engine

import (
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
)

// recorded holds the last thing that the events say about each of these: the policy, members and their groups,
// tokens, passkeys, identities, sessions, sign-in links, gate rules and open questions.
type recorded struct {
	policy *fermata.Event
	// These are the last events about each object, by its id. The key of an identity is the member's id and the kind.
	members, tokens, passkeys, identities, rules, sessions, links map[string]*fermata.Event
	// ruleUses is the number of calls that each gate rule allowed and counted, by the rule's id.
	ruleUses map[string]int
	// hashes are the hashes of each workflow's definitions, by its name. The last one is the newest.
	hashes map[string][]string
	// workflows are the last events about each workflow, by its name.
	workflows map[string]*fermata.Event
	// problem is a contradiction between the events themselves, or "".
	problem string
	// usedLinks are the ids of sign-in links that were used to sign in.
	usedLinks map[string]bool
	// usedGrants are the ids of the approvals whose grants were used.
	usedGrants map[string]bool
	// questions are the records of questions that are open or were answered after the deadline, by id.
	questions map[string]*questionRecord
	// asked, posted and created are the numbers of events that open questions, post messages and create tasks.
	asked, posted, created int64
	// revoked are the ids of revoked tokens.
	revoked map[string]bool
	// linksRevoked is how often the answer links of a member were revoked, by the member's id.
	linksRevoked map[string]int64
	// groups are the groups of each member, by the member's id.
	groups map[string][]string
}

func newRecorded() recorded {
	return recorded{
		members: map[string]*fermata.Event{}, tokens: map[string]*fermata.Event{}, passkeys: map[string]*fermata.Event{},
		identities: map[string]*fermata.Event{}, rules: map[string]*fermata.Event{}, revoked: map[string]bool{}, groups: map[string][]string{},
		sessions: map[string]*fermata.Event{}, links: map[string]*fermata.Event{}, usedLinks: map[string]bool{}, usedGrants: map[string]bool{},
		ruleUses: map[string]int{}, hashes: map[string][]string{}, workflows: map[string]*fermata.Event{},
		questions: map[string]*questionRecord{}, linksRevoked: map[string]int64{},
	}
}

// take records what an event says.
func (l *recorded) take(e *fermata.Event) {
	switch e.Type {
	case fermata.EventPolicyChanged:
		l.policy = e
	case fermata.EventMemberAdded, fermata.EventMemberChanged:
		l.takeMember(e, dataOf(e))
	case fermata.EventGroupChanged:
		l.takeGroup(dataOf(e))
	case fermata.EventTokenCreated:
		l.tokens[textOf(dataOf(e), "token_id")] = e
	case fermata.EventTokenRevoked:
		l.revoked[textOf(dataOf(e), "token_id")] = true
	case fermata.EventPasskeyAdded:
		l.passkeys[textOf(dataOf(e), "passkey_id")] = e
	case fermata.EventPasskeyRemoved:
		delete(l.passkeys, textOf(dataOf(e), "passkey_id"))
	case fermata.EventIdentityChanged:
		facts := dataOf(e)
		l.identities[textOf(facts, "member_id")+"/"+textOf(facts, "kind")] = e
	case fermata.EventGateRuleAdded:
		l.rules[textOf(dataOf(e), "id")] = e
	case fermata.EventGateRuleRemoved:
		delete(l.rules, textOf(dataOf(e), "rule_id"))
	case fermata.EventGateDecided:
		if facts := dataOf(e); facts["decision"] == string(fermata.GateAllow) && e.QuestionID == "" {
			l.ruleUses[textOf(facts, "rule_id")]++
		}
	case fermata.EventWorkflowChanged:
		facts := dataOf(e)
		if hash := textOf(facts, "hash"); hash != "" {
			name := textOf(facts, "workflow")
			l.hashes[name] = append(l.hashes[name], hash)
			l.workflows[name] = e
		}
	case fermata.EventWorkflowTriggered, fermata.EventRunMoved:
		facts := dataOf(e)
		if name := textOf(facts, "workflow"); !slices.Contains(l.hashes[name], textOf(facts, "hash")) {
			l.problem = fmt.Sprintf("event %d lets a run of the workflow %s go by a definition that no event stored", e.Seq, name)
		}
	case fermata.EventMemberSignedIn:
		facts := dataOf(e)
		l.sessions[textOf(facts, "session_id")] = e
		l.takeLink(e, facts)
	case fermata.EventMemberSignedOut:
		delete(l.sessions, textOf(dataOf(e), "session_id"))
	case fermata.EventMemberLinked:
		l.links[textOf(dataOf(e), "link_id")] = e
	case fermata.EventMemberInvited:
		l.links[textOf(dataOf(e), "invitation_id")] = e
	case fermata.EventMemberUninvited:
		delete(l.links, textOf(dataOf(e), "invitation_id"))
	case fermata.EventGrantUsed:
		if l.usedGrants[e.QuestionID] {
			l.problem = fmt.Sprintf("event %d uses the grant of %s, which was used before", e.Seq, e.QuestionID)
		}
		l.usedGrants[e.QuestionID] = true
	case fermata.EventMessagePosted:
		l.posted++
	case fermata.EventTaskCreated:
		l.created++
	default:
		l.takeQuestion(e)
	}
}

// takeLink records that a member signed in by a link. A link may be used once, and signs in only the member for whom
// it was made.
func (l *recorded) takeLink(e *fermata.Event, facts map[string]any) {
	id := textOf(facts, "link_id")
	if id == "" {
		return
	}
	made := l.links[id]
	switch {
	case l.usedLinks[id]:
		l.problem = fmt.Sprintf("event %d signs in with the link %s, which was used before", e.Seq, id)
	case made == nil && facts["method"] != string(fermata.ByMail):
		l.problem = fmt.Sprintf("event %d signs in with the link %s, and no event says who made it", e.Seq, id)
	case made != nil && made.Type == fermata.EventMemberLinked && textOf(dataOf(made), "member_id") != e.Actor.ID:
		l.problem = fmt.Sprintf("event %d signs in another member than the link %s was made for", e.Seq, id)
	case made != nil && differs(dataOf(made), facts, "method", "assurance") != "":
		l.problem = fmt.Sprintf("event %d signs in otherwise than the link %s lets", e.Seq, id)
	}
	l.usedLinks[id] = true
}

// takeQuestion records what an event says about a question.
func (l *recorded) takeQuestion(e *fermata.Event) {
	if !slices.Contains(recordTypes, e.Type) {
		return
	}
	if e.Type == fermata.EventQuestionAsked {
		l.asked++
	}
	if l.questions[e.QuestionID] == nil {
		l.questions[e.QuestionID] = &questionRecord{}
	}
	l.questions[e.QuestionID].take(e)
}

func (l *recorded) takeMember(e *fermata.Event, facts map[string]any) {
	id := textOf(facts, "member_id")
	if facts["answer_links"] == linksRevoked {
		l.linksRevoked[id]++
	}
	if id == "" || facts["role"] == nil {
		return
	}
	l.members[id], l.groups[id] = e, textsOf(facts, "groups")
	if facts["disabled"] != true {
		return
	}
	// Disabling a member revokes the member's tokens.
	for token, made := range l.tokens {
		if textOf(dataOf(made), "member") == textOf(facts, "handle") {
			l.revoked[token] = true
		}
	}
}

// takeGroup records the members of a group. Only the named members are in it, under its new name if it was renamed.
func (l *recorded) takeGroup(facts map[string]any) {
	name, was, handles := textOf(facts, "name"), textOf(facts, "was"), textsOf(facts, "members")
	for id, groups := range l.groups {
		groups = slices.DeleteFunc(groups, func(g string) bool { return g == name || g == was })
		if facts["deleted"] != true && slices.Contains(handles, textOf(dataOf(l.members[id]), "handle")) {
			groups = append(groups, name)
		}
		l.groups[id] = groups
	}
}

// textOf returns the fact with the name if it is a text, and otherwise "".
func textOf(facts map[string]any, name string) string {
	text, _ := facts[name].(string)
	return text
}

// textsOf returns the texts of the list with the name.
func textsOf(facts map[string]any, name string) (texts []string) {
	list, _ := facts[name].([]any)
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
