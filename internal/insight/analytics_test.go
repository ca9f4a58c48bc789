package insight_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/store/storetest"
	"github.com/fermata-hq/fermata/internal/testkit"
)

// TestFiguresAreThoseOfTheEvents runs random programs that ask, answer, wait
// and withdraw. Then it computes every figure of every report from the events
// alone, in the simplest way.
func TestFiguresAreThoseOfTheEvents(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opts store.Options) {
		w := newWorld(t, opts)
		p := fermata.DefaultPolicy()
		p.AutoConfidence, p.AskConfidence = ptr(80), ptr(50)
		_, err := w.Engine.SetPolicy(t.Context(), testkit.Admin, p)
		w.OK(err)
		// All programs run on one database, so each adds to the data of those before.
		rapid.Check(t, func(rt *rapid.T) {
			pr := &program{T: rt, w: w}
			for range rapid.IntRange(1, 12).Draw(rt, "questions") {
				pr.ask()
				pr.advance()
			}
			pr.check()
		})
	})
}

func ptr[T any](v T) *T { return &v }

type program struct {
	*rapid.T
	w       *world
	pending []*fermata.Question
}

func (p *program) choose(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(p.T, label)
}

func (p *program) ask() {
	a := fermata.Ask{
		Type: rapid.SampledFrom(fermata.QuestionTypes).Draw(p.T, "type"), Timeout: fermata.Timeout(p.choose("timeout", "5m", "1h", "never")),
		Question: p.choose("title", "Deploy build 7?", "Deploy  build 8?", "Which colour?", "Żółw?"),
	}
	if a.Type == fermata.NonBlocking {
		a.Default = "x"
	}
	if rapid.IntRange(0, 4).Draw(p.T, "confident") == 0 && a.Type != fermata.Approval {
		a.Confidence, a.Default = ptr(rapid.SampledFrom([]int{0, 60, 100}).Draw(p.T, "confidence")), "x"
	}
	q, err := p.w.Engine.AskExternal(p.w.Context(), p.w.agent, p.choose("project", "web", "shop", ""), "", a)
	p.checkError("ask", err)
	p.pending = append(p.pending, q)
}

func (p *program) checkError(act string, err error) {
	switch fermata.CodeOf(err) {
	case "", fermata.CodeQuestionClosed:
	default:
		p.Fatalf("%s: %v", act, err)
	}
}

// advance lets time pass, and then does something with one question.
func (p *program) advance() {
	millis := rapid.SampledFrom([]int{0, 3, 700, 1998, 2100, 12_345, 250_000, 4_000_000}).Draw(p.T, "millis")
	p.w.Clock.Advance(time.Duration(millis) * time.Millisecond)
	ctx, q := p.w.Context(), rapid.SampledFrom(p.pending).Draw(p.T, "question")
	switch p.choose("then", "answer", "answer", "answer", "cancel", "sweep", "nothing") {
	case "answer":
		a := fermata.Answer{Answer: "x", Channel: p.choose("channel", "web", "cli", "")}
		if q.Type == fermata.Approval {
			a.Answer = fermata.Approve
		}
		_, err := p.w.Engine.Answer(ctx, rapid.SampledFrom(p.w.people).Draw(p.T, "person"), q.ID, a)
		p.checkError("answer", err)
	case "cancel":
		_, err := p.w.Engine.CancelQuestion(ctx, p.w.agent, q.ID, "")
		p.checkError("cancel", err)
	case "sweep":
		_, err := p.w.Engine.Sweep(ctx)
		p.checkError("sweep", err)
	}
}

// fact is one question, as the events describe it.
type fact struct {
	asked, closed              time.Time
	id, project, title         string
	typ                        fermata.QuestionType
	status                     fermata.EventType
	decidedBy                  fermata.ActorKind
	responder, handle, channel string
}

// facts reads the questions from the events.
func (p *program) facts() []*fact {
	byID := map[string]*fact{}
	var all []*fact
	for after := int64(0); ; {
		events, next, err := p.w.Engine.Events(p.w.Context(), p.w.people[0], engine.EventFilter{After: after, Limit: 500})
		p.checkError("events", err)
		for _, e := range events {
			var d struct {
				Type      fermata.QuestionType `json:"type"`
				Project   string               `json:"project"`
				Title     string               `json:"title"`
				DecidedBy fermata.ActorKind    `json:"decided_by"`
				Channel   string               `json:"channel"`
			}
			if e.QuestionID == "" {
				continue
			}
			if err := json.Unmarshal(e.Data, &d); err != nil {
				p.Fatalf("event %d: %v", e.Seq, err)
			}
			switch e.Type {
			case fermata.EventQuestionAsked:
				byID[e.QuestionID] = &fact{asked: e.At, id: e.QuestionID, project: d.Project, title: d.Title, typ: d.Type}
				all = append(all, byID[e.QuestionID])
			case fermata.EventQuestionAnswered, fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
				f := byID[e.QuestionID]
				f.closed, f.status, f.decidedBy = e.At, e.Type, d.DecidedBy
				if f.byPeople() {
					f.responder, f.handle, f.channel = e.Actor.ID, e.Actor.Name, d.Channel
				}
			}
		}
		if after = next; len(events) == 0 {
			return all
		}
	}
}

func (f *fact) byPeople() bool {
	return f.status == fermata.EventQuestionAnswered && f.decidedBy == fermata.ActorHuman
}

// cut returns a duration in seconds, cut to three significant digits.
func cut(d time.Duration) float64 {
	digits := fmt.Sprint(d.Milliseconds())
	n := d.Milliseconds()
	for range max(0, len(digits)-3) {
		n /= 10
	}
	for range max(0, len(digits)-3) {
		n *= 10
	}
	return float64(n) / 1000
}

func answersOf(facts []*fact) fermata.AnswerFigures {
	var took []time.Duration
	reflex := int64(0)
	for _, f := range facts {
		if !f.byPeople() {
			continue
		}
		took = append(took, f.closed.Sub(f.asked))
		if f.closed.Sub(f.asked) < 2*time.Second {
			reflex++
		}
	}
	slices.Sort(took)
	n := int64(len(took))
	a := fermata.AnswerFigures{Answered: n, TimeToAnswer: fermata.Times{N: n}, Reflex: shareOf(reflex, n)}
	if n > 0 {
		a.TimeToAnswer.Median = ptr(cut(took[(n+1)/2-1]))
		a.TimeToAnswer.P90 = ptr(cut(took[(n*9+9)/10-1]))
	}
	return a
}

func shareOf(part, whole int64) fermata.Share {
	if whole == 0 {
		return fermata.Share{}
	}
	return fermata.Share{Value: ptr(math.Round(10000*float64(part)/float64(whole)) / 10000), N: whole}
}

func figuresOf(facts []*fact) fermata.Figures {
	f := fermata.Figures{Asked: int64(len(facts)), AnswerFigures: answersOf(facts)}
	for _, q := range facts {
		switch {
		case q.status == "":
			f.Pending++
		case q.status == fermata.EventQuestionTimedOut:
			f.TimedOut++
		case q.status == fermata.EventQuestionCancelled:
			f.Cancelled++
		case !q.byPeople():
			f.ByRule++
		}
	}
	f.TimeoutRate = shareOf(f.TimedOut, f.TimedOut+f.Answered)
	return f
}

// groupFacts groups the facts, the largest group first, and groups of equal size by name.
func groupFacts(facts []*fact, by func(*fact) string) (keys []string, groups map[string][]*fact) {
	groups = map[string][]*fact{}
	for _, f := range facts {
		if groups[by(f)] == nil {
			keys = append(keys, by(f))
		}
		groups[by(f)] = append(groups[by(f)], f)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	return keys, groups
}

func filterFacts(facts []*fact, keep func(*fact) bool) []*fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f *fact) bool { return !keep(f) })
}

func (p *program) checkEqual(report string, want, got any) {
	p.Helper()
	if diff := gocmp.Diff(want, got); diff != "" {
		p.Fatalf("%s (-want +got):\n%s", report, diff)
	}
}

// check compares every report for a random period and random filters.
func (p *program) check() {
	all := p.facts()
	q := insight.Query{Project: p.choose("of project", "", "", "web", "default", "none"), Type: p.choose("of type", "", "", "approval", "blocking")}
	// The bounds are at or near instants of questions, to test the borders.
	instants := []time.Time{all[0].asked.Add(-time.Hour), all[len(all)-1].asked.Add(time.Hour)}
	for _, f := range all[max(0, len(all)-30):] {
		instants = append(instants, f.asked, f.asked.Add(time.Millisecond))
	}
	from, to := rapid.SampledFrom(instants).Draw(p.T, "from"), rapid.SampledFrom(instants).Draw(p.T, "to")
	if !from.Before(to) {
		from, to = to, from.Add(time.Millisecond)
	}
	q.From, q.To = &from, &to
	facts := filterFacts(all, func(f *fact) bool {
		return !f.asked.Before(from) && f.asked.Before(to) && (q.Project == "" || f.project == q.Project) && (q.Type == "" || string(f.typ) == q.Type)
	})
	period := fermata.Period{From: from, To: to}
	p.checkSummary(q, period, facts)
	p.checkSeries(q, period, facts)
	p.checkLists(q, period, facts)
}

func (p *program) checkSummary(q insight.Query, period fermata.Period, facts []*fact) {
	want := fermata.AnalyticsSummary{Period: period, Figures: figuresOf(facts), Types: []fermata.TypeFigures{}, Channels: []fermata.ChannelFigures{}}
	keys, groups := groupFacts(facts, func(f *fact) string { return string(f.typ) })
	for _, key := range keys {
		want.Types = append(want.Types, fermata.TypeFigures{Type: fermata.QuestionType(key), Figures: figuresOf(groups[key])})
	}
	keys, groups = groupFacts(filterFacts(facts, (*fact).byPeople), func(f *fact) string { return f.channel })
	for _, key := range keys {
		want.Channels = append(want.Channels, fermata.ChannelFigures{Channel: key, AnswerFigures: answersOf(groups[key])})
	}
	got, err := p.w.a.Summary(p.w.Context(), p.w.people[0], q)
	p.checkError("summary", err)
	p.checkEqual("summary", want, got)
}

func (p *program) checkSeries(q insight.Query, period fermata.Period, facts []*fact) {
	q.Interval = rapid.SampledFrom([]fermata.SeriesInterval{fermata.EveryHour, fermata.EveryDay, fermata.EveryWeek}).Draw(p.T, "interval")
	if period.To.Sub(period.From) >= 1000*q.Interval.Length() {
		q.Interval = fermata.EveryWeek
	}
	want := fermata.AnalyticsSeries{Period: period, Interval: q.Interval, Items: []fermata.SeriesStep{}}
	for from := period.From; from.Before(period.To); from = from.Add(q.Interval.Length()) {
		to := from.Add(q.Interval.Length())
		if to.After(period.To) {
			to = period.To
		}
		step := filterFacts(facts, func(f *fact) bool { return !f.asked.Before(from) && f.asked.Before(to) })
		want.Items = append(want.Items, fermata.SeriesStep{Period: fermata.Period{From: from, To: to}, Figures: figuresOf(step)})
	}
	got, err := p.w.a.Series(p.w.Context(), p.w.people[0], q)
	p.checkError("series", err)
	p.checkEqual("series", want, got)
}

func (p *program) checkLists(q insight.Query, period fermata.Period, facts []*fact) {
	ctx, c := p.w.Context(), p.w.people[0]
	projects := fermata.AnalyticsProjects{Period: period, Items: []fermata.ProjectFigures{}}
	keys, groups := groupFacts(facts, func(f *fact) string { return f.project })
	for _, key := range keys {
		projects.Items = append(projects.Items, fermata.ProjectFigures{Project: key, Figures: figuresOf(groups[key])})
	}
	gotProjects, err := p.w.a.Projects(ctx, c, q)
	p.checkError("projects", err)
	p.checkEqual("projects", projects, gotProjects)

	responders := fermata.AnalyticsResponders{Period: period, Items: []fermata.ResponderFigures{}}
	keys, groups = groupFacts(filterFacts(facts, (*fact).byPeople), func(f *fact) string { return f.responder })
	for _, key := range keys {
		responders.Items = append(responders.Items, fermata.ResponderFigures{ID: key, Handle: groups[key][0].handle, AnswerFigures: answersOf(groups[key])})
	}
	gotResponders, err := p.w.a.Responders(ctx, c, q)
	p.checkError("responders", err)
	p.checkEqual("responders", responders, gotResponders)

	closed := filterFacts(facts, func(f *fact) bool { return f.status != "" })
	questions := fermata.AnalyticsQuestions{Period: period, Closed: int64(len(closed)), Items: []fermata.TitlePatternFigures{}}
	keys, groups = groupFacts(closed, func(f *fact) string { return wordingByTitle[f.title] })
	for _, key := range keys {
		newest := slices.MaxFunc(groups[key], func(a, b *fact) int { return cmp.Compare(a.id, b.id) })
		questions.Items = append(questions.Items, fermata.TitlePatternFigures{Title: newest.title, QuestionID: newest.id, Figures: figuresOf(groups[key])})
	}
	gotQuestions, err := p.w.a.Questions(ctx, c, q)
	p.checkError("questions", err)
	p.checkEqual("questions", questions, gotQuestions)
}

// wordingByTitle maps the titles of the programs to the wording under which they are counted.
var wordingByTitle = map[string]string{
	"Deploy build 7?": "deploy build #?", "Deploy  build 8?": "deploy build #?", "Which colour?": "which colour?", "Żółw?": "żółw?",
}

func TestBadQueriesAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t))
	now := time.Now()
	for name, q := range map[string]insight.Query{
		"to before from": {From: ptr(now), To: ptr(now.Add(-time.Hour))}, "nothing between": {From: ptr(now), To: ptr(now)},
		"type": {Type: "x"}, "interval": {Interval: "year"}, "too many steps": {From: ptr(now.AddDate(0, -3, 0)), Interval: fermata.EveryHour},
	} {
		if _, err := w.a.Series(t.Context(), w.people[0], q); fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	nobody := fermata.Caller{WorkspaceID: store.DefaultWorkspace, Kind: fermata.ActorAgent}
	if _, err := w.a.Summary(t.Context(), nobody, insight.Query{}); fermata.CodeOf(err) != fermata.CodeForbidden {
		t.Errorf("a caller without rights: %v", err)
	}
}

// TestNothingHasNoFigures: without questions, rates have no value.
func TestNothingHasNoFigures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, onSQLite(t))
	s, err := w.a.Summary(t.Context(), w.people[0], insight.Query{})
	w.OK(err)
	w.Equal(fermata.Figures{}, s.Figures)
	series, err := w.a.Series(t.Context(), w.people[0], insight.Query{})
	w.OK(err)
	w.Equal(30, len(series.Items))
}
