package slack

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// message is the content to post: the blocks, and the text of the notification
// on lock screens.
type message struct {
	Text   string      `json:"text"`
	Blocks []api.Block `json:"blocks"`
}

// place describes where a message is posted.
type place struct {
	// shared reports whether other people read the message too. They must not
	// see the context.
	shared bool
	// lost is the name of the member that Slack does not know.
	lost string
	// mentions name people there in Slack's notation, so that they are
	// notified.
	mentions []string
}

// render returns the message for a notice.
func render(n *notice.Notice, at place) message {
	switch n.Purpose {
	case notice.Digest:
		return renderDigest(n)
	case notice.Alert, notice.Test, notice.Event:
		return renderWords(n)
	default:
	}
	if n.Outcome != nil || n.Question.Status != fermata.Pending {
		return renderClosed(n)
	}
	return renderOpen(n, at)
}

func renderOpen(n *notice.Notice, at place) message {
	q, p := n.Question, newMessage()
	title := heading(n)
	p.header(title)
	if at.lost != "" {
		p.facts("For " + quoteText(at.lost) + ", whose Slack account is not known, and whoever else may answer")
	}
	if len(at.mentions) > 0 {
		p.add(api.NewSectionBlock(markupBlock("For "+strings.Join(at.mentions, ", ")), nil, nil))
	}
	p.box(q.Title, true)
	p.box(q.Body, false)
	if !at.shared || q.ShareContext {
		showContext(p, q.Context)
	} else if q.Context != nil {
		p.say("_There is context that is not shown in this conversation._")
	}
	showAction(p, q)
	showItems(p, q)
	p.facts(belonging(n)...)
	deadline(p, q)
	if s := votes(q); s != "" {
		p.facts(s)
	}
	finish(p, n, at)
	return message{Text: shortTitle(title, q), Blocks: p.blocks}
}

// finish adds the buttons, or says why the message only opens the question.
func finish(p *page, n *notice.Notice, at place) {
	a, q := addressOf(n), n.Question
	if at.shared {
		// The message is for everyone there who may answer, not for one person.
		a.reply = ""
	}
	// The page kept eight blocks free for the following ones.
	p.most = maxBlocks
	var why string
	pressed := controls(n, a)
	switch {
	case !n.Decide:
		why = "This is decided in Fermata."
	case q.Held != nil:
		why = "It has an answer, which its author can still take back."
	case !wholeAction(q):
		why = "What will run holds secrets that are not shown here: open it to decide."
	case p.cut:
		why = "It is too long to be shown whole here: open it to read and decide."
	case !answerable(q):
		why = "It does not fit Slack's buttons and forms: open it to decide."
	case lengthOf(p.blocks)+lengthOf(pressed) > mostOfMessage:
		why = "It has too many choices for one message: open it to decide."
	default:
		a.stage = decide
	}
	if a.stage == decide {
		p.blocks = append(p.blocks, pressed...)
		p.add(api.NewContextBlock(a.blockID(), markupBlock("Press a button, or answer in the thread of this message: what is written there is read as the answer.")))
		return
	}
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	p.add(api.NewContextBlock(a.blockID(), markupBlock(why)))
}

func heading(n *notice.Notice) string {
	var s string
	switch n.Question.Type {
	case fermata.Approval:
		s = "Approval needed"
	case fermata.ErrorRecovery:
		s = "An error needs a decision"
	case fermata.NonBlocking:
		s = "Question (the work goes on)"
	default:
		s = "Question (the work waits)"
	}
	switch n.Purpose {
	case notice.Reminder:
		return "Reminder: " + s
	case notice.Escalated:
		return "Escalated: " + s
	default:
		return s
	}
}

// shortTitle returns the text for a lock screen.
func shortTitle(title string, q *fermata.Question) string {
	return escape(title + ": " + quoteText(q.Title))
}

func showContext(p *page, c *fermata.QuestionContext) {
	if c == nil {
		return
	}
	p.box(c.Text, false)
	p.box(c.Step, false)
	if c.Error != "" {
		p.say("*Error*")
		p.code(c.Error)
	}
	if c.Preview != nil {
		p.say("*Preview*")
		p.code(c.Preview.Text)
	}
}

// wholeAction reports whether the action in the notice is the one that will
// run, with nothing redacted.
func wholeAction(q *fermata.Question) bool {
	return len(q.Action) == 0 || fermata.HasHash(q.Action, q.ActionHash)
}

// showAction shows the whole action: a command as it was typed, and every other
// field.
func showAction(p *page, q *fermata.Question) {
	if len(q.Action) == 0 {
		return
	}
	for i, part := range notice.ActionParts(q.Action) {
		if i == 0 {
			p.say("*This is what will run:*")
		} else {
			p.say("*" + part.Head + "*")
		}
		p.addVisible(part.Text)
	}
}

func showItems(p *page, q *fermata.Question) {
	for i := range q.Items {
		it := &q.Items[i]
		var sb strings.Builder
		if len(q.Items) > 1 {
			fmt.Fprintf(&sb, "%d. %s", i+1, it.Prompt)
		} else if strings.TrimSpace(it.Prompt) != strings.TrimSpace(q.Title) {
			sb.WriteString(it.Prompt)
		}
		if sb.Len() > 0 && len(it.Options) > 0 {
			sb.WriteByte('\n')
		}
		sb.WriteString(options(it))
		p.box(sb.String(), false)
	}
}

// options lists the options, each with the mark that people type.
func options(it *fermata.Item) string {
	marks := notice.Marks(it)
	lines := make([]string, len(it.Options))
	for i, o := range it.Options {
		lines[i] = marks[i] + " · " + notice.OneLine(o.Text())
		if o.Description != "" {
			lines[i] += " — " + notice.OneLine(o.Description)
		}
		if o.Recommended {
			lines[i] += " (recommended)"
		}
		if o.Danger {
			lines[i] += " (dangerous)"
		}
	}
	return strings.Join(lines, "\n")
}

func belonging(n *notice.Notice) []string {
	facts := make([]string, 0, 4)
	if n.TaskTitle != "" {
		facts = append(facts, "Task: "+quoteText(n.TaskTitle))
	}
	if n.Project != "" {
		facts = append(facts, "Project: "+n.Project)
	}
	for _, fact := range notice.Facts(n.Question) {
		facts = append(facts, strings.ToUpper(fact[:1])+fact[1:])
	}
	return append(facts, n.Question.ID)
}

// deadline shows until when to answer, in each reader's time zone, and what
// happens then. That text may contain other people's words.
func deadline(p *page, q *fermata.Question) {
	if q.Deadline == nil {
		return
	}
	then := "Then " + notice.OneLine(notice.AtDeadline(q)) + "."
	p.add(api.NewContextBlock("", markupBlock("Answer by "+date(*q.Deadline)+"."), plainBlock(cut(then, maxSection/4))))
}

// date writes an instant that Slack shows in each reader's time zone.
func date(t time.Time) string {
	t = t.UTC()
	return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", t.Unix(), t.Format("2006-01-02 15:04 UTC"))
}

func votes(q *fermata.Question) string {
	if q.Approvals == nil || q.Approvals.Required < 2 {
		return ""
	}
	s := "Needs " + strconv.Itoa(q.Approvals.Required) + " people"
	said := make([]string, 0, len(q.Votes))
	for _, v := range q.Votes {
		said = append(said, v.By.Name+": "+v.Value)
	}
	if len(said) > 0 {
		s += "; so far " + strings.Join(said, ", ")
	}
	return s
}

func openButton(address string) *api.ButtonBlockElement {
	return api.NewButtonBlockElement(actionOpen, "", plainBlock("Open in Fermata")).WithURL(address)
}

// renderClosed shows how a question ended. It has no buttons that answer.
func renderClosed(n *notice.Notice) message {
	q, p := n.Question, newMessage()
	status := q.Status
	var words string
	if n.Outcome != nil {
		status, words = n.Outcome.Status, n.Outcome.Words
	} else {
		words = notice.OutcomeWords(q)
	}
	title := closedHeading(status)
	p.header(title)
	p.box(q.Title, true)
	p.add(api.NewSectionBlock(plainBlock(cut(notice.OneLine(words), roomOfBox)), nil, nil))
	p.facts(belonging(n)...)
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	a := addressOf(n)
	a.stage = closed
	p.add(api.NewContextBlock(a.blockID(), markupBlock("Closed"+closedAt(n)+".")))
	return message{Text: escape(title + ": " + quoteText(q.Title) + " " + cut(notice.OneLine(words), 200)), Blocks: p.blocks}
}

// renderReplaced returns the message that replaces one that was sent again. Its
// address names no delivery, because the delivery belongs to the new message.
func renderReplaced(n *notice.Notice) message {
	p := newMessage()
	p.header("Sent again")
	p.box(n.Question.Title, true)
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	a := address{question: n.Question.ID, stage: moved}
	p.add(api.NewContextBlock(a.blockID(), markupBlock("This question was sent again: answer there.")))
	return message{Text: shortTitle("Sent again", n.Question), Blocks: p.blocks}
}

func closedAt(n *notice.Notice) string {
	var at time.Time
	switch {
	case n.Outcome != nil:
		at = n.Outcome.At
	case n.Question.Resolution != nil:
		at = n.Question.Resolution.At
	}
	if at.IsZero() {
		return ""
	}
	return " " + date(at)
}

func closedHeading(s fermata.QuestionStatus) string {
	switch s {
	case fermata.TimedOut:
		return "Nobody answered in time"
	case fermata.Cancelled:
		return "Withdrawn"
	default:
		return "Answered"
	}
}

func renderDigest(n *notice.Notice) message {
	p := newMessage()
	p.header("Waiting for you")
	p.box(n.Title, false)
	for _, q := range n.Questions {
		s := quoteText(q.Title)
		if q.Status != fermata.Pending {
			s += " — closed"
		}
		p.facts(append(append([]string{s}, notice.Belongs(q)...), append(notice.Facts(q), q.ID)...)...)
	}
	p.box(n.Body, false)
	p.most = maxBlocks
	if p.cut {
		p.say("There are more: open the inbox to see all of them.")
	}
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	return message{Text: escape(cut("Waiting for you: "+notice.OneLine(n.Title), 200)), Blocks: p.blocks}
}

func renderWords(n *notice.Notice) message {
	title := "Alert"
	if n.Purpose == notice.Test {
		title = "Test"
	}
	p := newMessage()
	p.header(title)
	p.box(n.Title, true)
	p.box(n.Body, false)
	p.most = maxBlocks
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	return message{Text: escape(cut(title+": "+notice.OneLine(n.Title), 200)), Blocks: p.blocks}
}
