package codex

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/fermata-hq/fermata/internal/agent"
)

// How often the record of a session is read, and for how long.
const (
	recordPollInterval = 20 * time.Millisecond
	maxRecordWait      = 5 * time.Second
)

// awaitRecord waits until the session's record holds a result for every call in it. Codex reports a result before it
// writes the result down. If Codex is stopped in between, it treats the call as aborted.
func awaitRecord(ctx context.Context, t *agent.Turn) {
	ctx, cancel := context.WithTimeout(ctx, maxRecordWait)
	defer cancel()
	tick := time.NewTicker(recordPollInterval)
	defer tick.Stop()
	for !isRecordWhole(t) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// isRecordWhole reports whether the record of a session holds a result for every call, and the result that names the
// question that was asked.
func isRecordWhole(t *agent.Turn) bool {
	names, err := filepath.Glob(filepath.Join(codexHome(t), "sessions", "*", "*", "*", "rollout-*-"+t.Session+".jsonl"))
	if err != nil || len(names) == 0 {
		return false
	}
	file, err := os.Open(names[0])
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	open, asked := map[string]bool{}, t.AskedQuestion == ""
	in := bufio.NewReader(file)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			// A line without an end is still being written.
			return len(line) == 0 && len(open) == 0 && asked
		}
		var entry struct {
			Type    string `json:"type"`
			Payload struct {
				Type   string `json:"type"`
				CallID string `json:"call_id"`
			} `json:"payload"`
		}
		if json.Unmarshal(line, &entry) != nil || entry.Type != "response_item" || entry.Payload.CallID == "" {
			continue
		}
		switch entry.Payload.Type {
		case "function_call", "custom_tool_call", "local_shell_call", "tool_search_call":
			open[entry.Payload.CallID] = true
		default:
			delete(open, entry.Payload.CallID)
			asked = asked || bytes.Contains(line, []byte(t.AskedQuestion))
		}
	}
}
