package notice_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// doubts are replies that take an answer back below a quotation, a delimiter or
// a closing phrase.
var doubts = []string{
	"approve\n> Ship?\nNo, not yet!", "ok\n> x\nbut not yet", "approve\n\n> Ship?\n> sha\n\nNo wait, this is wrong, do not!", "approve\n--\nNo, not yet!", "ok\n--\nNot yet", "ok\n-- \nNot Yet",
	"ok\n__\nNot yet", "ok\n***\nNot yet", "ok\n---\nWait", "approve\n--\nwait for Bob", "approve\n-- \nWAIT FOR BOB", "ok\n-- \nbob should look first", "ok\nRegards\nwait, no, do not deploy!",
	"approve\n\nKind regards\nBut please wait for Bob first", "ok\nLG\nnoch nicht!", "ok\nLG\nNoch Nicht", "ok\nViele Grüße aus dem Urlaub, bitte warten", "ok\n\nCordialement\nAttendez", "ok\nSaludos\nTodavía No",
	"ok\n-- \n等一下", "ok\n-- \n🛑", "ok\n-- \n👎", "ok\n-- \nAda Lovelace\n\nnot before Monday", "ok\n-- \nAda\n14:00", "ok\n-- \nat 5", "ok\n-- \nAda?", "approve\n\nSent from my iPhone. Not yet!",
	"ok\n\nSent from my phone, do not deploy yet", "ok\n\nSent from my phone do not deploy", "ok\n\nVon meinem iPhone gesendet - aber noch nicht", "ok\nGet Outlook for iOS but hold on, do not deploy",
	"ok\nSent from my iPhone\nnot yet", "ok\nEnvoyé de mon iPhone mais attendez", "ok\n> x\n-- \nbut wait", "ok\n-- \nAda\nPS: Monday", "ok\n-- \n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11",
}

func TestWordsBelowAnAnswerAreNoSignature(t *testing.T) {
	t.Parallel()
	items := map[string]fermata.Item{
		"approval": {Key: "a", Prompt: "?", ResponseType: fermata.ResponseApproval}, "yes or no": {Key: "a", Prompt: "?", ResponseType: fermata.ResponseBoolean},
	}
	for _, risk := range []fermata.Risk{fermata.RiskLow, fermata.RiskMedium, fermata.RiskHigh, fermata.RiskCritical} {
		for name, it := range items {
			q := &fermata.Question{Type: fermata.Approval, Asked: fermata.Asked{Risk: risk, Items: []fermata.Item{it}}}
			for _, text := range doubts {
				if a, err := notice.ParseReply(q, text); err == nil {
					t.Errorf("%s of %s risk: %q is taken for %v", name, risk, text, a.Answer)
				}
				words, signature := notice.SplitSignature(text, "")
				if a, err := (&notice.Inbound{Text: words, Signature: signature}).Read(q); err == nil {
					t.Errorf("%s of %s risk, by mail: %q is taken for %v", name, risk, text, a.Answer)
				}
			}
		}
	}
	// The same rule applies if there is a line for each of several answers.
	q := &fermata.Question{Asked: fermata.Asked{Items: []fermata.Item{{Key: "go", Prompt: "?", ResponseType: fermata.ResponseBoolean}, {Key: "n", Prompt: "?", ResponseType: fermata.ResponseNumber}}}}
	for _, text := range []string{"go: yes\nn: 5\n--\nnot yet", "go: yes\nn: 5\n> x\nbut wait", "go: yes\n> x\nn: 5\nKind regards\nWait"} {
		if a, err := notice.ParseReply(q, text); err == nil {
			t.Errorf("%q is taken for %v", text, a.Answers)
		}
	}
}

func TestSignaturesOfPeopleAreLeftOut(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{Type: fermata.Approval, Asked: fermata.Asked{Risk: fermata.RiskMedium, Items: []fermata.Item{{Key: "a", Prompt: "?", ResponseType: fermata.ResponseApproval}}}}
	signatures := []string{
		"Anna Müller\nHead of Ops\n+49 30 1234", "Ada Lovelace\nExample Ltd.", "Ada aus München", "Ada", "Dr. Ada Lovelace, Head of IT\nExample GmbH & Co. KG · Hauptstraße 5 · 10115 Berlin\nTel.: +49 (0)30 1234567 | ada@example.com\nhttps://example.com",
		"Ana de la Cruz\nDirectora de Operaciones", "ADA LOVELACE\nwww.example.com\nm: +44 20 7946 0000", "Ada (she/her)", "Иван Петров\nДиректор", "",
	}
	for _, above := range []string{"-- ", "--", "Kind regards,", "Viele Grüße", "MfG", "Cordialement,"} {
		for _, s := range signatures {
			for _, text := range []string{"ok\n\n" + above + "\n" + s, "approve\n" + above + "\n" + s + "\n> Ship?", "approve\n> Ship?\n" + above + "\n\n" + s} {
				if a, err := notice.ParseReply(q, text); err != nil || a.Answer != fermata.Approve || a.Comment != "" {
					t.Errorf("%q: %v %q, %v", text, a.Answer, a.Comment, err)
				}
			}
		}
	}
	for _, line := range []string{
		"Sent from my iPhone", "Sent from my Galaxy S24", "Sent from Outlook for iOS", "Sent from Proton Mail for Android", "Get Outlook for iOS<https://aka.ms/o0ukef>", "Get Outlook for Android", "Von meinem iPhone gesendet",
		"Von meinem/meiner Galaxy gesendet", "Outlook für Android<https://aka.ms/x> beziehen", "Holen Sie sich Outlook für iOS<https://aka.ms/x>", "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.",
		"Envoyé de mon iPhone", "Enviado desde mi iPhone", "Enviado do meu iPhone", "Inviato da iPhone", "Verstuurd vanaf mijn iPhone", "Skickat från min iPhone", "Wysłane z iPhone'a", "Отправлено с iPhone", "发自我的iPhone", "iPhoneから送信",
		"Sent from my mobile phone.", "Get Outlook for iOS\n<https://aka.ms/o0ukef>", "Sent with Proton Mail secure email.",
	} {
		if a, err := notice.ParseReply(q, "approve\n\n"+line); err != nil || a.Answer != fermata.Approve {
			t.Errorf("%q: %v, %v", line, a.Answer, err)
		}
	}
}

// At high risk, only a name may be below the answer.
func TestAtHighRiskASignatureIsAName(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{Type: fermata.Approval, Asked: fermata.Asked{Risk: fermata.RiskHigh, Items: []fermata.Item{{Key: "a", Prompt: "?", ResponseType: fermata.ResponseApproval}}}}
	for signature, want := range map[string]bool{
		"": true, "Anna Müller": true, "Anna": true, "Anna Maria von Müller": false, "Anna Müller\nHead of Ops": false, "Bob": false, "Not Yet": false, "Ask": false, "Müller, Anna": true, "+49 30 123456": false,
	} {
		in := &notice.Inbound{Text: "approve", Signature: signature, From: notice.Identity{Name: "Anna Müller"}}
		if a, err := in.Read(q); (err == nil) != want {
			t.Errorf("%q: %v, %v", signature, a.Answer, err)
		}
	}
	for text, want := range map[string]bool{
		"approve\n-- \nAnna Müller": true, "approve\n-- \nAnna Müller\nHead of Ops": false, "approve\n-- \nStop": false, "approve\n\nSent from my iPhone": true, "approve\n> Ship?": true, "reject\n-- \nNot before Monday": true,
	} {
		if a, err := notice.ParseReply(q, text); (err == nil) != want {
			t.Errorf("%q: %v, %v", text, a.Answer, err)
		}
	}
}
