package email

import (
	_ "embed" // for the templates
	"html/template"
	"strings"
	texttemplate "text/template"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

//go:embed letter.html
var htmlSource string

//go:embed letter.txt
var textSource string

var (
	htmlLetter = template.Must(template.New("html").Funcs(template.FuncMap{"agent": breakLinks}).Parse(htmlSource))
	textLetter = texttemplate.Must(texttemplate.New("text").Parse(textSource))
)

// page is the content that both parts of a mail show.
type page struct {
	Subject, Preheader string
	// Text is the whole mail as plain text.
	Text string
	// Head is one line by Fermata above the text of agents.
	Head, Title, Body string
	Boxes             []box
	Items             []item
	// Missing says why the action is not shown.
	Missing string
	// Deadline says until when to answer. How says how to answer by a reply.
	// Note is what the person should know about replies.
	Deadline, Note string
	How            []instructionPart
	Buttons        []button
	List           []entry
	Facts          []string
	// Hash is the hash of the action. Short is the text of a short mail.
	Hash, Short string
}

// box is a piece of text that an agent wrote.
type box struct {
	Head, Text string
	Code       bool
}

type item struct {
	Prompt, Default string
	Options         []option
}

type option struct {
	Mark, Label, Description string
	Recommended, Danger      bool
}

// instructionPart is one part of an instruction. If Code is set, the person types Text exactly as it is shown.
type instructionPart struct {
	Text string
	Code bool
}

type button struct {
	Label, URL string
	First      bool
}

// entry is one question of a digest.
type entry struct{ Title, Facts, Deadline, URL string }

// render writes both parts of the mail. canReply reports whether the person may
// answer by a reply; the mail says so.
func (l *letter) render(n *notice.Notice, canReply bool, publicURL string) error {
	p := page{Subject: l.Subject, Preheader: notice.ShortText(n), Note: note(n, canReply), Buttons: buttons(n)}
	view := *n
	if !canReply {
		// If Decide stayed set, the plain text would ask for a reply.
		view.Decide = false
	}
	p.Text = strings.TrimRight(notice.Text(&view), "\n")
	if n.Question != nil {
		p.fillQuestion(n, canReply)
	} else {
		p.Head, p.Body, p.List = notice.OneLine(n.Title), clipText(n.Body), entries(n, publicURL)
		p.Text += addresses(p.List)
	}
	return l.fill(p)
}

// entries lists the questions of a digest.
func entries(n *notice.Notice, publicURL string) []entry {
	var list []entry
	for _, q := range n.Questions {
		e := entry{
			Title: notice.OneLine(q.Title), Facts: strings.Join(append(notice.TaskAndProject(q), notice.Facts(q)...), " · "),
			Deadline: notice.Deadline(&notice.Notice{Question: q, To: n.To, At: n.At}),
		}
		if publicURL != "" {
			e.URL = strings.TrimRight(publicURL, "/") + "/questions/" + q.ID
		}
		list = append(list, e)
	}
	return list
}

// addresses lists the addresses of the questions of a digest.
func addresses(list []entry) string {
	var b strings.Builder
	for _, e := range list {
		if e.URL != "" {
			b.WriteString("\n\n│ " + e.Title + "\n" + e.URL)
		}
	}
	return b.String()
}

func (p *page) fillQuestion(n *notice.Notice, canReply bool) {
	q := n.Question
	// The title is left out here because the box of the agent's text has it.
	untitled := *q
	untitled.Title = ""
	head := strings.TrimSuffix(notice.Headline(&notice.Notice{Purpose: n.Purpose, Question: &untitled}), ": ")
	p.Head = head + askedBy(n)
	p.Title, p.Body, p.Items = notice.OneLine(q.Title), clipText(q.Body), items(q)
	p.fillContext(q)
	if len(q.Action) > 0 {
		parts, tooLong := notice.BoundedActionParts(q, notice.LongestText)
		for _, part := range parts {
			p.Boxes = append(p.Boxes, box{part.Head, part.Text, true})
		}
		if tooLong != "" {
			p.Missing = makeSentence("What will run is " + tooLong)
		} else {
			p.Hash = notice.OneLine(q.ActionHash)
		}
	}
	if n.Outcome != nil {
		p.Short = outcomeText(n)
	} else {
		p.Deadline = notice.Deadline(n)
		if canReply {
			p.How = splitInstruction(notice.HowToAnswer(q))
		}
	}
	p.Facts = append(p.Facts, "Question "+q.ID)
}

func (p *page) fillContext(q *fermata.Question) {
	c := q.Context
	if c == nil {
		return
	}
	if c.Text != "" {
		p.Boxes = append(p.Boxes, box{"Context", clipText(c.Text), false})
	}
	if c.Step != "" {
		p.Boxes = append(p.Boxes, box{"Step", clipText(c.Step), false})
	}
	if c.Error != "" {
		p.Boxes = append(p.Boxes, box{"Error", clipText(c.Error), true})
	}
	if c.Preview != nil && c.Preview.Text != "" {
		p.Boxes = append(p.Boxes, box{"Preview (" + notice.OneLine(c.Preview.Kind) + ")", clipText(c.Preview.Text), true})
	}
}

func items(q *fermata.Question) []item {
	var list []item
	for i := range q.Items {
		it := &q.Items[i]
		out := item{}
		switch {
		case len(q.Items) > 1:
			out.Prompt = it.Key + ": " + notice.Clean(it.Prompt)
		case it.Prompt != q.Title:
			out.Prompt = notice.Clean(it.Prompt)
		}
		marks := notice.Marks(it)
		for j, o := range it.Options {
			out.Options = append(out.Options, option{
				Mark: marks[j], Label: notice.OneLine(o.Text()), Description: notice.Clean(o.Description),
				Recommended: o.Recommended, Danger: o.Danger,
			})
		}
		if it.Default != nil {
			out.Default = notice.AnswerWords(&fermata.Question{Asked: fermata.Asked{Items: q.Items[i : i+1]}}, map[string]any{it.Key: it.Default})
		}
		list = append(list, out)
	}
	return list
}

func askedBy(n *notice.Notice) string {
	asker := n.Question.AskedBy.Name
	if asker == "" {
		asker = string(n.Question.AskedBy.Kind)
	}
	line := " from " + notice.OneLine(asker)
	if n.TaskTitle != "" {
		line += ", task “" + fermata.Truncate(notice.OneLine(n.TaskTitle), 120) + "”"
	}
	if n.Project != "" {
		line += ", project " + notice.OneLine(n.Project)
	}
	if facts := notice.Facts(n.Question); len(facts) > 0 {
		line += ", " + strings.Join(facts, ", ")
	}
	return line
}

// note says what becomes of a reply.
func note(n *notice.Notice, canReply bool) string {
	switch {
	case n.Question == nil || n.Outcome != nil:
		return ""
	case canReply:
		return "You can answer by a reply to this mail: only what stands at its top counts, and only from " + n.To.Email + ". You are told what became of it."
	case n.Answer != "":
		return "A reply to this mail is no answer: please press the button."
	default:
		return "This question is answered on its page: a reply to this mail is no answer."
	}
}

func buttons(n *notice.Notice) []button {
	var list []button
	if n.Answer != "" && n.Outcome == nil {
		list = append(list, button{"Answer", n.Answer, true})
	}
	if n.Open != "" {
		label := "Open in Fermata"
		if n.Question != nil {
			label = "Open the question"
		}
		list = append(list, button{label, n.Open, len(list) == 0})
	}
	return list
}

// renderShort writes a mail of one or two sentences about a question.
func (l *letter) renderShort(words string, q *fermata.Question, open string) error {
	p := page{Subject: l.Subject, Preheader: fermata.Truncate(words, 160), Short: words}
	if open != "" {
		p.Buttons = []button{{"Open the question", open, true}}
	}
	p.Text = words
	if q != nil {
		p.Title = notice.OneLine(q.Title)
		p.Text += "\n\n│ " + p.Title
		p.Facts = []string{"Question " + q.ID}
	}
	if open != "" {
		p.Text += "\n\nOpen: " + open
	}
	return l.fill(p)
}

func (l *letter) fill(p page) error {
	var text, html strings.Builder
	if err := textLetter.Execute(&text, p); err != nil {
		return err
	}
	if err := htmlLetter.Execute(&html, p); err != nil {
		return err
	}
	l.Text, l.HTML = text.String(), html.String()
	return nil
}

// isActionWhole reports whether the mail shows all of what will run.
func isActionWhole(n *notice.Notice) bool {
	if n.Question == nil || len(n.Question.Action) == 0 {
		return true
	}
	_, tooLong := notice.BoundedActionParts(n.Question, notice.LongestText)
	return tooLong == ""
}

// clipText returns the text of an agent with hidden characters made visible,
// cut to the length that a mail should have.
func clipText(s string) string {
	s = strings.Trim(s, "\n")
	if short := fermata.Truncate(s, notice.LongestText); short != s {
		return notice.Clean(short) + "\n(cut here; open the question to read on)"
	}
	return notice.Clean(s)
}

// splitInstruction splits an instruction at its backquotes. The text between two backquotes becomes a part with Code.
func splitInstruction(s string) []instructionPart {
	var list []instructionPart
	for i, part := range strings.Split(s, "`") {
		if part != "" {
			list = append(list, instructionPart{Text: part, Code: i%2 == 1})
		}
	}
	return list
}

// breakLinks writes text of an agent so that mail programs detect no address in it and make no link of it. It inserts
// <wbr> into everything that looks like an address. This element is invisible and is not copied.
func breakLinks(s string) template.HTML {
	escaped := template.HTMLEscapeString(s)
	return template.HTML(linkBreaker.Replace(escaped)) //nolint:gosec // the text is escaped, and only <wbr> is added
}

var linkBreaker = strings.NewReplacer("://", ":<wbr>//", ".", "<wbr>.", "@", "<wbr>@<wbr>", "www", "w<wbr>ww")
