package notify

import (
	"encoding/json"
	"mime"
)

// ntfyExtras returns the priority, the address to open on a press, and a button
// that opens it. The button has only an address: a decision needs the session
// of the person, and the topic may have many readers.
func ntfyExtras(t text) map[string]string {
	extras := map[string]string{}
	if t.title != "" {
		// HTTP headers hold only ASCII, and ntfy decodes the encoding of mail
		// headers.
		extras["title"] = mime.BEncoding.Encode("utf-8", t.title)
	}
	if t.weight != usual {
		extras["priority"] = map[weight]string{quiet: "low", urgent: "high", alarming: "max"}[t.weight]
	}
	if t.open == "" {
		return extras
	}
	extras["click"] = t.open
	actions, err := json.Marshal([]map[string]any{{"action": "view", "label": t.button, "url": t.open, "clear": true}})
	if err == nil {
		extras["actions"] = string(actions)
	}
	return extras
}

// gotifyExtras returns the priority, from 0 to 10.
func gotifyExtras(t text) map[string]string {
	if t.weight == usual {
		return nil
	}
	return map[string]string{"priority": map[weight]string{quiet: "2", urgent: "7", alarming: "9"}[t.weight]}
}

// pushoverExtras returns the priority, from -2 to 1. A priority of 2 would ring
// until a person confirms it there.
func pushoverExtras(t text) map[string]string {
	if t.weight == usual {
		return nil
	}
	return map[string]string{"priority": map[weight]string{quiet: "-1", urgent: "0", alarming: "1"}[t.weight]}
}
