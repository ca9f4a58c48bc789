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

// audience describes where a message is posted.
type audience struct {
	// shared reports whether other people read the message too. They must not
	// see the context.
	shared bool
	// unknownMember is the name of the member whom Slack does not know.
	unknownMember string
	// mentions name people there in Slack's notation, so that they are
	// notified.
	mentions []string
}

// render returns the message for a notice.
func render(n *notice.Notice, readers audience) message {
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
	return renderOpen(n, readers)
}

func renderOpen(n *notice.Notice, readers audience) message {
	q, p := n.Question, newMessage()
	title := heading(n)
	p.addHeader(title)
	if readers.unknownMember != "" {
		p.addFacts("For " + quoteText(readers.unknownMember) + ", whose Slack account is not known, and all others who may answer")
	}
	if len(readers.mentions) > 0 {
		p.add(api.NewSectionBlock(markupBlock("For "+strings.Join(readers.mentions, ", ")), nil, nil))
	}
	p.addBox(q.Title, true)
	p.addBox(q.Body, false)
	if !readers.shared || q.ShareContext {
		showContext(p, q.Context)
	} else if q.Context != nil {
		p.addLine("_There is context that is not shown in this conversation._")
	}
	showAction(p, q)
	showItems(p, q)
	p.addFacts(questionFacts(n)...)
	addDeadline(p, q)
	if s := votes(q); s != "" {
		p.addFacts(s)
	}
	addControls(p, n, readers)
	return message{Text: shortTitle(title, q), Blocks: p.blocks}
}

// addControls adds the buttons, or says why the message only opens the question.
func addControls(p *page, n *notice.Notice, readers audience) {
	a, q := addressOf(n), n.Question
	if readers.shared {
		// The message is for everyone there who may answer, not for one person.
		a.reply = ""
	}
	// The page kept eight blocks free for the following ones.
	p.maxBlocks = maxBlocks
	var reason string
	controlBlocks := controls(n, a)
	switch {
	case !n.Decide:
		reason = "This is decided in Fermata."
	case q.HeldAnswer != nil:
		reason = "It has an answer, which its author can still take back."
	case !isActionWhole(q):
		reason = "What will run holds secrets that are not shown here: open it to decide."
	case p.truncated:
		reason = "It is too long to be shown whole here: open it to read and decide."
	case !isAnswerable(q):
		reason = "It does not fit Slack's buttons and forms: open it to decide."
	case lengthOf(p.blocks)+lengthOf(controlBlocks) > maxMessageLength:
		reason = "It has too many choices for one message: open it to decide."
	default:
		a.stage = stageDecide
	}
	if a.stage == stageDecide {
		p.blocks = append(p.blocks, controlBlocks...)
		p.add(api.NewContextBlock(a.blockID(), markupBlock("Press a button, or answer in the thread of this message: what is written there is read as the answer.")))
		return
	}
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	p.add(api.NewContextBlock(a.blockID(), markupBlock(reason)))
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
	return escapeMarkup(title + ": " + quoteText(q.Title))
}

func showContext(p *page, c *fermata.QuestionContext) {
	if c == nil {
		return
	}
	p.addBox(c.Text, false)
	p.addBox(c.Step, false)
	if c.Error != "" {
		p.addLine("*Error*")
		p.addCode(c.Error)
	}
	if c.Preview != nil {
		p.addLine("*Preview*")
		p.addCode(c.Preview.Text)
	}
}

// isActionWhole reports whether the action in the notice is the one that will
// run, with nothing redacted.
func isActionWhole(q *fermata.Question) bool {
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
			p.addLine("*This is what will run:*")
		} else {
			p.addLine("*" + part.Head + "*")
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
		p.addBox(sb.String(), false)
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

func questionFacts(n *notice.Notice) []string {
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

// addDeadline shows until when to answer, in each reader's time zone, and what
// happens then. That text may contain other people's words.
func addDeadline(p *page, q *fermata.Question) {
	if q.Deadline == nil {
		return
	}
	then := "Then " + notice.OneLine(notice.DeadlineEffect(q)) + "."
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
	cast := make([]string, 0, len(q.Votes))
	for _, v := range q.Votes {
		cast = append(cast, v.By.Name+": "+v.Value)
	}
	if len(cast) > 0 {
		s += "; so far " + strings.Join(cast, ", ")
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
	p.addHeader(title)
	p.addBox(q.Title, true)
	p.add(api.NewSectionBlock(plainBlock(cut(notice.OneLine(words), maxBoxText)), nil, nil))
	p.addFacts(questionFacts(n)...)
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	a := addressOf(n)
	a.stage = stageClosed
	p.add(api.NewContextBlock(a.blockID(), markupBlock("Closed"+closedAt(n)+".")))
	return message{Text: escapeMarkup(title + ": " + quoteText(q.Title) + " " + cut(notice.OneLine(words), 200)), Blocks: p.blocks}
}

// renderReplaced returns the message that replaces one that was sent again. Its
// address names no delivery, because the delivery belongs to the new message.
func renderReplaced(n *notice.Notice) message {
	p := newMessage()
	p.addHeader("Sent again")
	p.addBox(n.Question.Title, true)
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	a := address{question: n.Question.ID, stage: stageMoved}
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
	p.addHeader("Waiting for you")
	p.addBox(n.Title, false)
	for _, q := range n.Questions {
		s := quoteText(q.Title)
		if q.Status != fermata.Pending {
			s += " — closed"
		}
		p.addFacts(append(append([]string{s}, notice.TaskAndProject(q)...), append(notice.Facts(q), q.ID)...)...)
	}
	p.addBox(n.Body, false)
	p.maxBlocks = maxBlocks
	if p.truncated {
		p.addLine("There are more: open the inbox to see all of them.")
	}
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	return message{Text: escapeMarkup(cut("Waiting for you: "+notice.OneLine(n.Title), 200)), Blocks: p.blocks}
}

func renderWords(n *notice.Notice) message {
	title := "Alert"
	if n.Purpose == notice.Test {
		title = "Test"
	}
	p := newMessage()
	p.addHeader(title)
	p.addBox(n.Title, true)
	p.addBox(n.Body, false)
	p.maxBlocks = maxBlocks
	if n.Open != "" {
		p.add(api.NewActionBlock("", openButton(n.Open)))
	}
	return message{Text: escapeMarkup(cut(title+": "+notice.OneLine(n.Title), 200)), Blocks: p.blocks}
}
