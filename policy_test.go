package fermata_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

func TestPolicyCheck(t *testing.T) {
	t.Parallel()
	if err := fermata.DefaultPolicy().Check(); err != nil {
		t.Error(err)
	}
	bad := fermata.Policy{
		MinTimeout: "2h", MaxTimeout: "1h", AutoConfidence: ptr(40), AskConfidence: ptr(101),
		DefaultTimeout: map[fermata.QuestionType]fermata.Timeout{"blocking": "soon", "approval": "never", "urgent": "1h"},
	}
	wantError(t, bad.Check(), fermata.CodeInvalidRequest,
		"min_timeout", "default_timeout.blocking", "default_timeout.urgent", "ask_confidence", "ask_confidence")
	wantError(t, fermata.Policy{MinTimeout: "never"}.Check(), fermata.CodeInvalidRequest, "min_timeout", "max_timeout")
}

// TestPolicyJudge holds spec 4.5.
func TestPolicyJudge(t *testing.T) {
	t.Parallel()
	const plain, danger = `"question":"a?","options":["a",{"value":"b","danger":true}],"default":"a"`, `"question":"a?","options":[{"value":"b","danger":true}],"default":"b","on_timeout":"fail"`
	set := fermata.DefaultPolicy()
	set.AutoConfidence, set.AskConfidence = ptr(80), ptr(50)
	tests := []struct {
		name, ask string
		policy    fermata.Policy
		want      fermata.Verdict
	}{
		{"off unless set", `{` + plain + `,"confidence":100}`, fermata.DefaultPolicy(), fermata.AskPerson},
		{"no confidence", `{` + plain + `}`, set, fermata.AskPerson},
		{"sure", `{` + plain + `,"confidence":80}`, set, fermata.TakeGuess},
		{"sure of nothing", `{"question":"a?","confidence":100}`, set, fermata.AskPerson},
		{"nearly sure", `{` + plain + `,"confidence":79}`, set, fermata.AskPerson},
		{"half sure", `{` + plain + `,"confidence":50}`, set, fermata.AskPerson},
		{"not sure", `{` + plain + `,"confidence":49}`, set, fermata.SkipForPerson},
		{"not sure, nothing to skip", `{"type":"non_blocking",` + plain + `,"confidence":0}`, set, fermata.AskPerson},
		{"never an approval", `{"type":"approval","question":"a?","default":"approve","confidence":100}`, set, fermata.AskPerson},
		{"never an approval, low", `{"type":"approval","question":"a?","confidence":0}`, set, fermata.AskPerson},
		{"never a danger", `{` + danger + `,"confidence":100}`, set, fermata.AskPerson},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := opened(t, decoded[fermata.Ask](t, tc.ask))
			got := tc.policy.Judge(q)
			if got != tc.want {
				t.Fatalf("verdict %d, want %d", got, tc.want)
			}
			if got != fermata.TakeGuess {
				return
			}
			q.AnswerByPolicy(noon)
			want := &fermata.Resolution{Status: fermata.Answered, DecidedBy: fermata.ActorPolicy, At: noon, Answer: "a", Answers: map[string]any{"answer": "a"}}
			if diff := cmp.Diff(want, q.Resolution); diff != "" || q.Status != fermata.Answered {
				t.Errorf("status %s, %s", q.Status, diff)
			}
		})
	}
}
