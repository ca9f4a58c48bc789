package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// history holds the duration of the last whole run of each group on this machine.
type history map[string]time.Duration

func historyFile(cache string) string { return filepath.Join(cache, "gate.json") }

// readHistory returns the stored history. A file that cannot be read counts as empty.
func readHistory(cache string) history {
	h := history{}
	text, err := os.ReadFile(historyFile(cache))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return history{}
	}
	return h
}

func (h history) write(cache string) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return os.WriteFile(historyFile(cache), text, 0o600)
}
