package notice

import (
	"strings"

	"github.com/fermata-hq/fermata"
)

// fewWords is how many words an attempt to answer has at most where people also talk to
// each other. Whoever answers beside the options with more words begins with "other:" or quotes them.
const fewWords = 2

// LooksLikeTalk reports whether words are more likely said to other people than meant as
// an answer: a question, or more words than an attempt to answer has.
func LooksLikeTalk(text string) bool { return isAsking(text) || len(strings.Fields(text)) > fewWords }

func isAsking(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), "?") }

// Read reads the words as the answer to the question. See [ParseReply].
func (in *Inbound) Read(q *fermata.Question) (fermata.Answer, error) {
	if in.Among && isTalk(q, tidy(in.Text)) {
		e := refuse("these words name no option, so they are taken for talk")
		e.Hint = HowToAnswer(q)
		return fermata.Answer{}, e
	}
	return ParseReply(q, in.textWithSignature(q))
}

// textWithSignature returns the text with the signature below it where that must be read, too:
// at high risk, where it is more than a name.
func (in *Inbound) textWithSignature(q *fermata.Question) string {
	isText := len(q.Items) == 1 && q.Items[0].ResponseType == fermata.ResponseText
	if isText || !hasHighRisk(q) || isSignature(filledLines(strings.Split(in.Signature, "\n")), in.From.Name, true) {
		return in.Text
	}
	return in.Text + "\n-- \n" + in.Signature
}

// isTalk reports whether words that answer the only item in the person's own way are more
// likely talk: a question, or, where there are options, several words. An answer beside the
// options that begins with "other:" or stands in quotation marks is none.
func isTalk(q *fermata.Question, text string) bool {
	if len(q.Items) != 1 {
		return false
	}
	it := q.Items[0]
	if it.ResponseType == fermata.ResponseText {
		return isAsking(text)
	}
	if !it.TakesOther() || !LooksLikeTalk(text) {
		return false
	}
	if _, says := otherPrefix(&it, text); says {
		return false
	}
	if _, quoted := unquote(text); quoted {
		return false
	}
	it.Other = nil
	_, err := readReply(q, &it, text)
	return err != nil
}
