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

// TestPolicyJudge checks docs/inside/contract.md#confidence.
func TestPolicyJudge(t *testing.T) {
	t.Parallel()
	const plain, danger = `"question":"a?","options":["a",{"value":"b","danger":true}],"default":"a"`, `"question":"a?","options":[{"value":"b","danger":true}],"default":"b","on_timeout":"fail"`
	set := fermata.DefaultPolicy()
	set.AutoConfidence, set.AskConfidence = ptr(80), ptr(50)
	tests := []struct {
		name, ask string
		policy    fermata.Policy
		want      fermata.ConfidenceDecision
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
			q := openQuestion(t, decode[fermata.Ask](t, tc.ask))
			got := tc.policy.DecideByConfidence(q)
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

// TestTheAskerNeverLowersTheRisk checks that the asker may raise the risk above that of the policy, but never lower it.
func TestTheAskerNeverLowersTheRisk(t *testing.T) {
	t.Parallel()
	type byType = map[fermata.QuestionType]fermata.Risk
	for name, tt := range map[string]struct {
		typ       fermata.QuestionType
		says      fermata.Risk
		least     byType
		project   fermata.Risk
		want      fermata.Risk
		assurance fermata.Assurance
	}{
		"an approval says low":             {fermata.Approval, "low", nil, "", "medium", ""},
		"an approval says nothing":         {fermata.Approval, "", nil, "", "medium", ""},
		"an approval says high":            {fermata.Approval, "high", nil, "", "high", "session"},
		"a question says low":              {fermata.Blocking, "low", nil, "", "low", ""},
		"the policy opens approvals":       {fermata.Approval, "low", byType{"approval": "low"}, "", "low", ""},
		"the policy raises questions":      {fermata.Blocking, "low", byType{"blocking": "high"}, "", "high", "session"},
		"the policy is of another type":    {fermata.Blocking, "low", byType{"approval": "high"}, "", "low", ""},
		"the project is riskier":           {fermata.Blocking, "low", byType{"blocking": "medium"}, "high", "high", "session"},
		"the project is less risky":        {fermata.Approval, "", nil, "low", "medium", ""},
		"the asker is above both":          {fermata.Approval, "critical", byType{"approval": "high"}, "high", "critical", "passkey"},
		"a low project opens no approvals": {fermata.Approval, "low", byType{"approval": "high"}, "low", "high", "session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fermata.DefaultPolicy()
			p.LeastRisk, p.LeastAssurance = tt.least, map[fermata.Risk]fermata.Assurance{"high": "session"}
			task := runningTask()
			if tt.project != "" {
				p.ProjectRisk = map[string]fermata.Risk{task.Project: tt.project, "elsewhere": "critical"}
			}
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			q, err := fermata.Ask{Type: tt.typ, Question: "Run?", Risk: tt.says}.Open("q_1", task, agent, p, noon)
			if err != nil || q.Risk != tt.want || q.LeastAssurance != tt.assurance {
				t.Errorf("%+v, %v; want %s, %q", q, err, tt.want, tt.assurance)
			}
		})
	}
	bad := fermata.DefaultPolicy()
	bad.LeastRisk = byType{"approval": "none", "urgent": "low"}
	bad.ProjectRisk = map[string]fermata.Risk{"shop": ""}
	wantError(t, bad.Check(), fermata.CodeInvalidRequest, "least_risk.approval", "least_risk.urgent", "project_risk.shop")
}
