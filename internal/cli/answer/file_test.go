package answer

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
)

// An answer that gives one item twice, or leaves standard input unread, is refused.
func TestNoAnswerIsDroppedInSilence(t *testing.T) {
	t.Parallel()
	q := rendertest.OpenQuestion(t, fermata.Ask{Title: "Set it up", Timeout: "1h", Items: []fermata.Item{
		{Key: "name", Prompt: "Which name?", ResponseType: fermata.ResponseText},
		{Key: "port", Prompt: "Which port?", ResponseType: fermata.ResponseNumber},
	}})
	for _, c := range []struct {
		words, pairs []string
		says         string
	}{
		{nil, []string{"name=a", "port=1", "port=2"}, "--answer port is given twice"},
		{[]string{"a", "1"}, []string{"port=2"}, "--answer"},
		{[]string{"-", "1"}, nil, "@-"},
		{nil, []string{"name=-", "port=1"}, "@-"},
	} {
		s := session.New(strings.NewReader("nobody reads this"), nil, nil, "")
		words, pairs, err := readAnswers(s, q, c.words, c.pairs)
		if err == nil {
			_, err = Parse(q, words, pairs)
		}
		e, ok := session.AsError(err)
		if !ok || !strings.Contains(e.Message+e.Hint, c.says) {
			t.Errorf("%q %q: %v", c.words, c.pairs, err)
		}
	}
	dash := rendertest.OpenQuestion(t, fermata.Ask{Question: "Which sign?", Options: []fermata.Option{{Value: "+"}, {Value: "-"}}, Timeout: "1h"})
	s := session.New(strings.NewReader(""), nil, nil, "")
	if words, _, err := readAnswers(s, dash, []string{"-"}, nil); err != nil || words[0] != "-" {
		t.Errorf("an option may be called -: %q, %v", words, err)
	}
}
