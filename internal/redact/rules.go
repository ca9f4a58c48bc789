package redact

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed gitleaks.toml
var gitleaks []byte

// ruleSet is the part of the rule file that applies to texts. The parts about
// paths and commits are not used.
type ruleSet struct {
	Allow allowance `toml:"allowlist"`
	Rules []*rule   `toml:"rules"`
}

// rule finds one kind of secret.
type rule struct {
	ID          string      `toml:"id"`
	Regex       string      `toml:"regex"`
	SecretGroup int         `toml:"secretGroup"`
	Entropy     float64     `toml:"entropy"`
	Keywords    []string    `toml:"keywords"`
	Allow       []allowance `toml:"allowlists"`

	compile func() *regexp.Regexp
}

// allowance describes texts that look like a secret but are none.
type allowance struct {
	Condition   string   `toml:"condition"`
	RegexTarget string   `toml:"regexTarget"`
	Regexes     []string `toml:"regexes"`
	Stopwords   []string `toml:"stopwords"`
	Paths       []string `toml:"paths"`

	compile func() []*regexp.Regexp
}

// ownRules are rules for secrets that the rule file does not find.
var ownRules = []*rule{
	{ID: "fermata-secret", Regex: `\bfm[a-z]_[0-9A-Za-z]{38}\b`, Keywords: []string{"fm"}},
	{ID: "password-in-url", Regex: `\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'"]*:([^\s/@'"]{3,})@`, Keywords: []string{"://"}},
	{ID: "authorization-header", Regex: `(?i)\bauthorization['"]?\s*[:=]\s*['"]?(?:bearer|basic|token)\s+([\w.~+/=-]{8,})`, Keywords: []string{"authorization"}},
	{ID: "cookie", Regex: `(?i)(?:\b(?:set-)?cookie['"]?\s*:|--cookie[\s=])\s*['"]?([^\s'"=]+=[^\r\n'"]{6,})`, Keywords: []string{"cookie"}},
	// These keys are shorter or longer than those of the rule file.
	{ID: "vault-token", Regex: `\bhv[sbr]\.[\w-]{20,300}`, Keywords: []string{"hvs.", "hvb.", "hvr."}},
	{ID: "openai-api-key", Regex: `\bsk-(?:proj|svcacct|admin|ant|or)-[\w-]{20,300}`, Keywords: []string{"sk-"}},
	{ID: "telegram-bot-api-token", Regex: `\b[0-9]{8,10}:AA[\w-]{33}\b`, Keywords: []string{":aa"}},
	// This matches a key without its end.
	{ID: "private-key", Regex: `-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\r|\\n)*[A-Za-z0-9+/=]{16,})+`, Keywords: []string{"-----begin"}},
	{ID: "password", Regex: `(?i)\b(?:password|passwd|passphrase|kennwort)['"]?\s*[:=]\s*['"]?([^\s'",;}]{6,})`, Keywords: []string{"passw", "passphrase", "kennwort"}, Allow: []allowance{{
		// A value that is read from another place is no secret itself.
		Regexes: []string{`^[$<%{(\[*]`, `^[A-Za-z_.-]+(?:[(\[].*)?$`},
	}}},
}

// loadRules reads the rule file at the first use. A rule's expression is compiled
// when a text first has one of its words.
var loadRules = sync.OnceValue(func() *ruleSet {
	var set ruleSet
	if err := toml.Unmarshal(gitleaks, &set); err != nil {
		// The file is part of the binary, and tests read it.
		panic("redact: read the rules: " + err.Error())
	}
	kept := make([]*rule, 0, len(set.Rules)+len(ownRules))
	for _, r := range append(set.Rules, ownRules...) {
		if r.Regex != "" {
			kept = append(kept, r.prepare())
		}
	}
	set.Rules = kept
	set.Allow.prepare()
	return &set
})

// prepare returns a copy of the rule that is ready for use.
func (r *rule) prepare() *rule {
	ready := *r
	ready.compile = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.Regex) })
	ready.Allow = append([]allowance(nil), r.Allow...)
	for i := range ready.Allow {
		ready.Allow[i].prepare()
	}
	for i, w := range ready.Keywords {
		ready.Keywords[i] = strings.ToLower(w)
	}
	return &ready
}

func (a *allowance) prepare() {
	list := a.Regexes
	a.compile = sync.OnceValue(func() []*regexp.Regexp {
		out := make([]*regexp.Regexp, len(list))
		for i, re := range list {
			out[i] = regexp.MustCompile(re)
		}
		return out
	})
}

// mayFit reports whether the text, in lower case, contains one of the rule's
// words.
func (r *rule) mayFit(lower string) bool {
	for _, w := range r.Keywords {
		if strings.Contains(lower, w) {
			return true
		}
	}
	return len(r.Keywords) == 0
}

// String returns the text that replaces the secret.
func (f finding) String() string { return fmt.Sprintf("[redacted: %s]", f.kind) }
