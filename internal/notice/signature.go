package notice

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// A signature is removed from the words of a person, so words that take an
// answer back must not pass for a signature. A doubtful text is not a
// signature: it stays, and the person is asked again.

const (
	// maxSignatureLines is the largest number of lines of a signature. maxSignatureLineLength is the largest number of
	// characters of such a line.
	maxSignatureLines      = 10
	maxSignatureLineLength = 100
	// maxNameWords is the largest number of words of a line that is only a name.
	maxNameWords = 4
)

var (
	// delimiter matches a line that begins a signature: a rule, or "-- " (RFC
	// 3676). Mail programs also write "-- " without its trailing blank.
	delimiter = lazyregexp.New(`^(--|—|_{2,}|\*{3,}|-{3,})\s*$`)
	// closingPhrase matches a closing line of a mail, above the name.
	closingPhrase = lazyregexp.New(`(?i)^(with )?((kind|kindest|best|warm|many|friendly)( and (best|kind|warm))? )?(regards|wishes|greetings)$|^(all the )?best$|^(yours )?(sincerely|faithfully|truly)( yours)?$|^cheers$|^(many )?thanks and (best|kind) regards$|` +
		`^(mit )?((freundlichen?|besten?|viele|herzlichen?|liebe[nr]?|schönen?) )+(grüßen?|grüssen?|gruß|gruss)( aus \p{Lu}\S*)?$|^(grüße|grüsse|gruß|gruss|mfg|lg|vg|bg)$|^(danke|vielen dank) und ((freundlichen?|besten?|viele|herzlichen?|liebe[nr]?|schönen?) )*(grüße|grüßen|grüsse|gruß|gruss)$|` +
		`^(bien )?(cordialement|amicalement|à vous)$|^(bonne journée|salutations( distinguées)?)$|^(un )?(cordial )?saludos?( cordiales)?$|^(atentamente|atenciosamente|abraços?)$|^(cordiali |distinti )?saluti$|^(met )?vriendelijke groet(en)?$|^(med )?vänliga? hälsning(ar)?$|^(med )?venlig hilsen$|^pozdrawiam$|^с уважением$`)
	link = lazyregexp.New(`(?i)<?\b(https?://|mailto:|www\.)[^\s<>]*>?`)
	// postscript matches the beginning of the person's words below the name.
	postscript = lazyregexp.New(`(?i)^(p\.? ?s\b|n\.?b\b|nachtrag\b)`)
	// device matches a line that a program signs with: how it begins, which
	// device or program it names, and how it ends.
	device = lazyregexp.New(`(?i)^(?:` +
		`(?:sent from(?: my)?|sent with|sent via|get outlook for|get bluemail for|get|outlook for|gesendet von|gesendet mit|envoyé de|envoyé depuis|envoyé de mon|envoyé depuis mon|enviado desde(?: mi)?|enviado do meu|inviato da(?:l mio)?|` +
		`verzonden vanaf(?: mijn)?|verstuurd vanaf(?: mijn)?|skickat från(?: min)?|sendt fra(?: min)?|wysłane z|odesláno z|отправлено с|holen sie sich outlook für|发自我的|從我的|从我的) ?([^.!?,;:–—]{2,40})|` +
		`outlook für ([^.!?,;:–—]{2,40}) beziehen|von (?:meinem/meiner|meine[mr]) ([^.!?,;:–—]{2,40}) gesendet|diese nachricht wurde von meinem ([^.!?,;:–—]{2,40}) gesendet|(iphone|ipad|android)から送信)[.!]?$`)
	deviceWords = setOfWords(`phone mobile handy smartphone tablet telefon telefoon téléphone portable móvil celular device gerät mail e-mail email app secure mit with for für de for by my mobil bluemail z mon mi meu mijn min`)
	// smallWords occur within names, titles and addresses.
	smallWords = setOfWords(`of the and & und et y e da das de del della di do dos du des la le les von vom van der den zu zum zur für for at in aus med och og en des i.a. i.v. i.A. i.V. ppa ppa. c/o
		he him his she her hers they them their er sie ihm ihr`)
	// labels occur before a number or an address.
	labels    = setOfWords(`tel phone telefon mobile mobil fax office büro cell direct m t f e w p d web email e-mail mail`)
	clockTime = lazyregexp.New(`\d{1,2}:\d{2}|\d{4}-\d{1,2}-\d{1,2}|\b\d{1,2}\.\d{1,2}\.(\d{2}|\s|$)|(?i)\b\d{1,2} ?(am|pm|uhr|h)\b`)
)

// nonSignatureWords are words that no signature contains. They say no, not, wait or later,
// or they state a condition.
var nonSignatureWords = setOfWords(`
	no not nope nah never don't dont do doesn't can't cannot won't shouldn't wait hold stop halt pause cancel abort revert undo reject rejected refuse deny denied decline but however unless until till before after later
	if when once only first then yet still soon tomorrow tonight today monday tuesday wednesday thursday friday saturday sunday next week month please instead rather ask asks check wrong mistake sorry actually careful warning attention
	approve approved deploy yes maybe perhaps unsure question hm hmm why what which who how or so under without except against
	provided conditional negative disagree disapprove unapproved broken failed fails failing bad bug danger dangerous risky hour hours minute minutes day days noon evening
	nein nicht nie niemals nee kein keine noch warte warten wartet moment stopp abbrechen zurück ablehnen abgelehnt aber jedoch sondern erst bis vor nach später morgen übermorgen heute montag dienstag mittwoch donnerstag freitag samstag
	sonntag wenn falls sobald nur bitte lieber stattdessen doch frag frage fragen falsch fehler vorsicht achtung halte vielleicht ja warum wieso was wer wie
	stunde stunden minute minuten tag tage woche monat mittag abend kaputt gefahr gefährlich problem unter ohne außer gegen
	non ne pas jamais attends attendez attendre arrêtez arrête annule annulez mais sauf avant après demain lundi mardi mercredi jeudi vendredi samedi dimanche si seulement plutôt peut-être pardon
	nunca jamás espera espere esperen esperar para pare detén cancela pero antes después mañana lunes martes miércoles jueves viernes sábado domingo todavía aún sólo solo
	não nao nem aguarde aguardar mas depois amanhã segunda terça quarta quinta sexta ainda
	mai aspetta aspetti aspettate attendi fermo ferma annulla ma prima dopo domani lunedì martedì mercoledì giovedì venerdì sabato domenica ancora
	niet nooit wacht wachten maar eerst voor na morgen maandag dinsdag woensdag donderdag vrijdag zaterdag zondag nog
	nej inte ikke aldrig vänta vent stoppa men först först før efter etter imorgon i_morgon måndag tisdag onsdag torsdag fredag lördag söndag ännu nei
	nie czekaj poczekaj zaczekaj stój ale przed po jutro jeszcze
	нет не нельзя подожди подождите стой стоп но сначала после завтра ещё еще только ні`)

// splitSignature splits a message into the person's words and the signature. It drops
// quoted lines and the lines by which programs sign. name is the person's name,
// if it is known. If strict is set, as at high risk, only a name counts as a
// signature.
func splitSignature(text, name string, strict bool) (words, signature string) {
	var lines []string
	linkMayFollow := false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, ">"):
		case IsDeviceSignature(line):
			linkMayFollow = true
			continue
		case linkMayFollow && isLink(line):
		default:
			lines = append(lines, line)
		}
		linkMayFollow = linkMayFollow && strings.TrimSpace(line) == ""
	}
	for i := range lines {
		if !beginsSignature(lines, i) {
			continue
		}
		if below := filledLines(lines[i+1:]); isSignature(below, name, strict) {
			return strings.TrimSpace(strings.Join(lines[:i], "\n")), strings.Join(below, "\n")
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), ""
}

// SplitSignature returns the person's words in a message, and the signature below them.
// Words that may say something about the answer are never taken for a
// signature: they stay in words.
func SplitSignature(text, name string) (words, signature string) {
	return splitSignature(text, name, false)
}

// beginsSignature reports whether a signature may begin at line i: at a
// delimiter, or at a closing phrase that follows other words.
func beginsSignature(lines []string, i int) bool {
	line := strings.TrimSpace(lines[i])
	return delimiter().MatchString(line) || closingPhrase().MatchString(strings.TrimRight(line, ",.!")) && len(filledLines(lines[:i])) > 0
}

// filledLines returns the lines that are not empty.
func filledLines(lines []string) []string {
	var kept []string
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, line)
		}
	}
	return kept
}

// IsDeviceSignature reports whether a line is only the signature of a program: "Sent
// from my iPhone".
func IsDeviceSignature(line string) bool {
	line = strings.Join(strings.Fields(link().ReplaceAllString(line, " ")), " ")
	found := device().FindStringSubmatch(line)
	if found == nil {
		return false
	}
	words := strings.Fields(strings.Join(found[1:], " "))
	for _, word := range words {
		lower := strings.ToLower(word)
		if nonSignatureWords[lower] || !deviceWords[lower] && !isCapital(word) && !strings.ContainsFunc(word, unicode.IsUpper) && !hasDigit(word) {
			return false
		}
	}
	return len(words) > 0 && len(words) <= 6
}

// isLink reports whether a line is one link and nothing else.
func isLink(line string) bool {
	return strings.TrimSpace(line) != "" && strings.Trim(link().ReplaceAllString(line, ""), " \t[]()") == ""
}

// isSignature reports whether the lines can only be a signature: a few short
// lines of names, titles, numbers and addresses. If strict is set, they must be
// one name.
func isSignature(lines []string, name string, strict bool) bool {
	if len(lines) > maxSignatureLines {
		return false
	}
	if strict {
		return len(lines) == 0 || len(lines) == 1 && isName(lines[0], name)
	}
	return !slices.ContainsFunc(lines, func(line string) bool { return !isSignatureLine(line, name) })
}

// isName reports whether a line is a name: the person's own, or two to four
// words with a capital letter at the beginning.
func isName(line, name string) bool {
	words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == ',' })
	capitals := 0
	for _, word := range words {
		switch {
		case hasWord(name, word):
			capitals += 2
		case isCapital(word) && !isNonSignatureWord(word) && strings.IndexFunc(word, isNoLetterOfName) < 0:
			capitals++
		default:
			return false
		}
	}
	return len(words) <= maxNameWords && capitals > 1
}

func isNoLetterOfName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(".-'’", r)
}

// isSignatureLine reports whether a line can belong to a signature. Such a line names
// something, or holds a number or an address, and has no word of a sentence.
func isSignatureLine(line, name string) bool {
	if utf8.RuneCountInString(line) > maxSignatureLineLength || postscript().MatchString(line) || strings.ContainsAny(line, "!?…¿¡！？。") || strings.ContainsFunc(line, isPictogram) {
		return false
	}
	bare := link().ReplaceAllString(line, " ")
	namesSomething, hasSmallWord := bare != line || strings.IndexFunc(bare, isLetterOrDigit) < 0, false
	for word := range strings.FieldsFuncSeq(bare, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;|/·•()[]<>*_\"“”„", r)
	}) {
		word = strings.Trim(word, ":-–—+.'’")
		lower := strings.ToLower(word)
		switch {
		case word == "" || strings.IndexFunc(word, isLetterOrDigit) < 0 || labels[lower]:
		case hasWord(name, word) || strings.Contains(word, "@"):
			namesSomething = true
		case isNonSignatureWord(word):
			return false
		case smallWords[lower]:
			hasSmallWord = true
		case hasDigit(word):
		case isCapital(word) || strings.Contains(word, "."):
			namesSomething = true
		default:
			return false
		}
	}
	isNumber := !hasSmallWord && countDigits(bare) >= minPhoneDigits
	return (namesSomething || isNumber) && !clockTime().MatchString(bare)
}

// minPhoneDigits is how many digits a telephone number has at least.
const minPhoneDigits = 6

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func countDigits(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// isNonSignatureWord reports whether a word, or a part of it, is one that no signature
// contains.
func isNonSignatureWord(word string) bool {
	for part := range strings.FieldsFuncSeq(strings.ToLower(strings.ReplaceAll(word, "’", "'")), func(r rune) bool { return strings.ContainsRune("-–—.:", r) }) {
		if nonSignatureWords[part] {
			return true
		}
	}
	return nonSignatureWords[strings.ToLower(word)]
}

// isCapital reports whether a word begins with a capital letter.
func isCapital(word string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, "'’\"("))
	return unicode.IsUpper(first) || unicode.IsTitle(first)
}

func hasDigit(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) }

// hasWord reports whether a word is part of a name.
func hasWord(name, word string) bool {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`,."`, r) }) {
		if strings.EqualFold(part, strings.Trim(word, ".")) {
			return true
		}
	}
	return false
}

// isPictogram reports whether a character is a picture with a meaning. Pictures
// of telephones and letters do not count.
func isPictogram(r rune) bool {
	return unicode.Is(unicode.So, r) && !strings.ContainsRune("®™©°☎✆✉📞📱📧🌐🏠📍", r)
}
