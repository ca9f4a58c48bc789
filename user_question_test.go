package fermata_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

// TestUserQuestionShowsPreviews checks that people who answer elsewhere see the
// previews that AskUserQuestion would show beside the options.
func TestUserQuestionShowsPreviews(t *testing.T) {
	t.Parallel()
	const two = `{"question":"Which library?","options":[{"label":"chi","preview":"\nr := chi.NewRouter()\n"},{"label":"std"},{"label":"gin","preview":"r := gin.New()"}]}`
	for name, c := range map[string]struct {
		ask  string
		want *fermata.QuestionContext
	}{
		"none": {`{"questions":[{"question":"a?","options":[{"label":"b","preview":" "}]}]}`, nil},
		"of one question": {`{"questions":[` + two + `],"context":{"step":"set up"}}`, &fermata.QuestionContext{
			Step: "set up", Preview: &fermata.Preview{Kind: "text", Text: "chi:\nr := chi.NewRouter()\n\ngin:\nr := gin.New()"},
		}},
		"of several": {`{"questions":[` + two + `,{"question":"b?"}]}`, &fermata.QuestionContext{
			Preview: &fermata.Preview{Kind: "text", Text: "Which library? chi:\nr := chi.NewRouter()\n\nWhich library? gin:\nr := gin.New()"},
		}},
		"beside the asker's own": {`{"questions":[` + two + `],"context":{"preview":{"kind":"diff","text":"-a"}}}`, &fermata.QuestionContext{
			Preview: &fermata.Preview{Kind: "diff", Text: "-a"},
		}},
	} {
		q := openQuestion(t, decode[fermata.Ask](t, c.ask))
		if diff := cmp.Diff(c.want, q.Context); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	long := fermata.UserQuestion{Question: "a?", Options: []fermata.UserOption{{Label: "b", Preview: strings.Repeat("x", 200_000)}}}
	_, err := fermata.Ask{Questions: []fermata.UserQuestion{long}}.Open("q_1", runningTask(), agent, fermata.DefaultPolicy(), noon)
	wantError(t, err, fermata.CodeInvalidRequest, "questions")
}
