package fermata

import (
	"slices"
	"strings"
)

// EventTypes lists every type of events.
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
	EventWorkflowRemoved, EventWorkflowTriggered, EventTriggerSkipped, EventToolChanged, EventToolRemoved, EventLabelAdded,
	EventLossAccepted, EventAuditCheckpoint,
}

// Among reports whether the type is one of those that are named: whole types
// such as question.asked, or nouns such as question that stand for all of theirs.
func (t EventType) Among(names []string) bool {
	noun, _, _ := strings.Cut(string(t), ".")
	return slices.ContainsFunc(names, func(name string) bool { return name == string(t) || name == noun })
}

// CheckEventTypes refuses subscriptions to types that there are not; "*" stands
// for all of them.
func CheckEventTypes(field string, types []string) error {
	known := make([]string, 0, len(EventTypes)+1)
	for _, t := range EventTypes {
		known = append(known, string(t))
	}
	var ps problems
	var near []string
	for i, t := range types {
		if t == "*" || slices.Contains(known, t) {
			continue
		}
		ps.add(at(field, i), "there are no events of the type %q", t)
		noun, _, _ := strings.Cut(t, ".")
		for _, k := range known {
			if strings.HasPrefix(k, noun+".") && !slices.Contains(near, k) {
				near = append(near, k)
			}
		}
	}
	if len(ps) == 0 {
		return nil
	}
	if len(near) == 0 {
		near = []string{"question.asked", "question.answered", "task.ended", "*"}
	}
	return Invalid(ps...).WithHint("there are %s; * is every type", strings.Join(near, ", "))
}
