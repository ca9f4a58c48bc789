package fermata

import (
	"strings"
	"testing"
	"time"
)

func FuzzAnswerLink(f *testing.F) {
	key := []byte("0123456789abcdef0123456789abcdef")
	l := AnswerLink{Workspace: "default", QuestionID: "q_1", MemberID: "mem_1", ExpiresAt: time.Unix(1_800_000_000, 0).UTC(), Generation: 3}
	good := l.Sign(key)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(good + "A")
	f.Fuzz(func(t *testing.T, token string) {
		got, err := ReadAnswerLink(token)
		if err != nil {
			return
		}
		got.Generation = l.Generation
		if err := got.CheckSignature(token, key); (err == nil) != (token == good) {
			t.Errorf("%q: %v", token, err)
		}
		if got.CheckSignature(token, nil) == nil || got.CheckSignature(token, []byte("other")) == nil {
			t.Errorf("%q is signed by another key", token)
		}
	})
}

func TestAnswerLinkIsBound(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef0123456789abcdef")
	l := AnswerLink{Workspace: "default", QuestionID: "q_1", MemberID: "mem_1", ExpiresAt: time.Unix(1_800_000_000, 0).UTC()}
	token, form := l.Sign(key), l.FormToken(key, "hash")
	for name, change := range map[string]func(*AnswerLink){
		"workspace": func(l *AnswerLink) { l.Workspace = "other" }, "question": func(l *AnswerLink) { l.QuestionID = "q_2" },
		"member": func(l *AnswerLink) { l.MemberID = "mem_2" }, "generation": func(l *AnswerLink) { l.Generation++ },
	} {
		other := l
		change(&other)
		if other.CheckSignature(token, key) == nil || other.IsFormToken(form, key, "hash") {
			t.Errorf("another %s is taken", name)
		}
	}
	if !l.IsFormToken(form, key, "hash") || l.IsFormToken(form, key, "other") || l.CheckSignature(form, key) == nil {
		t.Error("a form is not bound to what was shown")
	}
}

func TestAnswerLinkIsConfirmedInTime(t *testing.T) {
	t.Parallel()
	key, now := []byte("0123456789abcdef0123456789abcdef"), time.Unix(1_800_000_000, 0).UTC()
	l := AnswerLink{Workspace: "default", QuestionID: "q_1", MemberID: "mem_1", ExpiresAt: now}
	token := l.ConfirmationToken(key, "hash", "item.it=yes", now)
	for name, tt := range map[string]struct {
		token, shown, answer string
		after                time.Duration
		counts               bool
	}{
		"in time":        {token, "hash", "item.it=yes", MinConfirmDelay, true},
		"at the end":     {token, "hash", "item.it=yes", ConfirmLifetime, true},
		"at once":        {token, "hash", "item.it=yes", 0, false},
		"too early":      {token, "hash", "item.it=yes", MinConfirmDelay - time.Millisecond, false},
		"before":         {token, "hash", "item.it=yes", -time.Hour, false},
		"too late":       {token, "hash", "item.it=yes", ConfirmLifetime + time.Millisecond, false},
		"another answer": {token, "hash", "item.it=no", MinConfirmDelay, false},
		"another action": {token, "other", "item.it=yes", MinConfirmDelay, false},
		"an older time":  {"0." + strings.SplitN(token, ".", 2)[1], "hash", "item.it=yes", MinConfirmDelay, false},
		"the form's":     {l.FormToken(key, "hash"), "hash", "item.it=yes", MinConfirmDelay, false},
		"nothing":        {"", "hash", "item.it=yes", MinConfirmDelay, false},
		"yes":            {"yes", "hash", "item.it=yes", MinConfirmDelay, false},
	} {
		if err := l.CheckConfirmation(tt.token, key, tt.shown, tt.answer, now.Add(tt.after)); (err == nil) != tt.counts {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextsLoseAnswerLinks(t *testing.T) {
	t.Parallel()
	secret := AnswerLink{Workspace: "default", QuestionID: "q_1", MemberID: "mem_1", ExpiresAt: time.Unix(1_800_000_000, 0)}.Sign([]byte("key"))
	for text, want := range map[string]string{
		"Answer: https://f.example.com/a/" + secret + "\n":          "Answer: https://f.example.com/a/[removed]\n",
		"<https://f.example.com/sub/a/" + secret + ">":              "<https://f.example.com/sub/a/[removed]>",
		`{"u":"https:\/\/f.example.com\/a\/` + secret + `"}`:        `{"u":"https:\/\/f.example.com\/a\/[removed]"}`,
		"https://safe.example/?url=https%3A%2F%2Ff%2Fa%2F" + secret: "https://safe.example/?url=https%3A%2F%2Ff%2Fa%2F[removed]",
		"/a/" + secret + " and /a/" + secret + ".":                  "/a/[removed] and /a/[removed].",
		"look at /a/file.txt and a/b.c":                             "look at /a/file.txt and a/b.c",
		"":                                                          "",
	} {
		if got := RemoveAnswerLinks(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	d := &Delivery{ID: "dlv_01m82zw09geqpr0a34f6"}
	for text, want := range map[string]string{
		"reply+01m82zw09geqpr0a34f6abcdefghijkl2345@example.com": "reply+01m82zw09geqpr0a34f6[removed]@example.com",
		"the delivery dlv_01m82zw09geqpr0a34f6 failed":           "the delivery dlv_01m82zw09geqpr0a34f6 failed",
		"/a/" + secret: "/a/[removed]",
	} {
		if got := d.RemoveSecrets(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestTheAskerHoldsNoLink(t *testing.T) {
	t.Parallel()
	ann, bob := &Member{ID: "mem_1", Handle: "ann"}, &Member{ID: "mem_2", Handle: "bob"}
	q := &Question{Asked: Asked{AskedBy: ann.Actor()}}
	if q.CheckMayHoldLink(ann) == nil || q.CheckMayHoldLink(bob) != nil {
		t.Error("who asked is not told from who answers")
	}
	if q.AskedBy = (Actor{Kind: ActorAgent, ID: "tok_1"}); q.CheckMayHoldLink(ann) != nil {
		t.Error("a question of an agent has no link")
	}
}
