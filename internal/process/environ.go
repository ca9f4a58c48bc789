package process

import (
	"os"
	"slices"
)

// inheritedEnv are the variables that every program gets. Tokens and other private variables of this process are not
// among them.
var inheritedEnv = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SYSTEMROOT", "COMSPEC", "PATHEXT",
}

// Environ returns the variables that an agent inherits: the usual ones, and those in pass.
func Environ(pass []string) []string {
	var env []string
	for _, name := range slices.Concat(inheritedEnv, pass) {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
