package engine

import (
	"slices"

	"github.com/fermata-hq/fermata"
)

// recorded holds what the events say about the policy, members and their groups, tokens, passkeys, identities, sessions,
// sign-in links, the rules of gates and open questions. It holds the last word about each.
type recorded struct {
	policy *fermata.Event
	// These are the last events about each, by its id. The key of an identity is the member's id and the kind.
	members, tokens, passkeys, identities, rules, sessions, links map[string]*fermata.Event
	// usedLinks are the ids of sign-in links by which somebody signed in.
	usedLinks map[string]bool
	// questions are open, or have answers that came after the deadline; by their ids.
	questions map[string]*questionRecord
	// asked, posted and created count the events that open questions, post messages and create tasks.
	asked, posted, created int64
	// revoked are the ids of tokens that were ended.
	revoked map[string]bool
	// groups are the groups of each member, by the member's id.
	groups map[string][]string
}

func newRecorded() recorded {
	return recorded{
		members: map[string]*fermata.Event{}, tokens: map[string]*fermata.Event{}, passkeys: map[string]*fermata.Event{},
		identities: map[string]*fermata.Event{}, rules: map[string]*fermata.Event{}, revoked: map[string]bool{}, groups: map[string][]string{},
		sessions: map[string]*fermata.Event{}, links: map[string]*fermata.Event{}, usedLinks: map[string]bool{},
		questions: map[string]*questionRecord{},
	}
}

// take keeps what an event says.
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
	case fermata.EventMemberSignedIn:
		facts := dataOf(e)
		l.sessions[textOf(facts, "session_id")] = e
		l.usedLinks[textOf(facts, "link_id")] = true
	case fermata.EventMemberSignedOut:
		delete(l.sessions, textOf(dataOf(e), "session_id"))
	case fermata.EventMemberLinked:
		l.links[textOf(dataOf(e), "link_id")] = e
	case fermata.EventMemberInvited:
		l.links[textOf(dataOf(e), "invitation_id")] = e
	case fermata.EventMemberUninvited:
		delete(l.links, textOf(dataOf(e), "invitation_id"))
	case fermata.EventMessagePosted:
		l.posted++
	case fermata.EventTaskCreated:
		l.created++
	default:
		l.takeQuestion(e)
	}
}

// takeQuestion keeps what an event says about a question.
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

// takeGroup notes who is in a group. Only the named members are in it, under its new name if it was renamed.
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
