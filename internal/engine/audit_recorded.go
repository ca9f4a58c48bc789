package engine

import (
	"slices"

	"github.com/fermata-hq/fermata"
)

// recorded holds what the chain says of what decides today: the policy, members and their groups, tokens, passkeys, who
// members are in other systems, and the rules of gates.
type recorded struct {
	policy *fermata.Event
	// The last event about each, by id: of a member, a token, a passkey and a rule; of an identity by member and kind.
	members, tokens, passkeys, identities, rules map[string]*fermata.Event
	// revoked are the ids of tokens that were ended.
	revoked map[string]bool
	// groups are those of each member, by id.
	groups map[string][]string
}

func newRecorded() recorded {
	return recorded{
		members: map[string]*fermata.Event{}, tokens: map[string]*fermata.Event{}, passkeys: map[string]*fermata.Event{},
		identities: map[string]*fermata.Event{}, rules: map[string]*fermata.Event{}, revoked: map[string]bool{}, groups: map[string][]string{},
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
	default:
	}
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
	// The end of a member is the end of the member's tokens.
	for token, made := range l.tokens {
		if textOf(dataOf(made), "member") == textOf(facts, "handle") {
			l.revoked[token] = true
		}
	}
}

// takeGroup notes who is in a group: all whom it names, and nobody else. A group that was renamed has its old name no more.
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

// textOf returns a text of what an event adds, or "".
func textOf(facts map[string]any, name string) string {
	text, _ := facts[name].(string)
	return text
}

// textsOf returns a list of texts of what an event adds.
func textsOf(facts map[string]any, name string) (texts []string) {
	list, _ := facts[name].([]any)
	for _, v := range list {
		if text, ok := v.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}
