package command

import (
	"os"
	"slices"
	"strconv"

	"github.com/fermata-hq/fermata"
)

// inherited are the variables that every agent gets from the worker. The
// worker's own token and whatever else it was given are not among them.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SYSTEMROOT", "COMSPEC", "PATHEXT",
}

// env is the environment of a run. What the run is about comes last, so that
// nothing else can take its place.
func (r *Runner) env(claim *fermata.Claim, p *papers) []string {
	var env []string
	for _, name := range slices.Concat(inherited, r.opts.PassEnv) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, r.opts.SetEnv...)
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
