package fermata

import (
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
		if err := got.Signed(token, key); (err == nil) != (token == good) {
			t.Errorf("%q: %v", token, err)
		}
		if got.Signed(token, nil) == nil || got.Signed(token, []byte("other")) == nil {
			t.Errorf("%q is signed by another key", token)
		}
	})
}

func TestAnswerLinkIsBound(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef0123456789abcdef")
	l := AnswerLink{Workspace: "default", QuestionID: "q_1", MemberID: "mem_1", ExpiresAt: time.Unix(1_800_000_000, 0).UTC()}
	token, form := l.Sign(key), l.Form(key, "hash")
	for name, change := range map[string]func(*AnswerLink){
		"workspace": func(l *AnswerLink) { l.Workspace = "other" }, "question": func(l *AnswerLink) { l.QuestionID = "q_2" },
		"member": func(l *AnswerLink) { l.MemberID = "mem_2" }, "generation": func(l *AnswerLink) { l.Generation++ },
	} {
		other := l
		change(&other)
		if other.Signed(token, key) == nil || other.SentFrom(form, key, "hash") {
			t.Errorf("another %s is taken", name)
		}
	}
	if !l.SentFrom(form, key, "hash") || l.SentFrom(form, key, "other") || l.Signed(form, key) == nil {
		t.Error("a form is not bound to what was shown")
	}
}
