package fermata

import (
	"slices"
	"strings"
)

// EventTypes lists every type of event.
var EventTypes = []EventType{
	EventTaskCreated, EventTaskClaimed, EventTaskStateChanged, EventTaskEnded, EventTaskUpdated, EventQuestionAsked,
	EventQuestionAskedAgain, EventQuestionAnswered, EventQuestionTimedOut, EventQuestionCancelled, EventQuestionEscalated,
	EventQuestionExtended, EventQuestionAnsweredLate, EventQuestionVoteCast, EventQuestionHeld, EventQuestionUndone,
	EventQuestionAssigned, EventQuestionReminded, EventMessagePosted, EventMessageHanded, EventProgressReported, EventRunFinished, EventRunLost,
	EventRunReleased, EventMemberAdded, EventMemberChanged, EventMemberInvited, EventMemberUninvited, EventMemberLinked,
	EventMemberSignedIn, EventMemberSignedOut, EventPasskeyAdded, EventPasskeyRemoved, EventGroupChanged, EventTokenCreated,
	EventTokenRevoked, EventPolicyChanged, EventGateDecided, EventGateRuleAdded, EventGateRuleRemoved, EventGrantUsed,
	EventChannelAdded, EventChannelChanged, EventChannelRemoved, EventRoutesChanged, EventIdentityChanged, EventDeviceAdded,
	EventDeviceRemoved, EventDeliveryDead, EventDeliveryAlert, EventStepStarted, EventStepFinished, EventWorkflowChanged,
	EventWorkflowRemoved, EventWorkflowTriggered, EventRunRewound, EventRunMoved, EventTriggerSkipped, EventToolChanged, EventToolRemoved, EventLabelAdded,
	EventDeploymentRequested, EventLossAccepted, EventAuditCheckpoint, EventRetentionApplied,
}

// ClosingEventTypes lists the types of events that close a question.
var ClosingEventTypes = []EventType{EventQuestionAnswered, EventQuestionTimedOut, EventQuestionCancelled}

// IsOneOf reports whether a list of names includes the type. A name is a whole
// type such as question.asked, or a noun such as question, which matches all
// types of that noun.
func (t EventType) IsOneOf(names []string) bool {
	noun, _, _ := strings.Cut(string(t), ".")
	return slices.ContainsFunc(names, func(name string) bool { return name == string(t) || name == noun })
}

// agentEventTypes are the types of events that agents may read: those of work and of questions. A noun alone means
// all of its types. Only people may read the other types, which report sign-ins, tokens, addresses, policies and
// channels.
var agentEventTypes = []string{
	"task", "question", "message", "progress", "run", "grant", string(EventGateDecided), string(EventStepStarted),
	string(EventStepFinished), string(EventWorkflowTriggered), string(EventRunRewound), string(EventRunMoved),
}

// VisibleEventTypes returns the event types that a list or a stream with this filter shows to the caller. An empty result
// means every type. It returns an error if a type of the filter does not exist, or if the caller may read none of
// them.
func VisibleEventTypes(c Caller, field string, filter []string) ([]string, error) {
	if err := CheckEventFilter(field, filter); err != nil || c.Kind != ActorAgent {
		return filter, err
	}
	var visible []string
	for _, t := range EventTypes {
		if t.IsOneOf(agentEventTypes) && (len(filter) == 0 || t.IsOneOf(filter)) {
			visible = append(visible, string(t))
		}
	}
	if len(visible) == 0 {
		return nil, Errorf(CodeForbidden, "agents do not read events of the type %s", strings.Join(filter, ", ")).
			WithHint("agents read the events of tasks, questions, messages and runs; people read all: fermata audit")
	}
	return visible, nil
}

// CheckEventTypes returns an error if a subscription names an unknown type. The
// name "*" means all types.
func CheckEventTypes(field string, types []string) error {
	return checkEventNames(field, types, append(eventNames(), "*"), "there are %s; * is every type")
}

// CheckEventFilter returns an error if a name is not a type of event. A noun alone, such as question, means all of
// its types.
func CheckEventFilter(field string, names []string) error {
	known := eventNames()
	for _, name := range known {
		noun, _, _ := strings.Cut(name, ".")
		known = append(known, noun)
	}
	return checkEventNames(field, names, known, "there are %s; a noun alone, such as question, is all of its types")
}

func eventNames() []string {
	names := make([]string, 0, len(EventTypes))
	for _, t := range EventTypes {
		names = append(names, string(t))
	}
	return names
}

// checkEventNames refuses unknown names. The hint lists the known types that have the same noun as an unknown one.
func checkEventNames(field string, names, known []string, hint string) error {
	var ps problems
	var suggestions []string
	for i, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		ps.add(elementName(field, i), "there are no events of the type %q", name)
		noun, _, _ := strings.Cut(name, ".")
		for _, k := range known {
			if strings.HasPrefix(k, noun+".") && !slices.Contains(suggestions, k) {
				suggestions = append(suggestions, k)
			}
		}
	}
	if len(ps) == 0 {
		return nil
	}
	if len(suggestions) == 0 {
		suggestions = []string{"question.asked", "question.answered", "task.ended"}
	}
	return Invalid(ps...).WithHint(hint, strings.Join(suggestions, ", "))
}
