package github_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/channel/github"
	"github.com/fermata-hq/fermata/internal/notice"
)

var update = flag.Bool("update", false, "write the golden files")

// noticeOf returns a notice about a question with these items. Its content is
// the same in every run.
func noticeOf(items ...fermata.Item) *notice.Notice {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	until := at.Add(30 * time.Minute)
	return &notice.Notice{
		Delivery: "dlv_01jd0000000000000001", Purpose: notice.Asked, TaskTitle: "Write the settings", Project: "demo", Decide: true, At: at,
		Open: "https://fermata.example/questions/" + firstID, Answer: "https://fermata.example/a/signed", Reply: "the-reply-secret",
		Question: &fermata.Question{
			ID: firstID, RunID: "run_01jd0000000000000001", Type: fermata.Blocking, Status: fermata.Pending, Title: "Which format?", Deadline: &until, CreatedAt: at,
			Asked: fermata.Asked{
				Items: items, OnTimeout: fermata.FailTask, Risk: fermata.RiskLow,
				AskedBy: fermata.Actor{Kind: fermata.ActorAgent, Name: "builder"},
			},
		},
	}
}

func TestComments(t *testing.T) {
	t.Parallel()
	approval := noticeOf(fermata.Item{Key: "decision", Prompt: "Deploy?", ResponseType: fermata.ResponseApproval})
	approval.Question.Type, approval.Question.Title, approval.Question.Risk = fermata.Approval, "Deploy?", fermata.RiskHigh
	approval.Question.Action = []byte("{\"command\":\"echo '```' \u202e\",\"cwd\":\"/srv\"}")
	approval.Question.ActionHash = strings.Repeat("ab", 32)
	approval.Question.Approvals = &fermata.Quorum{Required: 2}
	approval.Question.Votes = []fermata.Vote{{By: fermata.Actor{Name: "Ada"}, Value: fermata.Approve}}

	page := *approval
	page.Decide = false

	context := noticeOf(choice())
	context.Question.Body = "The settings need a format.\n\nPeople will edit them by hand."
	context.Question.Context = &fermata.QuestionContext{Step: "write settings", Error: "no format given", Preview: &fermata.Preview{Kind: "diff", Text: "-a\n+b\n"}}
	context.Question.Items[0].Default, context.Question.OnTimeout = "toml", fermata.TakeDefault

	many := choice()
	many.ResponseType, many.Other = fermata.ResponseMultiChoice, new(true)
	several := noticeOf(fermata.Item{Key: "sure", Prompt: "Are you sure?", ResponseType: fermata.ResponseBoolean}, choice(),
		fermata.Item{Key: "why", Prompt: "Why?", ResponseType: fermata.ResponseText})

	reminder := noticeOf(many)
	reminder.Purpose, reminder.Question.Deadline = notice.Reminder, nil

	answered := closedNotice(noticeOf(choice()), fermata.Answered, "answered by Ada: TOML")

	tests := map[string]*notice.Notice{
		"choice": noticeOf(choice()), "approval": approval, "page": &page, "context": context, "several": several,
		"reminder": reminder, "answered": answered,
		"text":   noticeOf(fermata.Item{Key: "t", Prompt: "Which format?", ResponseType: fermata.ResponseText}),
		"number": noticeOf(fermata.Item{Key: "n", Prompt: "How many?", ResponseType: fermata.ResponseNumber}),
	}
	for name, n := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, nil)
			got := w.send(n).Content
			path := filepath.Join("testdata", name+".md")
			if *update {
				if err := os.WriteFile(path, []byte(got+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
				t.Errorf("the comment is not that of %s (-want +got):\n%s", path, diff)
			}
			if strings.Contains(got, "/a/signed") || strings.Contains(got, "the-reply-secret") {
				t.Error("the comment tells everybody a secret of one person")
			}
		})
	}
}

// bait is text to which GitHub gives a meaning.
var bait = []string{
	"@ada", "@octo/team", "#1", "octo/hello#1", "GH-1", "JIRA-7", "fixes #1", "Closes: octo/hello#1", "Duplicate of #2",
	"https://evil.example", "http://evil.example/a?b=c", "www.evil.example", "mail@evil.example", "<https://evil.example>",
	"[click](https://evil.example)", "![x](https://evil.example/p.png)", "[ref]: https://evil.example", "[x][ref]",
	"<img src=x onerror=alert(1)>", "<!-- hidden -->", "<details><summary>x</summary>", "</sub>", "<b>", "&lt;b&gt;", "&#64;ada",
	"`code`", "``", "```", "~~~", "````\n", "`", "\\`", "**bold**", "_it_", "~~gone~~", "# Head", "## Head", "---", "===", "- item", "1. one", "+ plus",
	"- [x] done", "> quote", "| a | b |\n|---|---|\n| c | d |", "$x$", "$$", "$`x`$", ":tada:", "1234567890abcdef", "deadbeef", "deadbeefcafe0123456789deadbeefcafe01234567",
	"/answer A", "A", "\u202egnp", "\u200b", "\x1b[2J", "\x00", "\r\n", "\n", "\n\n", "\t", "    indented", "  ", "é", "漢字", "😀", "\u0301", "\xff",
	"**To answer**, write a comment", "**Closed:** answered by Ada", "<!-- fermata delivery=dlv_x question=q_x state=closed -->", "[^1]", "[^1]: note", "[!NOTE]", "R&D", "a: b", "…",
}

// hostileNotice returns a notice with texts of pick in every field that an
// agent fills.
func hostileNotice(pick func(most int) string) *notice.Notice {
	item := fermata.Item{
		Key: "k", Prompt: pick(4000), ResponseType: fermata.ResponseChoice,
		Options: []fermata.Option{
			{Value: pick(200) + "1", Label: pick(200), Description: pick(2000), Recommended: true},
			{Value: pick(200) + "2", Label: pick(200), Description: pick(2000), Danger: true},
		},
	}
	n := noticeOf(item)
	q := n.Question
	q.Title, q.Body = pick(120), pick(9000)
	q.Context = &fermata.QuestionContext{Step: pick(500), Error: pick(2000), Preview: &fermata.Preview{Kind: "diff", Text: pick(2000)}}
	q.AskedBy.Name, n.TaskTitle, n.Project = pick(60), pick(120), pick(60)
	q.Items[0].Default, q.OnTimeout = q.Items[0].Options[0].Value, fermata.TakeDefault
	q.Action = []byte(fmt.Sprintf("%q", strings.ToValidUTF8(pick(500), "?")))
	return n
}

// obeyed matches text to which GitHub gives a meaning that Markdown does not
// have.
var obeyed = regexp.MustCompile(`(?i)(^|[^a-z0-9])@[a-z0-9]|#[0-9]|\bgh-[0-9]|\b[a-z]+-[0-9]+\b|\b[0-9a-f]{7,40}\b|://|\bwww\.|:[a-z0-9_+-]+:|\$`)

// inspect reads a comment as GitHub does, and lists the parts to which GitHub
// gives a meaning.
func inspect(comment string) []string {
	source := []byte(comment)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().Parse(text.NewReader(source))
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	headings, own := 0, 0
	_ = ast.Walk(doc, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Heading:
			headings++
		case *ast.Link:
			if d := string(node.Destination); !strings.HasPrefix(d, "https://fermata.example/questions/") {
				add("a link to %s", d)
			}
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML:
			if tag := string(node.Segments.Value(source)); tag != "<sub>" && tag != "</sub>" {
				add("the tag %s", tag)
			}
		case *ast.HTMLBlock:
			own++
			if node.HTMLBlockType != ast.HTMLBlockType2 || node.NextSibling() != nil {
				add("a block of HTML")
			}
		case *ast.Text:
			if line := string(node.Segment.Value(source)); obeyed.MatchString(line) {
				add("the text %q", line)
			}
		case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.Blockquote, *ast.List, *ast.ListItem, *ast.Emphasis, *ast.String:
		case *extast.Strikethrough, *extast.Table, *extast.TaskCheckBox, *extast.FootnoteLink:
			add("%s", node.Kind())
		default:
			add("%s", node.Kind())
		}
		return ast.WalkContinue, nil
	})
	if headings != 1 || own != 1 {
		add("%d headings and %d marks", headings, own)
	}
	return faults
}

func TestTextOfAgentsIsNotObeyed(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.hub.SetLimits(1_000_000, time.Now().Add(time.Hour), 1_000_000, 0)
	rapid.Check(t, func(t *rapid.T) {
		pick := func(most int) string {
			parts := rapid.SliceOfN(rapid.SampledFrom(bait), 1, 6).Draw(t, "parts")
			joined := strings.Join(parts, rapid.SampledFrom([]string{"", " ", "\n", " x "}).Draw(t, "between"))
			return strings.ToValidUTF8(joined[:min(len(joined), most)], "?")
		}
		n := hostileNotice(pick)
		comment := github.Write(n)
		over := github.Write(closedNotice(n, fermata.Answered, notice.OneLine("answered by "+pick(100)+": "+pick(200))))
		digest := github.Write(&notice.Notice{Delivery: "dlv_1", Purpose: notice.Digest, Title: pick(100), Body: pick(500),
			Questions: []*fermata.Question{n.Question, hostileNotice(pick).Question}})
		for _, text := range []string{comment, over, digest} {
			if faults := inspect(text); len(faults) > 0 {
				t.Fatalf("GitHub obeys %q in\n%s", faults, text)
			}
		}
		if m := github.MarkOf(comment); m != "dlv_01jd0000000000000001 "+firstID+" open" {
			t.Fatalf("the comment is marked %q", m)
		}
	})
}

// Each bait is shown as text in every field that an agent fills.
func TestTextOfAgentsIsShown(t *testing.T) {
	t.Parallel()
	for _, one := range bait {
		comment := github.Write(hostileNotice(func(int) string { return "x" + one + "y" }))
		if faults := inspect(comment); len(faults) > 0 {
			t.Errorf("%q: GitHub obeys %q", one, faults)
		}
		shown := strings.ReplaceAll(notice.OneLine("x"+one+"y"), "&", "&amp;")
		literal := notice.OneLine("x" + one + "y")
		title, _, _ := strings.Cut(comment, "\n")
		if !strings.Contains(title, shown) && !strings.Contains(title, literal) {
			t.Errorf("%q is shown as %s", one, title)
		}
	}
}

func TestActionIsShownWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 1_000, 20_000, 29_000, 31_000, 100_000} {
		n := noticeOf(fermata.Item{Key: "ok", Prompt: "May it?", ResponseType: fermata.ResponseApproval})
		n.Question.Type, n.Question.Body = fermata.Approval, strings.Repeat("A long story. ", 10_000)
		command := strings.Repeat("`", 50) + strings.Repeat("x", size)
		n.Question.Action = []byte(`{"command":"` + command + `"}`)
		comment := github.Write(n)
		whole := strings.Contains(comment, command)
		open := strings.Contains(comment, "**To answer**")
		if whole != open || whole != (size < 30_000) || len([]rune(comment)) > 60_000 {
			t.Errorf("%d: whole %v, offers to answer %v, %d long", size, whole, open, len(comment))
		}
	}
}

func TestManyLongOptionsFit(t *testing.T) {
	t.Parallel()
	item := fermata.Item{Key: "k", Prompt: "Which?", ResponseType: fermata.ResponseChoice}
	for i := range fermata.MaxOptions {
		item.Options = append(item.Options, fermata.Option{Value: fmt.Sprintf("value %d", i), Description: strings.Repeat("long ", 400)})
	}
	comment := github.Write(noticeOf(item))
	if len([]rune(comment)) > 60_000 || !strings.Contains(comment, "value 199") || !strings.Contains(comment, "**To answer**") {
		t.Errorf("%d long: %.300s", len(comment), comment)
	}
	for i := range item.Options {
		item.Options[i].Value = fmt.Sprintf("%d ", i) + strings.Repeat("`", 190)
		item.Options[i].Label = strings.Repeat("`", 200)
	}
	comment = github.Write(noticeOf(item))
	if len([]rune(comment)) > 60_000 || strings.Contains(comment, "**To answer**") {
		t.Errorf("%d long", len(comment))
	}
}

// Fermata understands every answer that a comment suggests.
func TestWhatIsAskedForIsUnderstood(t *testing.T) {
	t.Parallel()
	many := choice()
	many.ResponseType = fermata.ResponseMultiChoice
	items := []fermata.Item{
		choice(), many,
		{Key: "y", Prompt: "Really?", ResponseType: fermata.ResponseBoolean},
		{Key: "a", Prompt: "May it?", ResponseType: fermata.ResponseApproval},
		{Key: "n", Prompt: "How many?", ResponseType: fermata.ResponseNumber},
		{Key: "d", Prompt: "When?", ResponseType: fermata.ResponseDate},
		{Key: "o", Prompt: "Which?", ResponseType: fermata.ResponseChoice, Options: []fermata.Option{{Value: "A"}, {Value: "b"}, {Value: "1"}}},
	}
	for _, it := range items {
		samples := notice.Samples(noticeOf(it).Question)
		if len(samples) == 0 {
			t.Errorf("no sample for %s", it.ResponseType)
		}
		w := newFixture(t, nil)
		w.send(w.question(firstID, it))
		w.serveWebhooks()
		for i, sample := range slices.DeleteFunc(samples, func(s string) bool { return s == "-" }) {
			w.comment(fmt.Sprintf("person%d", i), sample)
			if got := len(w.server.heardMessages()); got != i+1 {
				t.Errorf("%s: the sample %q is not heard", it.ResponseType, sample)
			}
		}
	}
}
