package channeltest

import (
	"encoding/json"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/standin"
)

// RunByLink checks a channel that cannot vouch for the person who answers. An
// answer over it may decide only the questions that an answer by a link may
// decide.
func RunByLink(t *testing.T, c Config) {
	l := newHarness(t, c)
	for name, value := range map[string]any{"format": "toml", "colour": "yaml"} {
		q := l.ask(fermata.Ask{Title: "Which " + name, Question: "Which?", Options: choice})
		l.answerAndCheck(q, map[string]any{"answer": value})
	}
	for title, a := range map[string]fermata.Ask{
		"an approval":   {Type: fermata.Approval, Action: json.RawMessage(`{"command":"deploy"}`)},
		"a medium risk": {Question: "Which?", Options: choice, Risk: fermata.RiskMedium},
	} {
		a.Title = title
		q := l.ask(a)
		m := l.awaitMessage("ann", q)
		value := "toml"
		if a.Type == fermata.Approval {
			value = fermata.Approve
		}
		if err := l.remote.Reply(l.people["ann"], m, standin.Reply{Answers: map[string]any{"answer": value}}); err == nil {
			l.awaitWords("ann", "of medium risk requires channel")
		}
		l.checkPending(q)
	}
	l.checkScan()
}
