package notice

import (
	"strings"

	"github.com/fermata-hq/fermata"
)

// maxAttemptWords is how many words an attempt to answer has at most in a place where people also talk to each other. A
// longer answer that is none of the options must begin with "other:" or be in quotation marks.
const maxAttemptWords = 2

// LooksLikeTalk reports whether the words are more likely said to other people than meant as an answer. Such words are
// a question, or are more words than an attempt to answer has.
func LooksLikeTalk(text string) bool {
	return isAsking(text) || len(strings.Fields(text)) > maxAttemptWords
}

func isAsking(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), "?") }

// Read reads the message as the answer to the question. See [ParseReply] for the form and the errors.
func (in *Inbound) Read(q *fermata.Question) (fermata.Answer, error) {
	if in.InSharedPlace && isTalk(q, stripWrapping(in.Text)) {
		e := invalidAnswerError("these words name no option, so they are taken for talk")
		e.Hint = HowToAnswer(q)
		return fermata.Answer{}, e
	}
	return ParseReply(q, in.textWithSignature(q))
}

// textWithSignature returns the text. It adds the signature below it if that must be read, too: at high risk, if the
// signature is more than a name.
func (in *Inbound) textWithSignature(q *fermata.Question) string {
	isText := len(q.Items) == 1 && q.Items[0].ResponseType == fermata.ResponseText
	if isText || !hasHighRisk(q) || isSignature(filledLines(strings.Split(in.Signature, "\n")), in.From.Name, true) {
		return in.Text
	}
	return in.Text + "\n-- \n" + in.Signature
}

// isTalk reports whether a text for the only item is more likely talk than an answer. Talk is a question or, if there
// are options, several words. A text that begins with "other:" or is in quotation marks is an answer and not talk.
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
	if _, says := cutOtherPrefix(&it, text); says {
		return false
	}
	if _, quoted := unquote(text); quoted {
		return false
	}
	it.Other = nil
	_, err := readReply(q, &it, text)
	return err != nil
}
