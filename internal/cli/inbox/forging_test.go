package inbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/render"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// forgedAsks maps each place of a question that an asker fills to a function that puts a text there.
var forgedAsks = map[string]func(text string) fermata.Ask{
	"title":    func(s string) fermata.Ask { return fermata.Ask{Title: s, Question: "Really?"} },
	"question": func(s string) fermata.Ask { return fermata.Ask{Question: s} },
	"body":     func(s string) fermata.Ask { return fermata.Ask{Question: "Really?", Body: s} },
	"step":     func(s string) fermata.Ask { return askWithContext(fermata.QuestionContext{Step: s}) },
	"error":    func(s string) fermata.Ask { return askWithContext(fermata.QuestionContext{Error: s}) },
	"preview": func(s string) fermata.Ask {
		return askWithContext(fermata.QuestionContext{Preview: &fermata.Preview{Kind: "text", Text: s}})
	},
	"option":      func(s string) fermata.Ask { return askWithOption(fermata.Option{Value: s}) },
	"label":       func(s string) fermata.Ask { return askWithOption(fermata.Option{Value: "a", Label: s}) },
	"description": func(s string) fermata.Ask { return askWithOption(fermata.Option{Value: "a", Description: s}) },
	"header":      func(s string) fermata.Ask { return askWithItem(fermata.Item{Key: "a", Header: s, Prompt: "Which?"}) },
	"prompt":      func(s string) fermata.Ask { return askWithItem(fermata.Item{Key: "a", Prompt: s}) },
	"action": func(s string) fermata.Ask {
		action, _ := json.Marshal(map[string]string{"command": s})
		return fermata.Ask{Question: "Run it?", Action: action}
	},
	"argument": func(s string) fermata.Ask {
		action, _ := json.Marshal(map[string]string{"tool": "Write", "content": s})
		return fermata.Ask{Question: "Run it?", Action: action}
	},
	"raw action": func(s string) fermata.Ask {
		// Use the characters themselves, because JSON must escape only a few.
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
		return fermata.Ask{Question: "Run it?", Action: json.RawMessage(quoted)}
	},
}

func askWithContext(c fermata.QuestionContext) fermata.Ask {
	return fermata.Ask{Question: "Really?", Context: &c}
}

func askWithOption(o fermata.Option) fermata.Ask {
	return fermata.Ask{Question: "Which?", Options: []fermata.Option{o, {Value: "b"}}}
}

func askWithItem(it fermata.Item) fermata.Ask {
	return fermata.Ask{Title: "Two things", Items: []fermata.Item{it, {Key: "b", Prompt: "And?"}}}
}

// TestForging shows every text of the corpus in every place: as show prints it, as respond and approve print it at a
// terminal, and in the inbox on small and large screens. The whole text must be visible, and no part of it may look
// like a line of the program.
func TestForging(t *testing.T) {
	t.Parallel()
	shown, refused := 0, 0
	for _, f := range rendertest.Forgeries(t) {
		for place, ask := range forgedAsks {
			q, err := openForged(ask(f.Text))
			if err != nil {
				if code := fermata.CodeOf(err); code != fermata.CodeInvalidRequest {
					t.Errorf("%s/%s in %s: refused with %s", f.Class, f.Name, place, code)
				}
				refused++
				continue
			}
			want := f.Text
			if place == "argument" {
				want = render.IndentJSON(q.Action)
			}
			for view, text := range views(t, q, len(f.Text) > rendertest.HugeText) {
				shown++
				if problem := findForgery(view, text, want); problem != "" {
					t.Errorf("%s/%s in %s, %s: %s", f.Class, f.Name, place, view.name, problem)
				}
			}
		}
	}
	t.Logf("%d texts shown, %d refused", shown, refused)
	if shown < 1000 {
		t.Errorf("only %d were shown", shown)
	}
}

// FuzzForging shows any text in each place. A terminal must obey no part of it, and no line may be wider than the
// screen.
func FuzzForging(f *testing.F) {
	places := slices.Sorted(maps.Keys(forgedAsks))
	for _, text := range []string{"\x1b[2J", "a\rb", "\u202ereversed", "\u200b\u3164", "\x9b31m", "a\u0301\u0301\u0301\u0301\u0301", "\xff\xfe", "\t\v\f\u2028", "한글"} {
		for i := range places {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, place uint8, text string) {
		if strings.ContainsAny(text, "\u200d\ufe0f") {
			return // these characters join emoji, where they are allowed
		}
		q, err := openForged(forgedAsks[places[int(place)%len(places)]](text))
		if err != nil {
			return
		}
		for view, out := range views(t, q, len(text) > rendertest.HugeText) {
			if problem := findHidden(view, out); problem != "" {
				t.Errorf("%q in %s, %s: %s", text, places[int(place)%len(places)], view.name, problem)
			}
		}
	})
}

// openForged returns the open question of an agent.
func openForged(a fermata.Ask) (*fermata.Question, error) {
	task := &fermata.Task{ID: "task_01k5h2m9n0abcdefghjk", Project: "shop"}
	return a.Open("q_01k5h2m9n0abcd3f9k2a", task, fermata.Actor{Kind: fermata.ActorAgent, Name: "claude"}, fermata.DefaultPolicy(), rendertest.Noon)
}

// view is one way to show a question.
type view struct {
	name  string
	width int
	term  bool
}

func views(t *testing.T, q *fermata.Question, huge bool) map[view]string {
	t.Helper()
	all := map[view]string{}
	for _, v := range []view{{"show in a pipe", 80, false}, {"a terminal", 80, true}, {"a narrow terminal", 40, true}} {
		if huge && (v.width != 80 || !v.term) {
			continue
		}
		var buf bytes.Buffer
		render.PrintQuestion(terminal.Printer{Out: &buf, Width: v.width, IsTerm: v.term}, q, rendertest.Noon)
		all[v] = buf.String()
		if !v.term {
			// In a pipe a tab stays a tab.
			all[v] = strings.ReplaceAll(all[v], "\t", " ")
		}
	}
	if huge {
		return map[view]string{{"a terminal", 80, true}: all[view{"a terminal", 80, true}]}
	}
	for _, width := range []int{80, 36} {
		m := newModel(t.Context(), &session.Session{Console: terminal.Console{Now: rendertest.NoonClock}}, &session.Whoami{Whoami: &client.Whoami{}})
		m.list, m.chosenID, m.reading, m.loaded = []*fermata.Question{q}, q.ID, true, true
		m.width, m.height = width, 24
		v := view{fmt.Sprintf("the inbox, %d wide", width), width, true}
		all[v] = strings.Join(m.questionLines(q), "\n") + "\n"
	}
	return all
}

// findHidden returns the part of a view that a terminal would obey or not show.
func findHidden(v view, out string) string {
	if i := strings.IndexFunc(out, isInvisible); i >= 0 {
		return fmt.Sprintf("something hides: %q", out[max(0, i-20):min(len(out), i+20)])
	}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if v.term && ansi.StringWidth(line) > v.width {
			return fmt.Sprintf("%d wide: %q", ansi.StringWidth(line), line)
		}
	}
	return ""
}

// findForgery returns what is wrong with the shown text.
func findForgery(v view, out, text string) string {
	if problem := findHidden(v, out); problem != "" {
		return problem
	}
	if got, want := squeeze(restoreText(out)), squeeze(text); !strings.Contains(got, want) {
		return fmt.Sprintf("not all of %.80q is shown in %.300q", want, got)
	}
	// Only the first line of a text may begin where the program's own lines begin. A terminal must not move another
	// one to the left edge.
	_, rest, _ := strings.Cut(text, "\n")
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, `"`) {
		rest = ""
	}
	fakes := map[string]bool{"Approved by anna": true, "What will run\n  │ {\"command": true, "sha256 0000": true}
	for line := range strings.SplitSeq(rest, "\n") {
		if line = strings.TrimSpace(line); len(line) > 5 && !strings.HasPrefix(line, "│") {
			fakes[line] = true
		}
	}
	// The program itself prints once what will run, and at the end that it waits.
	own := map[string]int{}
	if strings.HasSuffix(out, "\nIt waits until somebody answers.\n") {
		own["It waits until somebody answers."] = 1
	}
	if strings.Contains(out, "\n  sha256 ") {
		own["What will run"] = 1
	}
	for line := range strings.Lines(out) {
		if len(line)-len(strings.TrimLeft(line, " ")) > 2 {
			continue
		}
		for fake := range fakes {
			if strings.HasPrefix(strings.TrimLeft(line, " "), fake) {
				if own[fake] > 0 {
					own[fake]--
					continue
				}
				return fmt.Sprintf("%q stands as a line of its own", fake)
			}
		}
	}
	return ""
}

// isInvisible reports whether a character is invisible. It does not share code with the functions under test.
func isInvisible(r rune) bool {
	if r >= ' ' && r < 0x7f {
		return false
	}
	return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		slices.Contains(blankRunes, r) || !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r))
}

// blankRunes are letters and signs without a visible shape.
var blankRunes = []rune{0x34f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0, 0xfffc, 0x1d159, 0x13441}

var (
	atNumber = regexp.MustCompile(`(?s)(.?)⟨U\+([0-9A-F]{4,6})⟩`)
	atGap    = regexp.MustCompile(`⟨\d+ spaces⟩`)
	atBar    = regexp.MustCompile(`(?m)^ *[│┊] ?`)
)

// restoreText restores the original text from the shown text: it turns numbers into characters and removes bars.
func restoreText(out string) string {
	out = atBar.ReplaceAllString(out, "")
	out = strings.ReplaceAll(out, "\n", "")
	out = atGap.ReplaceAllString(out, "")
	return atNumber.ReplaceAllStringFunc(out, func(s string) string {
		parts := atNumber.FindStringSubmatch(s)
		n, _ := strconv.ParseUint(parts[2], 16, 32)
		if r := string(rune(n)); parts[1] != r || unicode.IsMark(rune(n)) {
			return parts[1] + r
		}
		return parts[1]
	})
}

// squeeze removes the space that wrapping changes.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' || unicode.Is(unicode.Zs, r) || r == '│' || r == '┊' {
			return -1
		}
		return r
	}, s)
}

// TestForgingOnALine shows every text as one line of a list. No character may hide, the text must stay on one line,
// and a cut must be visible.
func TestForgingOnALine(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forgeries(t) {
		q := &fermata.Question{ID: "q_1", Title: f.Text, Project: "shop", Type: fermata.Approval}
		m := newModel(t.Context(), &session.Session{Console: terminal.Console{Now: rendertest.NoonClock}}, &session.Whoami{Whoami: &client.Whoami{}})
		row := m.row(terminal.Printer{Width: 80}, q)
		whole := squeeze(terminal.OneLine(f.Text))
		switch {
		case strings.ContainsFunc(row, isInvisible):
			t.Errorf("%s/%s: something hides in %q", f.Class, f.Name, row)
		case strings.Contains(row, "\n") || ansi.StringWidth(row) > 80:
			t.Errorf("%s/%s: %q is no line", f.Class, f.Name, row)
		case !strings.Contains(row, "…") && !strings.Contains(squeeze(row), whole):
			t.Errorf("%s/%s: %q is cut and does not say so", f.Class, f.Name, row)
		}
	}
}

// TestLookalikesAreToldInActions checks that a letter which looks like another one has its number beside it where a
// person gives consent.
func TestLookalikesAreToldInActions(t *testing.T) {
	t.Parallel()
	for _, f := range rendertest.Forgeries(t) {
		if f.Class == "look-alike" && !strings.Contains(terminal.CleanStrictly(f.Text), "⟨U+") {
			t.Errorf("%s: %q tells nothing", f.Name, terminal.CleanStrictly(f.Text))
		}
	}
}
