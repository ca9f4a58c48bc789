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
	if t.weight != weightUsual {
		extras["priority"] = map[weight]string{weightQuiet: "low", weightUrgent: "high", weightAlarming: "max"}[t.weight]
	}
	if t.openURL == "" {
		return extras
	}
	extras["click"] = t.openURL
	actions, err := json.Marshal([]map[string]any{{"action": "view", "label": t.button, "url": t.openURL, "clear": true}})
	if err == nil {
		extras["actions"] = string(actions)
	}
	return extras
}

// gotifyExtras returns the priority, from 0 to 10.
func gotifyExtras(t text) map[string]string {
	if t.weight == weightUsual {
		return nil
	}
	return map[string]string{"priority": map[weight]string{weightQuiet: "2", weightUrgent: "7", weightAlarming: "9"}[t.weight]}
}

// pushoverExtras returns the priority, from -2 to 1. A priority of 2 would ring
// until a person confirms it there.
func pushoverExtras(t text) map[string]string {
	if t.weight == weightUsual {
		return nil
	}
	return map[string]string{"priority": map[weight]string{weightQuiet: "-1", weightUrgent: "0", weightAlarming: "1"}[t.weight]}
}
