package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/fermata-hq/fermata"
)

// The chain holds what happened. What decides today are the tables, so they are compared with it: every question with what
// was asked and how it ended, the policy and the members with what was written about them last.

// recorded holds the last event about the policy, and the last one about each member.
type recorded struct {
	policy  *fermata.Event
	members map[string]*fermata.Event
}

// take keeps an event about the policy or about a member.
func (l *recorded) take(e *fermata.Event) {
	switch e.Type {
	case fermata.EventPolicyChanged:
		l.policy = e
	case fermata.EventMemberAdded, fermata.EventMemberChanged:
		if facts := dataOf(e); facts["member_id"] != nil && facts["role"] != nil {
			if id, ok := facts["member_id"].(string); ok {
				l.members[id] = e
			}
		}
	default:
	}
}

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
	return differs(said, plain(closedOf(q)), "type", "decided_by", "by", "assurance", "channel", "outcome", "answers", "comment", "action_hash", "votes")
}

// approvedAction returns the action that people approved: the edited one, or that of the question.
func approvedAction(q *fermata.Question) json.RawMessage {
	if r := q.Resolution; r != nil && len(r.Action) > 0 {
		return r.Action
	}
	return q.Action
}

// checkRest compares the policy and the members, and looks for questions that ended without an event.
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
	members, err := v.r.Members()
	if err != nil {
		return err
	}
	for _, m := range members {
		e := v.last.members[m.ID]
		if e == nil {
			return v.fail("no event says who added the member %s", m.Handle)
		}
		// Groups change with events of their own.
		if name := differs(dataOf(e), plain(memberFacts(m)), "handle", "role", "projects", "disabled"); name != "" {
			return v.fail("the member %s has another %s than event %d says", m.Handle, name, e.Seq)
		}
	}
	ids, err := v.r.ClosedWithoutEvent(closingEvents, 1)
	if err == nil && len(ids) > 0 {
		return v.fail("the question %s ended, and no event says so", ids[0])
	}
	return err
}

// dataOf returns what an event adds.
func dataOf(e *fermata.Event) map[string]any {
	var facts map[string]any
	_ = json.Unmarshal(e.Data, &facts) // the chain says whether it is as it was written
	return facts
}

// plain returns a value as its JSON reads back.
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
