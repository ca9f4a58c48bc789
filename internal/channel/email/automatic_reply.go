package email

import (
	"strings"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// autoReplySubject matches the subject of an automatic reply whose headers do not declare it as one. The subject of a
// person's reply does not match, because it begins with the subject of our mail.
var autoReplySubject = lazyregexp.New(`(?i)^(automatic reply|auto(matic)?[- ]?(reply|response)|out of (the )?office|automatische (antwort|nachricht)|abwesenheit|réponse automatique|respuesta automática|risposta automatica|automatisch antwoord)`)

// automaticReason returns why the mail is automatic, or "" if a person wrote it. An automatic mail never counts as an
// answer, and Fermata never replies to it, because two machines could write to each other forever.
func (r *reply) automaticReason() string {
	get := func(name string) string { return strings.ToLower(strings.TrimSpace(r.header.Get(name))) }
	if kind, _, _ := r.header.ContentType(); kind == "multipart/report" || kind == "message/delivery-status" || r.header.Has("X-Failed-Recipients") {
		return "a report about a mail"
	}
	if by := get("Auto-Submitted"); by != "" && by != "no" {
		return "an automatic reply"
	}
	for _, name := range []string{"X-Autoreply", "X-Autorespond", "X-Autoresponse", "X-Auto-Reply-From", "X-Mail-Autoreply"} {
		if r.header.Has(name) && get(name) != "no" {
			return "an automatic reply"
		}
	}
	if subject, err := r.header.Subject(); err == nil && autoReplySubject().MatchString(strings.TrimSpace(subject)) {
		return "an automatic reply"
	}
	switch get("Precedence") {
	case "bulk", "list", "junk", "auto_reply":
		return "a mail to many"
	}
	for fields := r.header.Fields(); fields.Next(); {
		if strings.HasPrefix(strings.ToLower(fields.Key()), "list-") {
			return "a mail of a list"
		}
	}
	if r.header.Has("X-Loop") || r.header.Has("X-Fermata-Delivery") {
		return "a mail of our own"
	}
	local, _, _ := strings.Cut(r.from.Address, "@")
	switch {
	case local == "":
		return "a mail without a sender"
	case local == "mailer-daemon" || local == "postmaster" || local == "noreply" || local == "no-reply":
		return "a mail of a machine"
	case r.header.Has("Return-Path") && strings.Trim(get("Return-Path"), "<> ") == "":
		return "a mail that wants no reply"
	}
	return ""
}
