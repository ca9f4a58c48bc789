package email

import (
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// A mail can name any sender. The only evidence is the result of the checks that our own mail server writes into the
// header Authentication-Results (RFC 8601).

// proof says how well the sender of a mail is verified.
type proof int

const (
	// unproven: the server said nothing, so the secret in the reply must be enough.
	unproven proof = iota
	// proven: the server vouches for the sender.
	proven
	// forged: the server checked, and nothing vouches for the sender.
	forged
)

// verifySender returns how well the sender is verified by the results of the mail server, and why a mail counts as
// forged. If the settings name the server, only its headers count, and they must vouch for the sender. Otherwise only
// the topmost header is read, because a server that adds a header adds it at the top. If no server added one, the
// sender may have written it. So this header can make a mail count as forged, but never as proven.
func (c *config) verifySender(r *reply) (p proof, why string) {
	results, found := c.results(r)
	if !found {
		if c.Vouches() {
			return forged, "the mail has no Authentication-Results of " + c.authServID
		}
		return unproven, ""
	}
	p = weighResults(results, r.from.Address)
	switch {
	case !c.Vouches() && p == proven:
		return unproven, ""
	case c.Vouches() && p == unproven:
		p = forged
	}
	if p == forged {
		return p, describeResults(results)
	}
	return p, ""
}

// Vouches reports whether the settings name a mail server that vouches for the authors of replies.
func (c *config) Vouches() bool { return c.authServID != "" }

// describeResults returns the results of the server as a text, such as "dmarc=fail, spf=pass for evil.test".
func describeResults(results []result) string {
	var all []string
	for _, r := range results {
		found := r.method + "=" + r.value
		for _, name := range []string{"header.from", "header.d", "header.i", "smtp.mailfrom", "smtp.auth"} {
			if value := r.params[name]; value != "" {
				found += " for " + value
				break
			}
		}
		all = append(all, found)
	}
	if len(all) == 0 {
		return "it checked nothing"
	}
	return fermata.Truncate(notice.OneLine(strings.Join(all, ", ")), longestFindings)
}

const longestFindings = 200

// remedy says what the sender must do so that the mail counts.
func (c *config) remedy(r *reply) string {
	advice := "send the reply from the mailbox of " + r.from.Address + " itself, over its own mail server"
	if c.Vouches() {
		advice += "; if that is what you did, an admin looks at authserv_id of the channel and at SPF, DKIM and DMARC of the domain"
	}
	return advice
}

// results collects the results that the server wrote. Everything below this server's own Received header came with the
// mail, so it is not read.
func (c *config) results(r *reply) (all []result, found bool) {
	for fields := r.header.Fields(); fields.Next(); {
		if found && (!c.Vouches() || strings.EqualFold(fields.Key(), "Received")) {
			return all, true
		}
		if !strings.EqualFold(fields.Key(), "Authentication-Results") {
			continue
		}
		id, results := readResults(fields.Value())
		if !c.Vouches() || strings.EqualFold(id, c.authServID) {
			all, found = append(all, results...), true
		}
	}
	return all, found
}

// result is the result of one method: its name, such as dkim, its value, such as pass, and properties, such as
// header.d.
type result struct {
	method, value string
	params        map[string]string
	// contradicts reports whether the result gives a property two values, or is in a malformed header. Such a result
	// vouches for nobody.
	contradicts bool
}

// keyword is the result of a method (RFC 8601 section 2.2).
var keyword = lazyregexp.New(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// readResults reads the header. It removes comments and quoted texts first, because servers write the sender's words
// into them, and those words could look like results. An address that a server did not quote could look like a result,
// too. Such a header has a part that is not a result, and counts as malformed. Only version 1 of the header is known.
func readResults(s string) (id string, results []result) {
	head, rest, _ := strings.Cut(stripComments(s), ";")
	words := strings.Fields(head)
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && words[1] != "1" {
		return "", nil
	}
	id = words[0]
	malformed := false
	for part := range strings.SplitSeq(rest, ";") {
		r := result{params: map[string]string{}}
		for i, word := range strings.Fields(part) {
			name, value, hasValue := strings.Cut(strings.ToLower(word), "=")
			malformed = malformed || !hasValue && word != "none"
			if i == 0 {
				r.method, r.value = name, value
				malformed = malformed || hasValue && !keyword().MatchString(value)
				continue
			}
			before, twice := r.params[name]
			r.contradicts = r.contradicts || twice && before != value || name == r.method && value != r.value
			r.params[name] = value
		}
		if r.value != "" {
			results = append(results, r)
		}
	}
	for i := range results {
		results[i].contradicts = results[i].contradicts || malformed
	}
	return id, results
}

// stripComments removes comments and quoted texts from a header (RFC 5322). A comment or a quoted text without an end
// is removed up to the end.
func stripComments(s string) string {
	var b strings.Builder
	depth, quoted, escaped := 0, false, false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && (depth > 0 || quoted):
			escaped = true
		case quoted:
			quoted = r != '"'
		case r == '"' && depth == 0:
			quoted = true
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// weighResults weighs the results of one server. A failed DMARC counts more than everything else.
func weighResults(results []result, from string) proof {
	found := unproven
	for _, r := range results {
		fits, known := r.matchSender(from)
		switch {
		case !known:
		case r.method == "dmarc" && r.value == "fail":
			return forged
		case r.value == "pass" && r.contradicts:
		case r.value == "pass" && fits:
			found = proven
		case (r.value == "fail" || r.value == "hardfail" || r.value == "softfail" || r.value == "policy") && found == unproven:
			found = forged
		}
	}
	return found
}

// matchSender reports whether a result is about the sender. known reports whether the method says anything about senders.
func (r result) matchSender(from string) (fits, known bool) {
	_, domain, _ := strings.Cut(from, "@")
	of := func(name string) string {
		value := r.params[name]
		return value[strings.LastIndex(value, "@")+1:]
	}
	switch r.method {
	case "dmarc":
		return isAligned(of("header.from"), domain), true
	case "dkim":
		d, i := of("header.d"), of("header.i")
		if d != "" && i != "" {
			// The identity is in the signing domain or below it (RFC 6376).
			return isAligned(d, domain) && isAligned(d, i), true
		}
		return isAligned(d+i, domain), true
	case "spf":
		return isAligned(of("smtp.mailfrom"), domain), true
	case "auth":
		return r.params["smtp.auth"] == strings.ToLower(from), true
	default:
		return false, false
	}
}

// isAligned reports whether a domain is the proven domain or one of its subdomains.
func isAligned(proved, domain string) bool {
	proved, domain = strings.Trim(proved, "<>."), strings.ToLower(domain)
	return strings.Contains(proved, ".") && (proved == domain || strings.HasSuffix(domain, "."+proved))
}
