package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// history is how long each group took when it last ran as a whole on this machine.
type history map[string]time.Duration

func historyFile(cache string) string { return filepath.Join(cache, "gate.json") }

// readHistory returns what is known; a file that cannot be read is as good as none.
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
