package redact

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// finding is a secret in a text, as a range of bytes.
type finding struct {
	kind     string
	from, to int
}

// Text returns the text with every secret replaced by its kind, and reports
// whether there was one.
func Text(s string) (string, bool) {
	found := find(s)
	if len(found) == 0 {
		return s, false
	}
	var b strings.Builder
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.from])
		b.WriteString(f.String())
		at = f.to
	}
	b.WriteString(s[at:])
	return b.String(), true
}

// find returns the secrets in a text in their order, including split and encoded ones. They do not overlap.
func find(s string) []finding {
	whole := findPlain(s)
	return sortAndJoin(slices.Concat(whole, findInvisible(s), findBroken(s, whole), findEncoded(s)))
}

// findPlain returns the secrets that are neither split nor encoded.
func findPlain(s string) []finding {
	if len(s) < 8 {
		return nil
	}
	lower := strings.ToLower(s)
	var found []finding
	set := loadRules()
	for _, r := range set.Rules {
		if r.mayFit(lower) {
			found = append(found, r.find(s, &set.Allow)...)
		}
	}
	return sortAndJoin(found)
}

// sortAndJoin sorts findings and joins those that overlap.
func sortAndJoin(found []finding) []finding {
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to))
	})
	return joinOverlaps(found)
}

// joinOverlaps joins findings that overlap. The joined finding has the kind of
// the first one. If several begin at the same byte, it has the kind of the
// longest.
func joinOverlaps(found []finding) []finding {
	var out []finding
	for _, f := range found {
		if last := len(out) - 1; last >= 0 && f.from < out[last].to {
			out[last].to = max(out[last].to, f.to)
			continue
		}
		out = append(out, f)
	}
	return out
}

func (r *rule) find(s string, everywhere *allowance) []finding {
	var found []finding
	for _, m := range r.compile().FindAllStringSubmatchIndex(s, -1) {
		from, to := secretOf(m, r.SecretGroup)
		secret := s[from:to]
		if minEntropy := r.minEntropy(secret, from == m[0]); minEntropy > 0 && entropy(secret) <= minEntropy {
			continue
		}
		match, line := s[m[0]:m[1]], lineAround(s, m[0], m[1])
		allowed := everywhere.allows(secret, match, line)
		for i := range r.Allow {
			allowed = allowed || r.Allow[i].allows(secret, match, line)
		}
		if !allowed {
			found = append(found, finding{kind: r.ID, from: from, to: to})
		}
	}
	return found
}

// minEntropy returns the entropy that a secret must exceed. The rule's own
// limit separates secrets from ordinary words, but misses secrets that happen
// to have few different characters. A secret that begins with a word of the
// rule, as in AKIA…, is no ordinary word, so it gets a low limit. With this
// limit, AKIAXXXXXXXXXXXXXXXX is still no secret.
func (r *rule) minEntropy(secret string, beginsMatch bool) float64 {
	lower := strings.ToLower(secret)
	named := beginsMatch && slices.ContainsFunc(r.Keywords, func(w string) bool {
		return len(w) > 2 && strings.HasPrefix(lower, w)
	})
	if named {
		return min(r.Entropy, 2)
	}
	return r.Entropy
}

// secretOf returns the range of the secret in a match: the group that the rule
// names, or else the first group that matched, or else the whole match.
func secretOf(m []int, group int) (from, to int) {
	if group > 0 && m[2*group] >= 0 {
		return m[2*group], m[2*group+1]
	}
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && m[i] < m[i+1] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

func lineAround(s string, from, to int) string {
	if i := strings.LastIndexByte(s[:from], '\n'); i >= 0 {
		from = i + 1
	} else {
		from = 0
	}
	if i := strings.IndexByte(s[to:], '\n'); i >= 0 {
		return s[from : to+i]
	}
	return s[from:]
}

// allows reports whether a match is known to be no secret. A condition on paths
// never applies, because a text has no path.
func (a *allowance) allows(secret, match, line string) bool {
	if a.Condition == "AND" && len(a.Paths) > 0 {
		return false
	}
	target := secret
	switch a.RegexTarget {
	case "match":
		target = match
	case "line":
		target = line
	}
	byRegex := false
	for _, re := range a.compile() {
		byRegex = byRegex || re.MatchString(target)
	}
	lower := strings.ToLower(secret)
	byWord := slices.ContainsFunc(a.Stopwords, func(w string) bool { return strings.Contains(lower, strings.ToLower(w)) })
	if a.Condition == "AND" {
		return (byRegex || len(a.Regexes) == 0) && (byWord || len(a.Stopwords) == 0)
	}
	return byRegex || byWord
}

// entropy returns the Shannon entropy of a text, in bits per character.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, r := range s {
		counts[r]++
	}
	sum, n := 0.0, float64(utf8.RuneCountInString(s))
	for _, c := range counts {
		p := float64(c) / n
		sum -= p * math.Log2(p)
	}
	return sum
}
