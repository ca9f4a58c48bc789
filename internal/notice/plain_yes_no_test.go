package notice_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

func TestPlainWordsAnswerWhereOnlyOneThingCanBeMeant(t *testing.T) {
	t.Parallel()
	approval := fermata.Item{Key: "approval", Prompt: "Deploy?", ResponseType: fermata.ResponseApproval}
	yes := []string{
		"👍", "👍🏽", "👍👍", "ok", "OK!", "Okay.", "lgtm", "LGTM 🚀", "+1", ":+1:", ":+1::skin-tone-3:", "✔️", "Ja, genehmigt", "ja genehmigt", "Yes, approved. Thanks!", "ok 👍",
		"sounds good", "Passt, danke", "d’accord", "Sí", "да", "好", "はい", "Sim, aprovado", "ok\n-- \nAda Lovelace\nExample Ltd.", "lgtm\n\nThanks!", "ok\n> Deploy?",
	}
	no := []string{"👎", "-1", "nope", "Nein, danke", "nein, abgelehnt", "❌", "no thanks", "нет", "lieber nicht", ":thumbsdown:", "no: too late on a Friday"}
	neither := []string{
		"ok, but wait", "ok?", "yes and no", "ok, no", "not ok", "👍👎", "thanks", "hm", "ok then do it tomorrow", "lgtm once the tests pass", "", "1", "0",
		"ok\nbut only after lunch", "👍\n\nhave you thought of the migration", "ja nein", "okay, let me look first",
		"ok\nNot yet", "👍\nWait", "ok: not yet", "ok: wait for Bob", "lgtm\nAfter Monday", "OK\n\nHold on", "Ja\nAber warte", "yes\nDon't", "y: not yet", "approve\nWait for Bob",
		"approve:\nnot yet", "ok\n\nAda Lovelace\nExample Ltd.", "yes:\nWait",
	}
	parse := func(risk fermata.Risk, it fermata.Item, text string) (any, error) {
		a, err := notice.ParseReply(&fermata.Question{Type: fermata.Approval, Asked: fermata.Asked{Risk: risk, Items: []fermata.Item{it}}}, text)
		return a.Answer, err
	}
	for _, risk := range []fermata.Risk{fermata.RiskLow, fermata.RiskMedium} {
		for _, text := range yes {
			if got, err := parse(risk, approval, text); err != nil || got != fermata.Approve {
				t.Errorf("%q: %v, %v", text, got, err)
			}
			if got, err := parse(risk, fermata.Item{Key: "a", Prompt: "?", ResponseType: fermata.ResponseBoolean}, text); err != nil || got != true {
				t.Errorf("%q as a yes: %v, %v", text, got, err)
			}
		}
		for _, text := range no {
			if got, err := parse(risk, approval, text); err != nil || got != fermata.Reject {
				t.Errorf("%q: %v, %v", text, got, err)
			}
		}
		for _, text := range neither {
			if got, err := parse(risk, approval, text); err == nil {
				t.Errorf("%q is taken for %v", text, got)
			}
		}
	}
	// A question of high risk needs the word that its message asks for.
	for _, risk := range []fermata.Risk{fermata.RiskHigh, fermata.RiskCritical} {
		for _, text := range []string{"👍", "ok", "lgtm", "+1", "Ja, genehmigt", "👎", "sounds good"} {
			if got, err := parse(risk, approval, text); err == nil {
				t.Errorf("%s risk: %q is taken for %v", risk, text, got)
			}
		}
		for _, text := range []string{"y", "j", "yes\nDon't", "Ja\nAber warte", "approve\nNot yet", "yes: not yet"} {
			if got, err := parse(risk, approval, text); err == nil {
				t.Errorf("%s risk: %q is taken for %v", risk, text, got)
			}
		}
		for _, text := range []string{"y", "n", "yes\nNot yet", "no\nGo on"} {
			if got, err := parse(risk, fermata.Item{Key: "a", Prompt: "?", ResponseType: fermata.ResponseBoolean}, text); err == nil {
				t.Errorf("%s risk: %q is taken for %v", risk, text, got)
			}
		}
		pick := fermata.Item{Key: "a", Prompt: "?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{{Value: "now"}, {Value: "later"}}}
		if got, err := parse(risk, pick, "A\nNo, wait"); err == nil {
			t.Errorf("%s risk: a letter with more below is taken for %v", risk, got)
		}
		for _, text := range []string{"approve: looks good\nand is tested", "/approve looks good\nand is tested"} {
			if got, err := parse(risk, approval, text); err != nil || got != fermata.Approve {
				t.Errorf("%s risk: %q: %v, %v", risk, text, got, err)
			}
		}
		for _, text := range []string{"n", "reject\nNot before Monday", "no: too late"} {
			if got, err := parse(risk, approval, text); err != nil || got != fermata.Reject {
				t.Errorf("%s risk: %q: %v, %v", risk, text, got, err)
			}
		}
		if got, err := parse(risk, approval, "approve"); err != nil || got != fermata.Approve {
			t.Errorf("%s risk: %v, %v", risk, got, err)
		}
	}
	choice := fermata.Item{Key: "a", Prompt: "?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{{Value: "delete", Danger: true}}}
	if got, err := parse(fermata.RiskLow, choice, "ok"); err == nil {
		t.Errorf("an option was picked by a yes: %v", got)
	}
}

func TestWordsBelowSeveralAnswersSaySo(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{
		Asked: fermata.Asked{
			Items: []fermata.Item{
				{Key: "db", Prompt: "?", ResponseType: fermata.ResponseBoolean}, {Key: "n", Prompt: "?", ResponseType: fermata.ResponseNumber},
			},
		},
	}
	a, err := notice.ParseReply(q, "db: yes\nn: 5\n\ncomment: as agreed")
	if err != nil || a.Answers["db"] != true || a.Comment != "as agreed" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err = notice.ParseReply(q, "db: yes\nn: 5\n\nThanks!"); err != nil || a.Comment != "Thanks!" {
		t.Errorf("%+v, %v", a, err)
	}
	for _, text := range []string{"db: yes\nn: 5\n\nNot yet", "db: yes\n\nAda Lovelace\nn: 5"} {
		if a, err := notice.ParseReply(q, text); err == nil {
			t.Errorf("%q is taken for %+v", text, a)
		}
	}
}
