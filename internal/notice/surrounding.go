package notice

import (
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Words beside an answer may take the answer back: "ok", and on the next line
// "Not yet". So they count as a comment only when they are marked as one, by a
// colon after a full word.

// approveWords approve at any risk. A comment may follow them after a colon.
var approveWords = setOfWords("approve approved genehmigen genehmigt")

// shortWords answer yes or no, but not at high risk, because they are typed by
// accident too easily.
var shortWords = setOfWords("y n j")

// checkSurroundingWords refuses an answer if the words beside it may take it back. The
// reason beside a rejection never takes the rejection back.
func checkSurroundingWords(q *fermata.Question, it *fermata.Item, line, rest string, r reading) error {
	head, _, _ := strings.Cut(line, ":")
	word := strings.ToLower(strings.TrimRight(strings.TrimSpace(head), ".!"))
	hasUnmarkedWords := r.comment == "" && !isCourtesy(commentBelow(q, rest))
	switch it.ResponseType {
	case fermata.ResponseApproval:
		switch {
		case r.value == fermata.Reject:
			return nil
		case !approveWords[word] && hasHighRisk(q):
			return invalidAnswerError("%q does not approve at this risk: write approve", word)
		case !approveWords[word] && r.comment != "":
			return retractedError(word)
		}
	case fermata.ResponseBoolean:
		if shortWords[word] && hasHighRisk(q) {
			return invalidAnswerError("%q is too short at this risk: write yes or no", word)
		}
	default:
		if !hasHighRisk(q) && !picksDanger(it, r.value) {
			return nil
		}
	}
	if hasUnmarkedWords {
		return retractedError(word)
	}
	return nil
}

// retractedError returns the error for an answer with other words beside it.
func retractedError(word string) error {
	return invalidAnswerError("more words stand beside %q, and they may say something else: write the answer alone, or a comment behind it and a colon in the same line", shorten(word, 60))
}

func hasHighRisk(q *fermata.Question) bool {
	return q.Risk == fermata.RiskHigh || q.Risk == fermata.RiskCritical
}

// picksDanger reports whether a value picks an option that is marked as
// dangerous.
func picksDanger(it *fermata.Item, value any) bool {
	picks := func(o fermata.Option) bool {
		several, _ := value.([]string)
		return o.Danger && (value == any(o.Value) || slices.Contains(several, o.Value))
	}
	return slices.ContainsFunc(it.Options, picks)
}

// NeedsConfirmation reports whether a channel that can ask back must let the
// person confirm the answer. It must for an approval of high risk, and for an
// option that is marked as dangerous.
func NeedsConfirmation(q *fermata.Question, a *fermata.Answer) bool {
	for i := range q.Items {
		it := &q.Items[i]
		value, ok := a.Answers[it.Key]
		if !ok && len(q.Items) == 1 {
			value = a.Answer
		}
		if it.ResponseType == fermata.ResponseApproval && value == fermata.Approve && hasHighRisk(q) || picksDanger(it, value) {
			return true
		}
	}
	return false
}

// isCourtesy reports whether a text is empty or only says thanks.
func isCourtesy(text string) bool {
	for part := range strings.FieldsFuncSeq(normalizeLine(text), func(r rune) bool { return strings.ContainsRune(",;.!…–—\t\n ", r) }) {
		if !courtesies[part] {
			return false
		}
	}
	return true
}

// BeginsAsAnswer reports whether a text begins with an answer, even if
// [ParseReply] refuses the text because of the words after it.
func BeginsAsAnswer(q *fermata.Question, text string) bool {
	if _, err := ParseReply(q, text); err == nil {
		return true
	}
	line, _, _ := strings.Cut(stripWrapping(text), "\n")
	head, _, _ := strings.Cut(line, ":")
	if _, err := ParseReply(q, head); err == nil {
		return true
	}
	_, ok := ParsePlainYesNo(head)
	return ok && len(q.Items) == 1 && !q.Items[0].TakesOther()
}
