package email

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// written keeps what a person wrote: all that stands above a quotation, the
// head of a quoted mail, or a signature. The languages of these heads are
// many, so a line counts as one by its form.
func written(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\u00a0", " "), "\n")
	end := len(lines)
	for i, line := range lines {
		if quotes(line) || signs(line) || takesLeave(lines, i) || heads(lines[i:]) || introduces(lines[i:]) {
			end = i
			break
		}
	}
	lines = lines[:end]
	if end > 0 {
		lines = withoutIntroduction(lines, s)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func quotes(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, ">") || strings.HasPrefix(line, "│ ") || strings.HasPrefix(line, "| ")
}

var (
	signature = regexp.MustCompile(`^(-- ?|—|__+|\*{3,}|-{3,}.*|_{5,}.*)$`)
	// Phones sign in one line: Sent from my phone, Get Outlook for Android.
	phone = regexp.MustCompile(`(?i)^(sent from my |sent with |sent via |get outlook for |outlook für (android|ios)|holen sie sich outlook für |get bluemail |von meinem .* gesendet|diese nachricht wurde von meinem |gesendet von |gesendet mit |envoyé de mon |envoyé depuis |enviado desde mi |enviado do meu |inviato da |verzonden vanaf |verstuurd vanaf |skickat från |wysłane z |отправлено с |发自我的|iphoneから送信)`)
	// wrote introduces a quotation: a line with a date, an address or a verb,
	// and a colon at its end.
	wrote = regexp.MustCompile(`(?i)(\d{1,4}[./\- ]|\d{1,2}:\d{2}|@|\b(wrote|schrieb|écrit|escribió|escreveu|ha scritto|schreef|skrev|napisał)\b).*[:：]\s*$`)
	// told is an introduction that is one by itself: who wrote, by address, and
	// when. Programs that do not mark a quotation write it, too.
	told   = regexp.MustCompile(`(?i)^.*\b(wrote|schrieb|a écrit|escribió|escreveu|ha scritto|schreef|skrev|napisał)\b.*[:：]$`)
	moment = regexp.MustCompile(`\d{4}|\d{1,2}[:.]\d{2}`)
	// opening is how one begins that is broken into several lines.
	opening = regexp.MustCompile(`(?i)^\s*(on|am|le|el|il|em|op|den|dnia|w dniu)\b.*\d`)
	// field is a line of the head of a quoted mail: From: Ada.
	field     = regexp.MustCompile(`^\s*\*?(\p{L}[\p{L} -]{0,24})\*?\s?[:：]\*?\s+\S`)
	sentField = regexp.MustCompile(`(?i)^\s*\*?(sent|date|gesendet|datum)\*?\s?:`)
	mailField = regexp.MustCompile(`(?i)^\s*\*?(from|von|de|da|van|från|fra|od|от|发件人|寄件者|差出人|보낸 사람)\*?\s?[:：]`)
)

func signs(line string) bool {
	line = strings.TrimRight(line, "\r")
	return signature.MatchString(line) || phone.MatchString(strings.TrimSpace(line))
}

// leave is a line by which people end a mail, above their name.
var leave = regexp.MustCompile(`(?i)^(with )?((kind|kindest|best|warm|many|friendly)( and \w+)? )?(regards|wishes|greetings)$|^(all the )?best$|^(yours )?(sincerely|faithfully|truly)( yours)?$|^cheers$|^(many )?thanks and (best|kind) regards$|` +
	`^(mit )?((freundlichen?|besten?|viele|herzlichen?|liebe[nr]?|schönen?) )+(grüßen?|grüssen?|gruß|gruss)( aus .*)?$|^(grüße|grüsse|gruß|gruss|mfg|lg|vg|bg)$|^(danke|vielen dank) und .*(grüße|grüßen|grüsse|gruß|gruss)$|` +
	`^(bien )?(cordialement|amicalement|à vous)$|^(bonne journée|salutations( distinguées)?)$|^(un )?(cordial )?saludos?( cordiales)?$|^(atentamente|atenciosamente|abraços?)$|^(cordiali |distinti )?saluti$|^(met )?vriendelijke groet(en)?$|^(med )?vänliga? hälsning(ar)?$|^(med )?venlig hilsen$|^pozdrawiam$|^с уважением$`)

// postscript begins words of the person below their name.
var postscript = regexp.MustCompile(`(?i)^(p\.? ?s\b|n\.?b\b|nachtrag\b)`)

// mostLeave and longestLeave bound what stands below such a line: a name and a
// few lines of a signature, no more words.
const (
	mostLeave    = 10
	longestLeave = 100
)

// takesLeave reports whether a signature without a mark begins at a line: words
// of leave-taking below something that was said, and short lines to the end of
// the mail or to what it quotes.
func takesLeave(lines []string, i int) bool {
	if strings.TrimSpace(strings.Join(lines[:i], "")) == "" || !leave.MatchString(strings.TrimRight(strings.TrimSpace(lines[i]), ",.!")) {
		return false
	}
	below := 0
	for j, line := range lines[i+1:] {
		if quotes(line) || signs(line) || heads(lines[i+1+j:]) || wrote.MatchString(line) {
			return true
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if postscript.MatchString(strings.TrimSpace(line)) {
			return false
		}
		if below++; below > mostLeave || utf8.RuneCountInString(line) > longestLeave {
			return false
		}
	}
	return true
}

// introduces reports whether a quotation is introduced here, whatever comes
// below.
func introduces(lines []string) bool {
	line := ""
	for n := range min(len(lines), 3) {
		if strings.TrimSpace(lines[n]) == "" || n > 0 && !opening.MatchString(lines[0]) {
			return false
		}
		line = strings.TrimSpace(line + " " + lines[n])
		if told.MatchString(line) && strings.Contains(line, "@") && moment.MatchString(line) {
			return true
		}
	}
	return false
}

// heads reports whether the head of a quoted mail begins here: From, which may
// come second, and at least two other fields of which one has a date or an
// address.
func heads(lines []string) bool {
	if len(lines) < 3 {
		return false
	}
	sentFirst := sentField.MatchString(lines[0]) && mailField.MatchString(lines[1]) && strings.Contains(lines[1], "@")
	if !mailField.MatchString(lines[0]) && !sentFirst {
		return false
	}
	fields, telling := 0, false
	for _, line := range lines[:min(len(lines), 6)] {
		if !field.MatchString(line) {
			break
		}
		fields++
		telling = telling || strings.Contains(line, "@") || regexp.MustCompile(`\d{4}`).MatchString(line)
	}
	return fields >= 3 && telling
}

// withoutIntroduction takes off the lines that introduce a quotation, such as
// "On Friday Ada wrote:". They may be broken into several.
func withoutIntroduction(lines []string, whole string) []string {
	last := len(lines) - 1
	for last >= 0 && strings.TrimSpace(lines[last]) == "" {
		last--
	}
	if last < 0 || len(lines) == strings.Count(whole, "\n")+1 {
		return lines
	}
	first := last
	for first > 0 && last-first < 3 && strings.TrimSpace(lines[first-1]) != "" {
		first--
	}
	for from := last; from >= first; from-- {
		if wrote.MatchString(strings.Join(lines[from:last+1], " ")) && introduction.MatchString(lines[from]) {
			return lines[:from]
		}
	}
	if wrote.MatchString(lines[last]) {
		return lines[:last]
	}
	return lines
}

// introduction begins an introduction: a date, or the word before one.
var introduction = regexp.MustCompile(`(?i)^\s*((on|am|le|el|il|em|op|den|dnia|w dniu|em|в|вс|пн|вт|ср|чт|пт|сб)\b.*\d|\p{L}{2,4}[.,] .*\d|\d{1,4}[./\-年]\s?\d)`)
