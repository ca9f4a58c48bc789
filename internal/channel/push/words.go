package push

import (
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// words are the texts of one language.
type words struct {
	tag                      string
	types                    map[fermata.QuestionType]string
	purposes                 map[notice.Purpose]string
	approve, reject, yes, no string
	test, testBody           string
	untilWord, clock, day    string
	digest                   func(n int) string
}

var english = &words{
	tag: "en",
	types: map[fermata.QuestionType]string{
		fermata.Blocking: "Needs an answer", fermata.Approval: "Needs approval", fermata.ErrorRecovery: "Failed, needs a decision", fermata.NonBlocking: "A question, no hurry",
	},
	purposes: map[notice.Purpose]string{notice.Reminder: "Still open", notice.Escalated: "Passed on to you"},
	approve:  "Approve", reject: "Reject", yes: "Yes", no: "No",
	test: "Fermata reaches this device", testBody: "This is a test. Questions will look like this.",
	untilWord: "until", clock: "15:04", day: "2 Jan 15:04",
	digest: func(n int) string {
		if n == 1 {
			return "1 question waits for you"
		}
		return fmt.Sprintf("%d questions wait for you", n)
	},
}

var german = &words{
	tag: "de",
	types: map[fermata.QuestionType]string{
		fermata.Blocking: "Braucht eine Antwort", fermata.Approval: "Braucht eine Freigabe", fermata.ErrorRecovery: "Fehlgeschlagen, braucht eine Entscheidung", fermata.NonBlocking: "Eine Frage ohne Eile",
	},
	purposes: map[notice.Purpose]string{notice.Reminder: "Noch offen", notice.Escalated: "An Sie weitergegeben"},
	approve:  "Freigeben", reject: "Ablehnen", yes: "Ja", no: "Nein",
	test: "Fermata erreicht dieses Gerät", testBody: "Das ist ein Test. So werden Fragen aussehen.",
	untilWord: "bis", clock: "15:04", day: "2.1. 15:04",
	digest: func(n int) string {
		if n == 1 {
			return "1 Frage wartet auf Sie"
		}
		return fmt.Sprintf("%d Fragen warten auf Sie", n)
	},
}

// wordsIn returns the texts in the language that a person reads, by its tag.
func wordsIn(language string) *words {
	if primary, _, _ := strings.Cut(strings.ToLower(language), "-"); primary == "de" {
		return german
	}
	return english
}
