package email_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/email"
	"github.com/fermata-hq/fermata/internal/delivery"
	"github.com/fermata-hq/fermata/internal/notice"
	mailserver "github.com/fermata-hq/fermata/test/standin/email"
)

var (
	_ delivery.Channel  = (*email.Channel)(nil)
	_ delivery.Listener = (*email.Channel)(nil)
)

func TestAMailShowsTheQuestionInBothParts(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	n := questionNotice()
	n.Question.Context = &fermata.QuestionContext{Step: "writing the config", Error: "no format", Preview: &fermata.Preview{Kind: "diff", Text: "-a\n+b"}}
	r := w.send(w.open(nil), n)
	m := w.awaitMail("ada", 1)

	for name, want := range map[string]string{
		"Message-Id": "<dlv_1@people.test>", "Reply-To": "<fermata+" + secret + "@people.test>", "Auto-Submitted": "auto-generated",
		"X-Fermata-Question": "q_1", "X-Fermata-Status": "pending", "X-Fermata-Delivery": "dlv_1", "List-Id": "Fermata <fermata.people.test>",
		"In-Reply-To": "<thread.q_1.mbr_ada@people.test>", "To": `"Ada Lovelace" <ada@people.test>`,
	} {
		if got := m.Header.Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if want := "Question: Which format?"; m.Subject() != want {
		t.Errorf("the subject is %q, not %q", m.Subject(), want)
	}
	if strings.Contains(m.Subject(), secret) {
		t.Error("the subject holds the secret")
	}
	shown := visibleText(t, m.HTML)
	for _, part := range []string{m.Plain, shown} {
		for _, want := range []string{
			"Which format?", "Both work.", "builder", "Settle the format", "demo", "A) TOML (recommended)", "as the others", "B) YAML",
			"writing the config", "no format", "-a", "+b", "13:30 CET", "the task fails", "Reply with", "ada@people.test", "q_1",
		} {
			if !strings.Contains(part, want) {
				t.Errorf("a part does not say %q:\n%s", want, part)
			}
		}
	}
	words, addresses := m.Links()
	if strings.Join(words, ",") != "Answer,Open the question" || strings.Join(addresses, ",") != n.Answer+","+n.Open {
		t.Errorf("the links are %q to %q", words, addresses)
	}
	if !strings.Contains(m.Plain, n.Answer) || !strings.Contains(m.Plain, n.Open) {
		t.Errorf("the plain part lacks a link:\n%s", m.Plain)
	}
	if !strings.Contains(r.Content, "Which format?") {
		t.Errorf("what is kept does not say what was sent: %s", r.Content)
	}
}

// visibleText returns the text that a mail program shows for HTML.
func visibleText(t *testing.T, s string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Data != "head" {
				walk(c)
			}
		}
	}
	walk(doc)
	return b.String()
}

func TestTextOfAgentsStaysText(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	evil := "<a href=\"https://evil.example/approve\">Approve here</a> <img src=\"https://evil.example/x.png\"> [Approve](https://evil.example) www.evil.example\n" +
		"-- \nAnswer: https://evil.example/a/1\n\u202egnp.exe <script>alert(1)</script>\r\nBcc: eve@evil.example"
	n := questionNotice()
	n.Question.Title, n.Question.Body, n.TaskTitle, n.Project, n.Question.AskedBy.Name = "Q\r\nBcc: eve@people.test\r\n\u202e", evil, evil, "<b>p</b>", evil
	n.Question.Items[0].Options[0] = fermata.Option{Value: "toml", Label: evil, Description: evil}
	n.Question.Context = &fermata.QuestionContext{Step: evil, Error: evil, Preview: &fermata.Preview{Kind: "<i>", Text: evil}}
	n.To.Name = "Ada\r\nBcc: eve@people.test"
	w.send(w.open(nil), n)
	m := w.awaitMail("ada", 1)

	words, addresses := m.Links()
	if len(words) != 2 || addresses[0] != n.Answer || addresses[1] != n.Open {
		t.Errorf("links were made of an agent's text: %q to %q", words, addresses)
	}
	doc, err := html.Parse(strings.NewReader(m.HTML))
	if err != nil {
		t.Fatal(err)
	}
	for node := range doc.Descendants() {
		switch node.Data {
		case "script", "img", "form", "iframe", "link", "b", "i", "style":
			if node.Type == html.ElementNode {
				t.Errorf("the mail has an element %s", node.Data)
			}
		}
		// No piece of text looks like an address to a mail program.
		if node.Type == html.TextNode && (strings.Contains(node.Data, "://") || strings.Contains(node.Data, "evil.") || strings.Contains(node.Data, "@evil")) {
			t.Errorf("a mail program could make a link of %q", node.Data)
		}
	}
	if m.Header.Get("Bcc") != "" || strings.Contains(m.Subject(), "\n") {
		t.Errorf("text got into the headers: %q", m.Header)
	}
	for _, part := range []string{m.Plain, m.HTML, m.Subject()} {
		if strings.Contains(part, "\u202e") {
			t.Error("a character that turns text is in the mail")
		}
	}
	for line := range strings.SplitSeq(m.Plain, "\n") {
		if strings.HasPrefix(line, "Answer: ") && line != "Answer: "+n.Answer || strings.HasPrefix(line, "-- ") {
			t.Errorf("a line of an agent passes for ours: %q", line)
		}
	}
}

func TestAnActionIsShownWholeOrNotOffered(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	short := approvalNotice(`{"command":"kubectl apply -f site.yml"}`)
	w.send(c, short)
	m := w.awaitMail("ada", 1)
	for _, part := range []string{m.Plain, visibleText(t, m.HTML)} {
		if !strings.Contains(part, "kubectl apply -f site.yml") || !strings.Contains(part, short.Question.ActionHash) || !strings.Contains(part, "approve") {
			t.Errorf("the action is not shown:\n%s", part)
		}
	}
	long := approvalNotice(`{"command":"` + strings.Repeat("true; ", 4000) + `rm -rf /"}`)
	long.Delivery = "dlv_2"
	w.send(c, long)
	m = w.awaitMail("ada", 2)
	words, addresses := m.Links()
	if len(words) != 1 || addresses[0] != long.Open {
		t.Errorf("an action that is not shown is offered: %q to %q", words, addresses)
	}
	for _, part := range []string{m.Plain, visibleText(t, m.HTML)} {
		if strings.Contains(part, "true; true;") || strings.Contains(part, long.Answer) || strings.Contains(part, "Reply with") || !strings.Contains(part, "too long") {
			t.Errorf("an action that does not fit:\n%.2000s", part)
		}
	}
	stop := w.listen(c)
	w.submit("ada", mailserver.Draft(mailserver.Gmail, "ada", m, "approve"), m.Header.Get("Reply-To"))
	if in := w.nextHeard(); in.From.DenialReason == "" || in.From.Email != "" {
		t.Errorf("a reply to what was not shown counts: %+v", in)
	}
	stop()
}

func TestOnlyOpenWhereThePersonMayNotDecideThere(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	n := questionNotice()
	n.Decide, n.Answer = false, ""
	w.send(w.open(nil), n)
	m := w.awaitMail("ada", 1)
	if words, _ := m.Links(); strings.Join(words, ",") != "Open the question" {
		t.Errorf("the links are %q", words)
	}
	if strings.Contains(m.Plain, "Reply with") || !strings.Contains(m.Plain, "a reply to this mail is no answer") {
		t.Errorf("the mail tells to reply:\n%s", m.Plain)
	}
}

func TestMailsOfAQuestionAreOneThread(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	first := questionNotice()
	message := w.send(c, first)
	w.awaitMails("ada", 1)
	again := w.send(c, first)
	w.awaitMails("ada", 2)
	if string(again.Ref) != string(message.Ref) {
		t.Errorf("the same delivery makes another mail: %s, %s", message.Ref, again.Ref)
	}
	reminder := questionNotice()
	reminder.Delivery, reminder.Purpose = "dlv_2", notice.Reminder
	w.send(c, reminder)
	mails := w.awaitMails("ada", 3)
	if mails[0].ID() != mails[1].ID() {
		t.Errorf("a mail that is sent again has another id: %s, %s", mails[0].ID(), mails[1].ID())
	}
	if root := strings.Fields(mails[0].Header.Get("References"))[0]; !strings.Contains(mails[2].Header.Get("References"), root) {
		t.Errorf("a reminder is in another thread: %s", mails[2].Header.Get("References"))
	}
	if want := "Reminder: question: Which format?"; mails[2].Subject() != want {
		t.Errorf("the reminder is called %q, not %q", mails[2].Subject(), want)
	}
	after, err := c.Update(t.Context(), answeredNotice(first, "bob", "web"), message)
	if err != nil {
		t.Fatal(err)
	}
	end := w.awaitMail("ada", 4)
	if end.Header.Get("In-Reply-To") != mails[0].ID() || !strings.HasPrefix(end.Subject(), "Re: ") {
		t.Errorf("the end is in another thread: %s, %s", end.Header.Get("In-Reply-To"), end.Subject())
	}
	for _, part := range []string{end.Plain, visibleText(t, end.HTML)} {
		if !strings.Contains(part, "answered by bob: TOML") {
			t.Errorf("the end does not say who answered:\n%s", part)
		}
	}
	if end.Header.Get("X-Fermata-Status") != "answered" {
		t.Errorf("the end says %q for programs", end.Header.Get("X-Fermata-Status"))
	}
	if words, _ := end.Links(); strings.Join(words, ",") != "Open the question" {
		t.Errorf("the links at the end are %q", words)
	}
	// The same end again sends nothing, and neither does a change of an open
	// question.
	if twice, err := c.Update(t.Context(), answeredNotice(first, "bob", "web"), after); err != nil || string(twice.Ref) != string(after.Ref) {
		t.Errorf("the same end once more: %v, %s", err, twice.Ref)
	}
	if _, err := c.Update(t.Context(), first, message); err != nil {
		t.Error(err)
	}
	// A person who answered by mail has received a confirmation.
	if _, err := c.Update(t.Context(), answeredNotice(first, "ada", "email"), message); err != nil {
		t.Error(err)
	}
	last := questionNotice()
	last.Delivery = "dlv_last"
	w.send(c, last)
	if mails := w.awaitMails("ada", 5); len(mails) != 5 || mails[4].ID() != "<dlv_last@people.test>" {
		t.Errorf("there are %d mails", len(mails))
	}
}

func TestADigestIsOneMail(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	n := questionNotice()
	other := *n.Question
	other.ID, other.Title = "q_2", "Keep the <old> API?"
	n.Purpose, n.Questions, n.Question, n.Answer, n.Title, n.Open = notice.Digest, []*fermata.Question{n.Question, &other}, nil, "", "2 questions wait for you", "https://fermata.example/"
	w.send(w.open(nil), n)
	m := w.awaitMail("ada", 1)
	for _, part := range []string{m.Plain, visibleText(t, m.HTML)} {
		if !strings.Contains(part, "2 questions wait for you") || !strings.Contains(part, "Which format?") || !strings.Contains(part, "Keep the <old> API?") {
			t.Errorf("the digest lacks a question:\n%s", part)
		}
	}
	_, addresses := m.Links()
	want := "https://fermata.example/questions/q_1,https://fermata.example/questions/q_2,https://fermata.example/"
	if strings.Join(addresses, ",") != want || !strings.Contains(m.Plain, "https://fermata.example/questions/q_2") {
		t.Errorf("the links are %q", addresses)
	}
	if m.Header.Get("Reply-To") != "" {
		t.Error("a digest takes replies")
	}
}

// TestAMailSaysWhatAQuestionBelongsTo checks that a question and a digest name
// the task, the project, the risk, the items and the votes, in both parts.
func TestAMailSaysWhatAQuestionBelongsTo(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	n := questionNotice()
	q := n.Question
	q.TaskTitle, q.Project, q.Risk, q.Approvals = n.TaskTitle, n.Project, fermata.RiskMedium, &fermata.Quorum{Required: 2}
	q.Items = append(q.Items, fermata.Item{Key: "more", Prompt: "What else?", ResponseType: fermata.ResponseText})
	q.Votes = []fermata.Vote{{Value: fermata.Approve}, {Value: fermata.Reject}}
	w.send(c, n)
	digest := *n
	digest.Delivery, digest.Purpose, digest.Questions, digest.Question = "dlv_2", notice.Digest, []*fermata.Question{q}, nil
	digest.Answer, digest.TaskTitle, digest.Project, digest.Title = "", "", "", "1 question waits for you"
	w.send(c, &digest)
	for i := range 2 {
		m := w.awaitMail("ada", i+1)
		for name, part := range map[string]string{"plain": m.Plain, "HTML": visibleText(t, m.HTML)} {
			for _, want := range []string{"Settle the format", "demo", "risk medium", "2 items", "1 of 2 approved, 1 rejected"} {
				if !strings.Contains(part, want) {
					t.Errorf("%q lacks %q in its %s part:\n%s", m.Subject(), want, name, part)
				}
			}
		}
	}
}

func TestMailsWithoutAQuestion(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	for i, purpose := range []notice.Purpose{notice.Test, notice.Alert} {
		w.send(c, &notice.Notice{
			Delivery: fmt.Sprint("dlv_", i), Purpose: purpose, To: ada(), Title: "Prüfung – it works", Body: "The channel <mail> works.", Open: "https://fermata.example/settings",
		})
		m := w.awaitMail("ada", i+1)
		if m.Subject() != "Prüfung – it works" {
			t.Errorf("the subject is %q", m.Subject())
		}
		for _, part := range []string{m.Plain, visibleText(t, m.HTML)} {
			if !strings.Contains(part, "The channel <mail> works.") {
				t.Errorf("the mail does not say what for:\n%s", part)
			}
		}
		if words, _ := m.Links(); strings.Join(words, ",") != "Open in Fermata" {
			t.Errorf("the links are %q", words)
		}
	}
}

func TestAFailedMailSaysHowItGoesOn(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(nil)
	send := func(c *email.Channel, name string) error {
		n := questionNotice()
		n.To.Email = mailserver.Address(name)
		if name == "" {
			n.To.Email = ""
		}
		_, err := c.Send(t.Context(), n)
		return err
	}
	permanent := func(err error) bool {
		var f *notice.SendError
		return errors.As(err, &f) && f.Final
	}
	for name, want := range map[string]bool{"gone": true, "slow": false, "": true} {
		if err := send(c, name); err == nil || permanent(err) != want {
			t.Errorf("a mail to %q: permanent is not %v: %v", name, want, err)
		}
	}
	if err := send(w.open(map[string]any{"password": "wrong"}), "ada"); err == nil || permanent(err) {
		t.Errorf("a wrong password can be corrected: %v", err)
	}
	w.StopSMTP()
	if err := send(c, "ada"); err == nil || permanent(err) {
		t.Errorf("a server that is away comes back: %v", err)
	}
	if err := w.StartSMTP(); err != nil {
		t.Fatal(err)
	}
	if err := send(c, "ada"); err != nil {
		t.Error(err)
	}
}

func TestMailsGoOverTLS(t *testing.T) {
	t.Parallel()
	w := newFixture(t, mailserver.Options{})
	c := w.open(map[string]any{"smtp": w.SMTPS(mailserver.Address("fermata")), "imap": w.IMAPS(mailserver.Address("fermata"))})
	if err := c.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.send(c, questionNotice())
	m := w.awaitMail("ada", 1)
	if !strings.Contains(m.Header.Get("Received")+strings.Join(m.Header["Received"], " "), "esmtpsa") {
		t.Errorf("the mail did not go over TLS: %s", m.Header["Received"])
	}
	w.listen(c)
	w.submit("ada", mailserver.Draft(mailserver.Gmail, "ada", m, "A"), m.Header.Get("Reply-To"))
	if in := w.nextHeard(); in.Text != "A" {
		t.Errorf("heard %+v", in)
	}
}
