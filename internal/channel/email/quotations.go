package email

import (
	"regexp"
	"strings"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// splitReply is the text of a reply, split at its quotations.
type splitReply struct {
	// aboveQuote is the text above every quotation. afterQuote is the text after
	// a quotation with marked lines.
	aboveQuote, afterQuote string
	// original is the text below the head of a quoted mail whose lines are not marked. Fermata may leave out only words
	// that it sent itself. So it compares this text with the mails that it sent.
	original string
	// doubt says why the text may differ from what the person saw. It is empty
	// if it does not. remedy says how to reply instead.
	doubt, remedy string
}

// splitQuotations splits a text at its quotations. The heads of quotations come in many
// languages, so a line is recognized as one by its form.
func splitQuotations(s string) splitReply {
	lines := strings.Split(strings.ReplaceAll(s, "\u00a0", " "), "\n")
	var found splitReply
	var above, after []string
	part := &above
	for i := 0; i < len(lines); {
		if isQuoted(lines[i]) {
			*part = withoutIntroduction(*part)
			part = &after
			i++
			continue
		}
		if n := introductionLength(lines[i:]); n > 0 && followedByQuote(lines[i+n:]) {
			i += n
			continue
		}
		if beginsOriginal(lines[i:]) {
			found.original = strings.Join(withoutHead(lines[i:]), "\n")
			break
		}
		*part = append(*part, lines[i])
		i++
	}
	found.aboveQuote, found.afterQuote = strings.TrimSpace(strings.Join(above, "\n")), strings.TrimSpace(strings.Join(after, "\n"))
	return found
}

// read returns the person's words and the signature below them. unknown reports whether read removed a quotation
// that Fermata did not send.
func (s splitReply) read(sent wordSet, name string) (text, signature string, unknown bool) {
	if text, _ = notice.SplitSignature(s.aboveQuote, name); text == "" {
		return "", "", false
	}
	text = s.aboveQuote
	if words, _ := ownBelow(s.afterQuote, name); words == "" || !sent.has(words) {
		text += "\n" + s.afterQuote
	}
	text, signature = notice.SplitSignature(text, name)
	rest, below := ownBelow(s.original, name)
	return text, strings.TrimSpace(signature + "\n" + below), !sent.has(rest)
}

// ownBelow is [notice.SplitSignature] for a text that follows other words.
func ownBelow(text, name string) (words, signature string) {
	words, signature = notice.SplitSignature("-\n"+text, name)
	return strings.TrimSpace(strings.TrimPrefix(words, "-")), signature
}

func isQuoted(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, ">") || strings.HasPrefix(line, "│ ") || strings.HasPrefix(line, "| ")
}

const verbs = `\b(wrote|schrieb|écrit|escribió|escreveu|scritto|schreef|skrev|napisał|napsal|kirjoitti|yazdı|написал)\b`

var (
	// separatorLine matches a line that separates a quoted mail, or a signature.
	separatorLine = lazyregexp.New(`^(_{2,}|-{2,}|\*{3,}|—)\s*$`)
	// originalLine matches the line above the head of a quoted mail.
	originalLine = lazyregexp.New(`(?i)^-{2,} ?(original message|original-nachricht|ursprüngliche nachricht|originalnachricht|forwarded message|weitergeleitete nachricht|message d'origine|message original|mensaje original|mensagem original|messaggio originale|` +
		`oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|opprinnelig melding|wiadomość oryginalna|исходное сообщение|原始邮件|元のメッセージ|원본 메시지) ?-{2,}$`)
	verb    = lazyregexp.New(`(?i)` + verbs)
	moment  = lazyregexp.New(`\d{4}|\d{1,2}[:.]\d{2}|\d{1,2}[./-]\d{1,2}`)
	address = lazyregexp.New(`\S@\S`)
	// opening matches the beginning of an introduction that is broken into
	// several lines.
	opening = lazyregexp.New(`(?i)^\s*(on|am|le|el|il|em|op|den|dnia|w dniu)\b.*\d`)
	// introduction matches the beginning of an introduction: a date, or the
	// word before one.
	introduction = lazyregexp.New(`(?i)^\s*((on|am|le|el|il|em|op|den|dnia|w dniu|em|в|вс|пн|вт|ср|чт|пт|сб)\b.*\d|\p{L}{2,4}[.,] .*\d|\d{1,4}[./\-年]\s?\d)`)
	// nameFirst matches an introduction that begins with a name, before an
	// address or a verb.
	nameFirst = lazyregexp.New(`^\s*"?(\p{Lu}[^\s<@]*\s+){0,4}(<|\S+@|` + verbs + `)`)
	// field matches a line in the head of a quoted mail: From: Ada.
	field     = lazyregexp.New(`^\s*\*?(\p{L}[\p{L} -]{0,24})\*?\s?[:：]\*?\s+\S`)
	sentField = lazyregexp.New(`(?i)^\s*\*?(sent|date|gesendet|datum)\*?\s?:`)
	mailField = lazyregexp.New(`(?i)^\s*\*?(from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人|보낸 사람)\*?\s?[:：]`)
	// headField matches a field whose name occurs in such a head.
	headField = lazyregexp.New(`(?i)^\s*\*?(from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人|보낸 사람|sent|date|gesendet|datum|envoyé|enviado|enviada|inviato|data|fecha|verzonden|skickat|sendt|wysłano|отправлено|дата|发送时间|日期|送信日時|보낸 날짜|` +
		`to|an|à|para|a|aan|till|til|do|кому|收件人|宛先|받는 사람|cc|copie|kopie|kopia|копия|抄送|subject|betreff|objet|asunto|assunto|oggetto|onderwerp|ämne|emne|temat|тема|主题|主旨|件名|제목|reply-to|antwort an|répondre à)\*?\s?[:：]`)
)

// maxHeadFields is how many lines the head of a quoted mail has at most.
const maxHeadFields = 8

// beginsOriginal reports whether the lines begin a quoted mail whose own lines are not marked: with a line that says
// so, with its head, or with an introduction.
func beginsOriginal(lines []string) bool {
	line := strings.TrimSpace(lines[0])
	if originalLine().MatchString(line) || isMailHead(lines) || introductionLength(lines) > 0 {
		return true
	}
	if !separatorLine().MatchString(line) {
		return false
	}
	below := lines[1:]
	for len(below) > 0 && strings.TrimSpace(below[0]) == "" {
		below = below[1:]
	}
	return len(below) > 0 && (mailField().MatchString(below[0]) || isMailHead(below) || originalLine().MatchString(strings.TrimSpace(below[0])))
}

// withoutHead removes the lines above the text of a quoted mail.
func withoutHead(lines []string) []string {
	for fields := 0; len(lines) > 0; {
		line := strings.TrimSpace(lines[0])
		switch n := introductionLength(lines); {
		case line == "" || separatorLine().MatchString(line) || originalLine().MatchString(line):
			lines = lines[1:]
		case headField().MatchString(line) && fields < maxHeadFields:
			lines, fields = lines[1:], fields+1
		case n > 0:
			lines = lines[n:]
		default:
			return lines
		}
	}
	return nil
}

func followedByQuote(lines []string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return isQuoted(line)
		}
	}
	return false
}

// introductionLength returns how many lines at the beginning introduce a quotation, or 0. They must have a verb, an
// address and a date. What follows them does not matter.
func introductionLength(lines []string) int {
	if !introduction().MatchString(lines[0]) && !nameFirst().MatchString(lines[0]) {
		return 0
	}
	line := ""
	for n := range min(len(lines), 3) {
		if strings.TrimSpace(lines[n]) == "" || n > 0 && !opening().MatchString(lines[0]) {
			return 0
		}
		line = strings.TrimSpace(line + " " + lines[n])
		if endsIntroduction(line) && verb().MatchString(line) && address().MatchString(line) && moment().MatchString(line) {
			return n + 1
		}
	}
	return 0
}

func endsIntroduction(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasSuffix(line, ":") || strings.HasSuffix(line, "：")
}

// isIntroduction reports whether a line introduces the quotation below it. The line must have at least two of these: a
// verb, a date, an address.
func isIntroduction(line string) bool {
	if !endsIntroduction(line) || !introduction().MatchString(line) && !nameFirst().MatchString(line) {
		return false
	}
	n := 0
	for _, sign := range []*regexp.Regexp{verb(), moment(), address()} {
		if sign.MatchString(line) {
			n++
		}
	}
	return n > 1
}

// isMailHead reports whether the lines begin with the head of a quoted mail: From, which may come second, and at least
// two other fields. At least one of the lines must have an address or a year.
func isMailHead(lines []string) bool {
	if len(lines) < 3 {
		return false
	}
	sentFirst := sentField().MatchString(lines[0]) && mailField().MatchString(lines[1]) && strings.Contains(lines[1], "@")
	if !mailField().MatchString(lines[0]) && !sentFirst {
		return false
	}
	fields, hasAddressOrYear := 0, false
	for _, line := range lines[:min(len(lines), 6)] {
		if !field().MatchString(line) {
			break
		}
		fields++
		hasAddressOrYear = hasAddressOrYear || strings.Contains(line, "@") || year().MatchString(line)
	}
	return fields >= 3 && hasAddressOrYear
}

var year = lazyregexp.New(`\d{4}`)

// withoutIntroduction removes the lines that introduce the quotation below
// them, such as "On Friday Ada wrote:". The introduction may be broken into
// several lines.
func withoutIntroduction(lines []string) []string {
	last := len(lines) - 1
	for last >= 0 && strings.TrimSpace(lines[last]) == "" {
		last--
	}
	if last < 0 {
		return lines
	}
	first := last
	for first > 0 && last-first < 3 && strings.TrimSpace(lines[first-1]) != "" {
		first--
	}
	for from := last; from >= first; from-- {
		if introduction().MatchString(lines[from]) && isIntroduction(strings.Join(lines[from:last+1], " ")) {
			return lines[:from]
		}
	}
	if isIntroduction(lines[last]) {
		return lines[:last]
	}
	return lines
}
