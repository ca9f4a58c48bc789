package command

import (
	"strconv"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// env returns the environment of a run. The variables about the run come last, so that no other variable can override
// them.
func (r *Runner) env(claim *fermata.Claim, p *runFiles) []string {
	env := append(process.Environ(r.opts.PassEnv), r.opts.SetEnv...)
	resumed := "0"
	if claim.Context != nil && claim.Context.Resumed {
		resumed = "1"
	}
	env = append(env,
		"FERMATA_TASK="+claim.Task.ID,
		"FERMATA_RUN="+claim.Run.ID,
		"FERMATA_ATTEMPT="+strconv.Itoa(claim.Run.Attempt),
		"FERMATA_RESUMED="+resumed,
		"FERMATA_CONTEXT="+p.context,
		"FERMATA_CONTEXT_TEXT="+p.contextText,
		"FERMATA_RESULT="+p.result,
		"FERMATA_INBOX="+p.inbox,
	)
	if r.opts.URL != "" {
		env = append(env, "FERMATA_URL="+r.opts.URL)
	}
	if r.opts.Token != "" {
		env = append(env, "FERMATA_TOKEN="+r.opts.Token)
	}
	return env
}
