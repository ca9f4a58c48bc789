package engine

import (
	"encoding/json"
	"reflect"

	"github.com/fermata-hq/fermata"
)

// eventsBy returns the events of a type by key. The function key returns the key of an event.
func eventsBy(events []*fermata.Event, typ fermata.EventType, key func(*fermata.Event) string) map[string]*fermata.Event {
	found := map[string]*fermata.Event{}
	for _, e := range events {
		if e.Type == typ {
			found[key(e)] = e
		}
	}
	return found
}

// eventFacts returns the data of an event as facts by name.
func eventFacts(e *fermata.Event) map[string]any {
	var facts map[string]any
	_ = json.Unmarshal(e.Data, &facts) // data that was changed breaks the chain, and the audit reports that
	return facts
}

// factsOf returns the fields of a value's JSON as facts by name.
func factsOf(v any) map[string]any {
	var facts map[string]any
	_ = json.Unmarshal(encodeData(v), &facts) // encodeData has just encoded it
	return facts
}

// firstDifference returns the first name under which the event and the row have different values, or "". Older events of
// questions lack the hash of the action and other facts. A fact that they lack is not compared.
func firstDifference(recorded, current map[string]any, names ...string) string {
	_, isComplete := recorded["action_hash"]
	return firstDifferenceIn(recorded, current, names, isComplete)
}

// firstDifferenceIn is like firstDifference. With isComplete, a fact that the event lacks counts as empty.
func firstDifferenceIn(recorded, current map[string]any, names []string, isComplete bool) string {
	for _, name := range names {
		if value, ok := recorded[name]; (ok || isComplete) && !isSame(value, current[name]) {
			return name
		}
	}
	return ""
}

// isSame reports whether two values are equal. A missing value equals an empty one.
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
