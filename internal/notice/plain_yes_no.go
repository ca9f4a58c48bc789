package notice

import (
	"strings"
	"unicode"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// These are words by which people say yes and no. They are read only where the
// answer can be just one of the two. This is the one list for mails, threads
// and comments. The words never count for a question of high risk: the person
// must write the words that the message asks for.
var (
	yesWords = setOfWords(`
		yes y yep yeah yup ok okay k sure fine agreed approve approved accepted granted go lgtm +1 👍 👌 ✅ ✔ 🆗 :+1: :thumbsup: :white_check_mark: :ok_hand:
		ja j jo jawohl genehmigt genehmige freigegeben einverstanden passt gern gerne machen
		oui d'accord approuvé accord sí si vale aprobado conforme sì approvato sim aprovado
		goed akkoord goedgekeurd zgoda да ок хорошо согласен 是 好 可以 同意 はい 了解 承認 네 좋아요 evet tamam joo kyllä godkänt godkendt`)
	noWords = setOfWords(`
		no n nope nah reject rejected denied refused declined stop -1 👎 ❌ ✖ 🚫 :-1: :thumbsdown: :x: :no_entry:
		nein nö ne abgelehnt ablehnen lieber-nicht non refusé rechazado rifiutato não nao recusado
		nee afgewezen nie нет 不 不行 否 いいえ 却下 아니요 hayır nej ei`)
	yesPhrases = setOfPhrases("sounds good|looks good|looks good to me|go ahead|ship it|do it|go for it|all good|why not|of course|mach das|mach es|gut so|alles klar|in ordnung|nur zu|" +
		"geht klar|sieht gut aus|bien sûr|vas-y|c'est bon|de acuerdo|está bien|va bene|tudo bem|is goed")
	noPhrases = setOfPhrases("do not|don't|please don't|not now|no way|no go|lieber nicht|bitte nicht|auf keinen fall|pas d'accord|de ninguna manera")
	// courtesies may accompany a yes or a no and change nothing.
	courtesies = setOfWords("thanks thx please danke bitte merci gracias grazie obrigado obrigada dank 🙏 🎉 🚀 :pray: :tada: :rocket:")
)

func setOfWords(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

func setOfPhrases(list string) map[string]bool {
	set := map[string]bool{}
	for p := range strings.SplitSeq(list, "|") {
		set[p] = true
	}
	return set
}

// ParsePlainYesNo reads a line as a plain yes or no, as people write it to each other:
// "👍", "Ja, genehmigt", "ok thanks". ok is false if the line has any other
// words: "ok, but wait" says more.
func ParsePlainYesNo(line string) (yes, ok bool) {
	line = normalizeLine(line)
	found := 0
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(",;.!…–—\t", r) }) {
		part = strings.Join(strings.Fields(part), " ")
		if part == "" {
			continue
		}
		polarity, known := polarityOf(part)
		switch {
		case !known:
			return false, false
		case polarity == 0:
		case found != 0 && polarity != found:
			return false, false
		default:
			found = polarity
		}
	}
	return found > 0, found != 0
}

// polarityOf returns 1 for a yes, -1 for a no and 0 for a courtesy.
func polarityOf(part string) (polarity int, known bool) {
	switch {
	case yesPhrases[part]:
		return 1, true
	case noPhrases[part]:
		return -1, true
	}
	for word := range strings.FieldsSeq(part) {
		var wordPolarity int
		switch {
		case yesWords[word]:
			wordPolarity = 1
		case noWords[word]:
			wordPolarity = -1
		case courtesies[word]:
			continue
		default:
			return 0, false
		}
		if polarity != 0 && wordPolarity != polarity {
			return 0, false
		}
		polarity = wordPolarity
	}
	return polarity, true
}

// skinTone matches the way Slack writes the skin tone of a hand.
var skinTone = lazyregexp.New(`:(:skin-tone-[2-6]:)`)

// normalizeLine returns a line in lower case, without the characters that change
// the look of a sign but not its meaning.
func normalizeLine(line string) string {
	line = skinTone().ReplaceAllString(strings.ToLower(line), ":")
	line = strings.Map(func(r rune) rune {
		switch {
		case r == '\u2019':
			return '\''
		case r == '。' || r == '!' || r == '，' || r == '、':
			return ','
		case r == 0xFE0F || r == 0x200D || r >= 0x1F3FB && r <= 0x1F3FF || IsHidden(r):
			return -1
		}
		return r
	}, line)
	return spaceOutEmoji(line)
}

// spaceOutEmoji puts spaces around emoji, because people write them without
// spaces.
func spaceOutEmoji(line string) string {
	var b strings.Builder
	for _, r := range line {
		if r >= 0x2600 && unicode.Is(unicode.So, r) {
			b.WriteString(" " + string(r) + " ")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// readPlainYesNo reads a reply that is a plain yes or no. The question must ask
// for nothing else, and its risk must not be high. Only thanks may accompany
// it. A no to an approval may have its reason after a colon and on the lines
// below.
func readPlainYesNo(q *fermata.Question, text string) (reading, bool) {
	if !TakesPlainYesNo(q) {
		return reading{}, false
	}
	isApproval := q.Items[0].ResponseType == fermata.ResponseApproval
	line, rest, _ := strings.Cut(text, "\n")
	yes, ok := ParsePlainYesNo(line)
	comment := ""
	if !ok {
		var head string
		head, comment, _ = strings.Cut(line, ": ")
		if yes, ok = ParsePlainYesNo(head); !ok || yes || !isApproval {
			return reading{}, false
		}
	}
	if (yes || !isApproval || comment == "") && !isCourtesy(commentBelow(q, rest)) {
		return reading{}, false
	}
	r := reading{value: yes, comment: strings.TrimSpace(strings.TrimSpace(comment) + "\n" + commentBelow(q, rest))}
	if isApproval {
		r.value = fermata.Reject
		if yes {
			r.value = fermata.Approve
		}
	}
	return r, true
}

// TakesPlainYesNo reports whether a plain yes or no, in any wording, answers the
// question.
func TakesPlainYesNo(q *fermata.Question) bool {
	if len(q.Items) != 1 || hasHighRisk(q) {
		return false
	}
	t := q.Items[0].ResponseType
	return t == fermata.ResponseBoolean || t == fermata.ResponseApproval
}
