package worker

import (
	"encoding/json"
	"time"
)

// limit returns how long the run may take: the time in its task's spec, {"timeout": "30m"}, but no longer than the
// worker allows. It returns 0 if neither sets a limit.
func (a *activeRun) limit() time.Duration {
	maxTime := a.w.opts.RunTimeout
	var spec struct {
		Timeout string `json:"timeout"`
	}
	if json.Unmarshal(a.claim.Task.Spec, &spec) != nil {
		// The runner reports any other fault of a spec.
		return maxTime
	}
	own, err := time.ParseDuration(spec.Timeout)
	if err != nil || own <= 0 || maxTime > 0 && maxTime < own {
		return maxTime
	}
	return own
}
