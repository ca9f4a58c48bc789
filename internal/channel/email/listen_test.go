package email_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/test/patience"
	mailserver "github.com/fermata-hq/fermata/test/standin/email"
)

// reply drafts a reply of ada to mail m, and sends it.
func (w *fixture) reply(p mailserver.Program, m *mailserver.Mail, text string) {
	w.t.Helper()
	to := m.Header.Get("Reply-To")
	w.submit("ada", mailserver.Draft(p, "ada", m, text), to)
}

func TestEveryMailProgramCanReply(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	w.send(c, questionNotice())
	m := w.awaitMail("ada", 1)
	w.listen(c)
	texts := []string{"B", "toml: because of Müller", "other: two\nlines", "format: A\nname: Bär & <Söhne>"}
	mails := 1
	programs := []mailserver.Program{
		mailserver.Gmail, mailserver.Outlook, mailserver.AppleMail, mailserver.Thunderbird, mailserver.Phone, mailserver.WebMail,
	}
	for _, p := range programs {
		for i, text := range texts {
			w.setVerdict(notice.Verdict{Counted: i%2 == 0, Words: fmt.Sprintf("Heard by %s: number %d.", p, i)}, 0)
			w.reply(p, m, text)
			in := w.nextHeard()
			if in.Text != text {
				t.Errorf("%s: %q became %q", p, text, in.Text)
			}
			if in.Reply != secret || in.Delivery != "dlv_1" || in.ID == "" || in.At.IsZero() {
				t.Errorf("%s: the reply is bound to nothing: %+v", p, in)
			}
			if in.From != (notice.Identity{Kind: "email", ID: "ada@people.test", Name: "Ada", Email: "ada@people.test"}) {
				t.Errorf("%s: the reply is from %+v", p, in.From)
			}
			if mails++; mails > 11 {
				continue // no more are sent to one person within an hour
			}
			told := w.awaitMail("ada", mails)
			if !strings.Contains(told.Plain, fmt.Sprintf("Heard by %s: number %d.", p, i)) || told.Header.Get("Auto-Submitted") != "auto-replied" || !strings.HasPrefix(told.Subject(), "Re: ") {
				t.Errorf("%s: the person was told %q", p, told.Raw)
			}
			if told.Header.Get("In-Reply-To") != "<"+in.ID+">" {
				t.Errorf("%s: told in reply to %s, not to %s", p, told.Header.Get("In-Reply-To"), in.ID)
			}
		}
	}
	w.awaitSeen("fermata", len(texts)*len(programs))
	if mails := w.awaitMails("ada", 11); len(mails) != 11 {
		t.Errorf("ada was told %d times within an hour", len(mails)-1)
	}
}

// awaitSeen waits until all n mails of a mailbox are marked as read.
func (w *fixture) awaitSeen(name string, n int) {
	w.t.Helper()
	patience.Await(w.t, fmt.Sprintf("%d mails are marked as read", n), func() bool {
		mails, err := w.Mails(name)
		if err != nil {
			w.t.Fatal(err)
		}
		seen := 0
		for _, m := range mails {
			if m.Seen {
				seen++
			}
		}
		return seen == n
	})
}

func TestARefusedReplyCanBeSaidAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	w.send(c, questionNotice())
	w.listen(c)
	q := questionNotice().Question
	w.setVerdict(notice.Verdict{Code: fermata.CodeInvalidRequest, Words: `"C" is no option. Reply with A or B.`, Question: q}, 0)
	w.reply(mailserver.Gmail, w.awaitMail("ada", 1), "C")
	w.nextHeard()
	told := w.awaitMail("ada", 2)
	if !strings.Contains(told.Plain, `"C" is no option`) || !strings.Contains(told.Plain, "https://fermata.example/questions/q_1") {
		t.Errorf("told %q", told.Plain)
	}
	// A reply to this answer has the secret, as a reply to the question has.
	w.reply(mailserver.Outlook, told, "A")
	if in := w.nextHeard(); in.Text != "A" || in.Reply != secret || in.From.Email == "" {
		t.Errorf("heard %+v", in)
	}
}

// plainMail returns a mail of a person to the channel, with additional headers.
func plainMail(id, from, to, headers string) []byte {
	return fmt.Appendf(nil, "From: %s\nTo: %s\nSubject: Re: Question\nMessage-ID: <%s@people.test>\n%sMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\nA\n", from, to, id, headers)
}

const (
	adaFrom = "Ada <ada@people.test>"
	replyTo = "fermata+" + secret + "@people.test"
)

func TestMailsOfMachinesAreNeitherHeardNorAnswered(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	w.listen(c)
	machines := []string{
		"Auto-Submitted: auto-replied\n", "Auto-Submitted: auto-generated; why=away\n", "X-Autoreply: yes\n", "X-Autorespond: away\n", "Precedence: bulk\n",
		"Precedence: auto_reply\n", "List-Id: <all.people.test>\n", "List-Unsubscribe: <mailto:x@people.test>\n", "X-Loop: x\n", "X-Fermata-Delivery: dlv_1\n",
		"X-Failed-Recipients: ada@people.test\n",
	}
	for i, headers := range machines {
		w.submit("ada", plainMail(fmt.Sprint("m", i), adaFrom, replyTo, headers), replyTo)
	}
	for i, from := range []string{"MAILER-DAEMON@people.test", "postmaster@people.test", "no-reply@people.test", "ada@people.test, bob@people.test"} {
		w.submit("ada", plainMail(fmt.Sprint("d", i), from, replyTo, ""), replyTo)
	}
	if err := w.Inject("", plainMail("null", adaFrom, replyTo, ""), replyTo); err != nil {
		t.Fatal(err)
	}
	for i, subject := range []string{"Automatische Antwort: Question", "Abwesenheitsnotiz", "Automatic reply: Question"} {
		mail := bytes.Replace(plainMail(fmt.Sprint("s", i), adaFrom, replyTo, ""), []byte("Re: Question"), []byte(subject), 1)
		w.submit("ada", mail, replyTo)
	}
	n := len(machines) + 8
	w.awaitMails("fermata", n)
	// A question to a full mailbox brings back a real bounce report.
	away := questionNotice()
	away.To.Email = mailserver.Address("full")
	w.send(c, away)
	if report := w.awaitMail("fermata", n+1); !strings.Contains(report.Header.Get("Content-Type"), "multipart/report") {
		t.Fatalf("the report is %s", report.Raw)
	}
	w.submit("ada", plainMail("human", adaFrom, replyTo, "Auto-Submitted: no\n"), replyTo)
	if in := w.nextHeard(); in.ID != "human@people.test" {
		t.Errorf("heard %+v", in)
	}
	w.checkNothingHeard("a mail of a machine")
	if told := w.awaitMails("ada", 1); len(told) != 1 || !strings.Contains(told[0].Header.Get("In-Reply-To"), "human") {
		t.Errorf("machines were answered: %d mails", len(told))
	}
}

func TestOtherMailOfTheMailboxIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	w.listen(c)
	w.submit("bob", plainMail("other", "bob@people.test", "fermata@people.test", "In-Reply-To: <dlv_1@elsewhere.test>\n"), "fermata@people.test")
	w.awaitMails("fermata", 1)
	w.submit("ada", plainMail("ours", adaFrom, replyTo, ""), replyTo)
	w.nextHeard()
	w.awaitSeen("fermata", 1)
	if mails := w.awaitMails("fermata", 2); mails[0].Seen || !mails[1].Seen {
		t.Errorf("seen: %v, %v", mails[0].Seen, mails[1].Seen)
	}
}

func TestTheSenderIsWhomTheServerVouchesFor(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	stop := w.listen(w.open(nil))
	inject := func(id, headers string) {
		t.Helper()
		if err := w.Inject("ada@people.test", plainMail(id, adaFrom, replyTo, headers), replyTo); err != nil {
			t.Fatal(err)
		}
	}
	denied := func(what string, want bool) {
		t.Helper()
		if in := w.nextHeard(); (in.From.DenialReason != "") != want || (in.From.Email == "") != want {
			t.Errorf("%s: %+v", what, in.From)
		}
	}
	inject("forged", "")
	denied("a mail that anybody wrote", true)
	inject("claims", "Authentication-Results: mail.people.test; dmarc=pass header.from=people.test\n")
	denied("a mail that says itself that it passed", true)
	w.submit("bob", plainMail("bobs", adaFrom, replyTo, ""), replyTo)
	denied("a mail that somebody else of the server wrote", true)
	w.submit("ada", plainMail("adas", adaFrom, replyTo, ""), replyTo)
	denied("a mail of ada", false)
	w.submit("ada", plainMail("guessed", adaFrom, "fermata@people.test", "In-Reply-To: <dlv_1@people.test>\n"), "fermata@people.test")
	denied("a mail of ada without the secret", true)
	w.awaitSeen("fermata", 5)
	stop()

	// If the settings name no server, the header can only count against a mail. The secret must bind the mail to the
	// question.
	w.store.values = map[string]string{}
	stop = w.listen(w.open(map[string]any{"authserv_id": nil}))
	inject("secret", "")
	denied("a mail with the secret", false)
	if err := w.Append("fermata", plainMail("spf", adaFrom, replyTo, "Authentication-Results: mx.test; spf=fail smtp.mailfrom=ada@people.test\n")); err != nil {
		t.Fatal(err)
	}
	denied("a mail that failed", true)
	if err := w.Append("fermata", plainMail("bare", adaFrom, "fermata@people.test", "In-Reply-To: <dlv_1@people.test>\n")); err != nil {
		t.Fatal(err)
	}
	denied("a mail without the secret", true)
	stop()
}

func TestWithoutPlusAddressesTheThreadBindsAReply(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(map[string]any{"reply_to": nil})
	w.send(c, questionNotice())
	w.listen(c)
	m := w.awaitMail("ada", 1)
	if got := m.Header.Get("Reply-To"); got != "<fermata@people.test>" {
		t.Errorf("replies go to %s", got)
	}
	w.reply(mailserver.Gmail, m, "A")
	if in := w.nextHeard(); in.Reply != secret || in.Delivery != "dlv_1" {
		t.Errorf("heard %+v", in)
	}
}

func TestARepeatedMailCountsOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	w.listen(w.open(nil))
	again := plainMail("same", adaFrom, replyTo, "")
	w.submit("ada", again, replyTo)
	w.submit("ada", again, replyTo)
	w.submit("ada", plainMail("last", adaFrom, replyTo, ""), replyTo)
	// The server delivers them at the same time, in any order.
	heard := []string{w.nextHeard().ID, w.nextHeard().ID}
	slices.Sort(heard)
	if want := []string{"last@people.test", "same@people.test"}; !slices.Equal(heard, want) {
		t.Errorf("heard %v", heard)
	}
	w.awaitSeen("fermata", 3)
	if told := w.awaitMails("ada", 2); len(told) != 2 {
		t.Errorf("ada was told %d times", len(told))
	}
}

func TestReadingGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	// Unread mails from before the channel was created are read once.
	w.submit("ada", plainMail("before", adaFrom, replyTo, ""), replyTo)
	w.awaitMails("fermata", 1)
	stop := w.listen(w.open(nil))
	if in := w.nextHeard(); in.ID != "before@people.test" {
		t.Errorf("heard %s", in.ID)
	}
	w.awaitSeen("fermata", 1)
	stop()

	// The channel is not running, and mails wait on the server.
	w.submit("ada", plainMail("while", adaFrom, replyTo, ""), replyTo)
	w.awaitMails("fermata", 2)
	stop = w.listen(w.open(nil))
	if in := w.nextHeard(); in.ID != "while@people.test" {
		t.Errorf("heard %s", in.ID)
	}
	w.awaitSeen("fermata", 2)
	w.StopIMAP()
	if err := w.StartIMAP(); err != nil {
		t.Fatal(err)
	}
	w.submit("ada", plainMail("after", adaFrom, replyTo, ""), replyTo)
	if in := w.nextHeard(); in.ID != "after@people.test" {
		t.Errorf("heard %s", in.ID)
	}
	w.awaitSeen("fermata", 3)
	stop()

	// The mailbox got a new UIDVALIDITY: no mail is lost, and none counts twice.
	w.store.values["mailbox"] = strings.Replace(w.store.values["mailbox"], `"validity":`, `"validity":1`, 1)
	w.submit("ada", plainMail("life", adaFrom, replyTo, ""), replyTo)
	w.awaitMails("fermata", 4)
	stop = w.listen(w.open(nil))
	if in := w.nextHeard(); in.ID != "life@people.test" {
		t.Errorf("heard %s", in.ID)
	}
	w.awaitSeen("fermata", 4)
	stop()
	w.checkNothingHeard("an old mail")
}

func TestAReplyThatCannotBeTakenYetIsBroughtAgain(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	w.setVerdict(notice.Verdict{Counted: true, Words: "It counted."}, 2)
	stop := w.listen(w.open(nil))
	w.submit("ada", plainMail("one", adaFrom, replyTo, ""), replyTo)
	if in := w.nextHeard(); in.ID != "one@people.test" {
		t.Errorf("heard %s", in.ID)
	}
	w.awaitSeen("fermata", 1)
	stop()

	// A reply that must be read again survives a restart.
	w.setVerdict(notice.Verdict{Counted: true, Words: "It counted."}, 1000)
	stop = w.listen(w.open(nil))
	w.submit("ada", plainMail("two", adaFrom, replyTo, ""), replyTo)
	w.awaitStored(`"again":{"`)
	stop()
	w.setVerdict(notice.Verdict{Counted: true, Words: "It counted."}, 0)
	stop = w.listen(w.open(nil))
	if in := w.nextHeard(); in.ID != "two@people.test" {
		t.Errorf("heard %s", in.ID)
	}
	w.awaitSeen("fermata", 2)
	stop()
}

// awaitStored waits until the channel has stored a text.
func (w *fixture) awaitStored(text string) {
	w.t.Helper()
	patience.Await(w.t, "the channel has stored "+text, func() bool {
		got, _ := w.store.load(w.t.Context(), "mailbox")
		return strings.Contains(got, text)
	})
}

func TestAServerThatTellsNothingIsAsked(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{NoIdle: true})
	w.listen(w.open(nil))
	for i := range 3 {
		w.submit("ada", plainMail(fmt.Sprint("p", i), adaFrom, replyTo, ""), replyTo)
		if in := w.nextHeard(); in.ID != fmt.Sprintf("p%d@people.test", i) {
			t.Errorf("heard %s", in.ID)
		}
	}
}

func TestMailsThatWereReadAreMoved(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	stop := w.listen(w.open(map[string]any{"move_to": "Answers"}))
	w.submit("ada", plainMail("one", adaFrom, replyTo, ""), replyTo)
	w.nextHeard()
	w.submit("ada", plainMail("two", adaFrom, replyTo, ""), replyTo)
	w.nextHeard()
	w.awaitMails("ada", 2)
	w.awaitSeen("fermata", 0)
	stop()
	moved, err := w.MailsIn("fermata", "Answers")
	if err != nil || len(moved) == 0 || !moved[0].Seen {
		t.Errorf("moved are %d: %v", len(moved), err)
	}
}

func TestCheckSaysTheRemedy(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	if err := w.open(nil).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	fermataAt := mailserver.Address("fermata")
	tests := []struct {
		name   string
		change map[string]any
		want   []string
	}{
		{"password", map[string]any{"password": "wrong"}, []string{"app password", "app password"}},
		{"mailbox password", map[string]any{"imap_password": "wrong"}, []string{"app password"}},
		{"authority", map[string]any{"ca": nil, "smtp": w.SMTPS(fermataAt), "imap": w.IMAPS(fermataAt)}, []string{"authority's certificate into ca", "authority's certificate into ca"}},
		{"port", map[string]any{"smtp": "smtp://localhost:1", "imap": "imap://a@localhost:1"}, []string{"nothing listens there", "nothing listens there"}},
		{"host", map[string]any{"smtp": "smtp://mail.invalid"}, []string{"no such host"}},
		{"no TLS there", map[string]any{"smtp": strings.Replace(w.SMTP(fermataAt), "smtp:", "smtps:", 1), "imap": strings.Replace(w.IMAP(fermataAt), "imap:", "imaps:", 1)},
			[]string{"smtp:// instead of smtps://", "imap:// instead of imaps://"}},
		{"folder", map[string]any{"mailbox": "Nowhere"}, []string{"name of the folder"}},
	}
	for _, tt := range tests {
		channel := w.open(tt.change)
		t.Run(tt.name, func(t *testing.T) {
			err := channel.Check(t.Context())
			hints := hints(err)
			if len(hints) != len(tt.want) {
				t.Fatalf("the hints are %q of %v", hints, err)
			}
			for i := range hints {
				if !strings.Contains(hints[i], tt.want[i]) {
					t.Errorf("the hint is %q, not %q: %v", hints[i], tt.want[i], err)
				}
			}
			if strings.Contains(err.Error(), mailserver.Password) {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// hints collects the hints of joined errors.
func hints(err error) []string {
	var all []string
	switch e := err.(type) { //nolint:errorlint // it walks the tree
	case *fermata.Error:
		return []string{e.Hint}
	case interface{ Unwrap() []error }:
		for _, err := range e.Unwrap() {
			all = append(all, hints(err)...)
		}
	}
	return all
}

func TestListeningWithoutAMailboxWaits(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(map[string]any{"imap": nil, "reply_to": nil})
	stop := w.listen(c)
	w.send(c, questionNotice())
	m := w.awaitMail("ada", 1)
	if strings.Contains(m.Plain, "Reply with") || m.Header.Get("Reply-To") != "" {
		t.Errorf("the mail tells to reply:\n%s", m.Plain)
	}
	if words, _ := m.Links(); len(words) != 2 {
		t.Errorf("the links are %q", words)
	}
	stop()
}

func TestALargeFileAboveTheText(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	w.listen(w.open(nil))
	file := strings.Repeat(strings.Repeat("QUFB", 18)+"\n", 6000) // longer than the first read
	mail := "From: " + adaFrom + "\nTo: " + replyTo + "\nSubject: Re: Question\nMessage-ID: <file@people.test>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" +
		"--b\nContent-Type: image/png; name=x.png\nContent-Transfer-Encoding: base64\n\n" + file + "\n--b\nContent-Type: text/plain; charset=utf-8\n\nB\n--b--\n"
	w.submit("ada", []byte(mail), replyTo)
	if in := w.nextHeard(); in.Text != "B" {
		t.Errorf("heard %q", in.Text)
	}
}

// A reply in HTML that may hide a part of its text decides nothing, and the person is told so.
func TestHTMLThatMayHideTextDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	w.listen(w.open(nil))
	w.submit("ada", []byte("From: Ada <ada@people.test>\nTo: "+replyTo+"\nSubject: Re: x\nMessage-ID: <hides@people.test>\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n"+
		"<style>.x{display:none}</style><p class=\"x\">toml</p><p>A</p>\n"), replyTo)
	if in := w.nextHeard(); !strings.Contains(in.From.DenialReason, "may hide a part of the text") || in.From.Remedy != "reply in plain text" || in.From.Email != "" {
		t.Errorf("%+v", in.From)
	}
}

// If the person's words cannot be distinguished from other text, the reply decides nothing. The person is told why.
func TestAReplyThatIsNotReadWholeDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	w.send(c, questionNotice())
	m := w.awaitMail("ada", 1)
	w.listen(c)
	quoted := mailserver.Draft(mailserver.Outlook, "ada", m, "A")
	for _, tt := range []struct {
		draft  []byte
		denied string
	}{
		{quoted, ""},
		{append(bytes.Clone(mailserver.Draft(mailserver.Outlook, "ada", m, "A")), "\n\nNo, not yet!\n"...), "text that Fermata did not send you"},
		{[]byte("From: " + adaFrom + "\nTo: " + replyTo + "\nMessage-ID: <two@people.test>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n" +
			"--b\nContent-Type: text/plain\n\nA\n--b\nContent-Type: image/png; name=x.png\nContent-Disposition: inline\nContent-Transfer-Encoding: base64\n\nQUFB\n--b\nContent-Type: text/plain\n\nbut not yet\n--b--\n"), "more text than the one part"},
	} {
		w.submit("ada", tt.draft, replyTo)
		in := w.nextHeard()
		if in.Text != "A" || (in.From.DenialReason == "") != (tt.denied == "") || !strings.Contains(in.From.DenialReason, tt.denied) || (in.From.Email == "") != (tt.denied != "") || (in.From.Remedy == "") != (tt.denied == "") {
			t.Errorf("%q: %+v", in.Text, in.From)
		}
	}
}
