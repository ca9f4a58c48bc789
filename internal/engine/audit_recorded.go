package engine

import (
	"fmt"
	"slices"

	"github.com/fermata-hq/fermata"
)

// recordedState is the state that the events describe: the policy, members and their groups, tokens, passkeys,
// identities, sessions, sign-in links, gate rules, workflows and open questions.
type recordedState struct {
	policy *fermata.Event
	// These are the last events about each object, by its id. The key of an identity is the member's id and the kind.
	members, tokens, passkeys, identities, rules, sessions, links map[string]*fermata.Event
	// ruleUses is the number of calls that each gate rule allowed and counted, by the rule's id.
	ruleUses map[string]int
	// workflowHashes are the hashes of each workflow's definitions, by its name. The last one is the newest.
	workflowHashes map[string][]string
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
	// questionCount, messageCount and taskCount are the numbers of events that open questions, post messages and create
	// tasks.
	questionCount, messageCount, taskCount int64
	// revokedTokens are the ids of revoked tokens.
	revokedTokens map[string]bool
	// linkRevocations is how often the answer links of a member were revoked, by the member's id.
	linkRevocations map[string]int64
	// groups are the groups of each member, by the member's id.
	groups map[string][]string
}

func newRecordedState() recordedState {
	return recordedState{
		members: map[string]*fermata.Event{}, tokens: map[string]*fermata.Event{}, passkeys: map[string]*fermata.Event{},
		identities: map[string]*fermata.Event{}, rules: map[string]*fermata.Event{}, revokedTokens: map[string]bool{}, groups: map[string][]string{},
		sessions: map[string]*fermata.Event{}, links: map[string]*fermata.Event{}, usedLinks: map[string]bool{}, usedGrants: map[string]bool{},
		ruleUses: map[string]int{}, workflowHashes: map[string][]string{}, workflows: map[string]*fermata.Event{},
		questions: map[string]*questionRecord{}, linkRevocations: map[string]int64{},
	}
}

// apply records what an event says.
func (s *recordedState) apply(e *fermata.Event) {
	switch e.Type {
	case fermata.EventPolicyChanged:
		s.policy = e
	case fermata.EventMemberAdded, fermata.EventMemberChanged:
		s.applyMember(e, eventFacts(e))
	case fermata.EventGroupChanged:
		s.applyGroup(eventFacts(e))
	case fermata.EventTokenCreated:
		s.tokens[textOf(eventFacts(e), "token_id")] = e
	case fermata.EventTokenRevoked:
		s.revokedTokens[textOf(eventFacts(e), "token_id")] = true
	case fermata.EventPasskeyAdded:
		s.passkeys[textOf(eventFacts(e), "passkey_id")] = e
	case fermata.EventPasskeyRemoved:
		delete(s.passkeys, textOf(eventFacts(e), "passkey_id"))
	case fermata.EventIdentityChanged:
		facts := eventFacts(e)
		s.identities[textOf(facts, "member_id")+"/"+textOf(facts, "kind")] = e
	case fermata.EventGateRuleAdded:
		s.rules[textOf(eventFacts(e), "id")] = e
	case fermata.EventGateRuleRemoved:
		delete(s.rules, textOf(eventFacts(e), "rule_id"))
	case fermata.EventGateDecided:
		if facts := eventFacts(e); facts["decision"] == string(fermata.GateAllow) && e.QuestionID == "" {
			s.ruleUses[textOf(facts, "rule_id")]++
		}
	case fermata.EventWorkflowChanged:
		s.applyWorkflow(e, eventFacts(e))
	case fermata.EventWorkflowTriggered, fermata.EventRunMoved:
		s.checkDefinition(e, eventFacts(e))
	case fermata.EventMemberSignedIn:
		facts := eventFacts(e)
		s.sessions[textOf(facts, "session_id")] = e
		s.applyLinkUse(e, facts)
	case fermata.EventMemberSignedOut:
		delete(s.sessions, textOf(eventFacts(e), "session_id"))
	case fermata.EventMemberLinked:
		s.links[textOf(eventFacts(e), "link_id")] = e
	case fermata.EventMemberInvited:
		s.links[textOf(eventFacts(e), "invitation_id")] = e
	case fermata.EventMemberUninvited:
		delete(s.links, textOf(eventFacts(e), "invitation_id"))
	case fermata.EventGrantUsed:
		if s.usedGrants[e.QuestionID] {
			s.problem = fmt.Sprintf("event %d uses the grant of %s, which was used before", e.Seq, e.QuestionID)
		}
		s.usedGrants[e.QuestionID] = true
	case fermata.EventMessagePosted:
		s.messageCount++
	case fermata.EventTaskCreated:
		s.taskCount++
	default:
		s.applyQuestion(e)
	}
}

// applyWorkflow records the definition of a workflow. An event about its webhook secret has no hash.
func (s *recordedState) applyWorkflow(e *fermata.Event, facts map[string]any) {
	if hash := textOf(facts, "hash"); hash != "" {
		name := textOf(facts, "workflow")
		s.workflowHashes[name] = append(s.workflowHashes[name], hash)
		s.workflows[name] = e
	}
}

// checkDefinition notes a problem if a run uses a definition of its workflow that no event stored.
func (s *recordedState) checkDefinition(e *fermata.Event, facts map[string]any) {
	if name := textOf(facts, "workflow"); !slices.Contains(s.workflowHashes[name], textOf(facts, "hash")) {
		s.problem = fmt.Sprintf("event %d lets a run of the workflow %s use a definition that no event stored", e.Seq, name)
	}
}

// applyLinkUse records that a member signed in by a link. A link may be used once, and signs in only the member for
// whom it was created.
func (s *recordedState) applyLinkUse(e *fermata.Event, facts map[string]any) {
	id := textOf(facts, "link_id")
	if id == "" {
		return
	}
	made := s.links[id]
	switch {
	case s.usedLinks[id]:
		s.problem = fmt.Sprintf("event %d signs in with the link %s, which was used before", e.Seq, id)
	case made == nil && facts["method"] != string(fermata.SignInByMail):
		s.problem = fmt.Sprintf("event %d signs in with the link %s, and no event says who made it", e.Seq, id)
	case made != nil && made.Type == fermata.EventMemberLinked && textOf(eventFacts(made), "member_id") != e.Actor.ID:
		s.problem = fmt.Sprintf("event %d signs in another member than the link %s was made for", e.Seq, id)
	case made != nil && firstDifference(eventFacts(made), facts, "method", "assurance") != "":
		s.problem = fmt.Sprintf("event %d signs in otherwise than the link %s lets", e.Seq, id)
	}
	s.usedLinks[id] = true
}

// applyQuestion records what an event says about a question.
func (s *recordedState) applyQuestion(e *fermata.Event) {
	if !slices.Contains(recordEventTypes, e.Type) {
		return
	}
	if e.Type == fermata.EventQuestionAsked {
		s.questionCount++
	}
	if s.questions[e.QuestionID] == nil {
		s.questions[e.QuestionID] = &questionRecord{}
	}
	s.questions[e.QuestionID].apply(e)
}

func (s *recordedState) applyMember(e *fermata.Event, facts map[string]any) {
	id := textOf(facts, "member_id")
	if facts["answer_links"] == linksRevoked {
		s.linkRevocations[id]++
	}
	if id == "" || facts["role"] == nil {
		return
	}
	s.members[id], s.groups[id] = e, textsOf(facts, "groups")
	if facts["disabled"] != true {
		return
	}
	// Disabling a member revokes the member's tokens.
	for token, made := range s.tokens {
		if textOf(eventFacts(made), "member") == textOf(facts, "handle") {
			s.revokedTokens[token] = true
		}
	}
}

// applyGroup records the members of a group. Only the named members are in it, under its new name if it was renamed.
func (s *recordedState) applyGroup(facts map[string]any) {
	name, oldName, handles := textOf(facts, "name"), textOf(facts, "was"), textsOf(facts, "members")
	for id, groups := range s.groups {
		groups = slices.DeleteFunc(groups, func(g string) bool { return g == name || g == oldName })
		if facts["deleted"] != true && slices.Contains(handles, textOf(eventFacts(s.members[id]), "handle")) {
			groups = append(groups, name)
		}
		s.groups[id] = groups
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
