package worker

import (
	"encoding/json"
	"time"
)

// limit is how long the run may take: as its task's spec says, {"timeout":
// "30m"}, and no longer than the worker allows; 0 where nobody says.
func (a *attempt) limit() time.Duration {
	most := a.w.opts.RunTimeout
	var spec struct {
		Timeout string `json:"timeout"`
	}
	if json.Unmarshal(a.claim.Task.Spec, &spec) != nil {
		// What else is wrong with a spec its runner says.
		return most
	}
	own, err := time.ParseDuration(spec.Timeout)
	if err != nil || own <= 0 || most > 0 && most < own {
		return most
	}
	return own
}
