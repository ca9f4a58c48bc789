package insight

import (
	"context"
	"slices"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
)

const (
	// defaultDays is how many days analytics look back by default.
	defaultDays = 30
	// maxSteps is the largest number of steps of a series.
	maxSteps = 1000
	// maxCommon is the largest length of the list of the most common
	// questions; defaultCommon is the default one.
	maxCommon, defaultCommon = 100, 20
)

// Query selects the questions for analytics: those that were asked in a period.
type Query struct {
	// From and To bound the time at which they were asked. A nil From means 30
	// days before To; a nil To means now.
	From, To *time.Time
	Project  string
	Type     string
	// Interval is the length of a step of a series; empty is a day.
	Interval fermata.SeriesInterval
	// Limit is the number of most common questions to list; 0 means 20.
	Limit int
}

func (q Query) checkInstants() error {
	for field, at := range map[string]*time.Time{"from": q.From, "to": q.To} {
		if at == nil {
			continue
		}
		if err := fermata.CheckInstant(field, *at); err != nil {
			return err
		}
	}
	return nil
}

// Analytics computes figures on how people and agents deal with questions.
type Analytics struct{ Engine *engine.Engine }

// filter checks the query and returns it as a filter of the store.
func (a Analytics) filter(ctx context.Context, q Query) (store.ClosingFilter, error) {
	f := store.ClosingFilter{Project: q.Project, Type: q.Type}
	if q.Type != "" && !slices.Contains(fermata.QuestionTypes, fermata.QuestionType(q.Type)) {
		return f, fermata.Invalid(fermata.Problem{Field: "type", Message: "must be blocking, non_blocking, approval or error_recovery"})
	}
	if err := q.checkInstants(); err != nil {
		return f, err
	}
	if q.To != nil {
		f.Asked.To = fermata.TruncateTime(*q.To)
	} else {
		now, err := a.Engine.Now(ctx)
		if err != nil {
			return f, err
		}
		// Questions that were asked in this very millisecond count, too.
		f.Asked.To = now.Add(time.Millisecond)
	}
	f.Asked.From = f.Asked.To.AddDate(0, 0, -defaultDays)
	if q.From != nil {
		f.Asked.From = fermata.TruncateTime(*q.From)
	}
	if !f.Asked.From.Before(f.Asked.To) {
		return f, fermata.Invalid(fermata.Problem{Field: "to", Message: "must be after from"})
	}
	return f, nil
}

// Summary returns the figures of a period.
func (a Analytics) Summary(ctx context.Context, c fermata.Caller, q Query) (s fermata.AnalyticsSummary, err error) {
	f, err := a.filter(ctx, q)
	if err != nil {
		return s, err
	}
	f.GroupBy = store.ByType
	counts, err := a.Engine.CountQuestions(ctx, c, f)
	if err != nil {
		return s, err
	}
	all, types := &tally{}, newTallies(counts)
	for _, count := range counts {
		all.add(count)
	}
	f.GroupBy, f.OnlyPeople = store.ByChannel, true
	byChannel, err := a.Engine.CountClosings(ctx, c, f)
	if err != nil {
		return s, err
	}
	s = fermata.AnalyticsSummary{Period: f.Asked, Figures: all.figures(), Types: []fermata.TypeFigures{}, Channels: []fermata.ChannelFigures{}}
	for _, typ := range types.busiestKeys() {
		s.Types = append(s.Types, fermata.TypeFigures{Type: fermata.QuestionType(typ), Figures: types[typ].figures()})
	}
	channels := newTallies(byChannel)
	for _, channel := range channels.busiestKeys() {
		s.Channels = append(s.Channels, fermata.ChannelFigures{Channel: channel, AnswerFigures: channels[channel].answers()})
	}
	return s, nil
}

// Series returns the figures of a period for each step.
func (a Analytics) Series(ctx context.Context, c fermata.Caller, q Query) (s fermata.AnalyticsSeries, err error) {
	f, err := a.filter(ctx, q)
	if err != nil {
		return s, err
	}
	if q.Interval == "" {
		q.Interval = fermata.EveryDay
	}
	if f.Step = q.Interval.Length(); f.Step == 0 {
		return s, fermata.Invalid(fermata.Problem{Field: "interval", Message: "must be hour, day or week"})
	}
	if f.Asked.To.Sub(f.Asked.From)/f.Step >= maxSteps {
		return s, fermata.Invalid(fermata.Problem{Field: "interval", Message: "makes more than 1000 steps: take a longer one or a shorter period"})
	}
	counts, err := a.Engine.CountQuestions(ctx, c, f)
	if err != nil {
		return s, err
	}
	steps := map[int64]*tally{}
	for _, count := range counts {
		if steps[count.Step] == nil {
			steps[count.Step] = &tally{}
		}
		steps[count.Step].add(count)
	}
	s = fermata.AnalyticsSeries{Period: f.Asked, Interval: q.Interval, Items: []fermata.SeriesStep{}}
	for i, from := int64(0), f.Asked.From; from.Before(f.Asked.To); i, from = i+1, from.Add(f.Step) {
		t := steps[i]
		if t == nil {
			t = &tally{}
		}
		to := from.Add(f.Step)
		if to.After(f.Asked.To) {
			to = f.Asked.To
		}
		s.Items = append(s.Items, fermata.SeriesStep{Period: fermata.Period{From: from, To: to}, Figures: t.figures()})
	}
	return s, nil
}

// Questions returns the questions that were asked most often.
func (a Analytics) Questions(ctx context.Context, c fermata.Caller, q Query) (s fermata.AnalyticsQuestions, err error) {
	f, err := a.filter(ctx, q)
	if err != nil {
		return s, err
	}
	limit := defaultCommon
	if q.Limit > 0 {
		limit = min(q.Limit, maxCommon)
	}
	found, err := a.Engine.MostCommonQuestions(ctx, c, f, limit)
	if err != nil {
		return s, err
	}
	s = fermata.AnalyticsQuestions{Period: f.Asked, Closed: found.Closed, Items: []fermata.TitlePatternFigures{}}
	counts := newTallies(found.Counts)
	for _, common := range found.Items {
		item := fermata.TitlePatternFigures{QuestionID: common.Newest, Title: found.Titles[common.Newest], Figures: counts.tallyOf(common.Alike).figures()}
		s.Items = append(s.Items, item)
	}
	return s, nil
}

// Responders returns the figures of each person who answered.
func (a Analytics) Responders(ctx context.Context, c fermata.Caller, q Query) (s fermata.AnalyticsResponders, err error) {
	f, err := a.filter(ctx, q)
	if err != nil {
		return s, err
	}
	f.GroupBy, f.OnlyPeople = store.ByResponder, true
	counts, err := a.Engine.CountClosings(ctx, c, f)
	if err != nil {
		return s, err
	}
	members, err := a.Engine.Members(ctx, c)
	if err != nil {
		return s, err
	}
	handles := fermata.HandlesByID(members)
	s = fermata.AnalyticsResponders{Period: f.Asked, Items: []fermata.ResponderFigures{}}
	people := newTallies(counts)
	for _, id := range people.busiestKeys() {
		s.Items = append(s.Items, fermata.ResponderFigures{ID: id, Handle: handles[id], AnswerFigures: people[id].answers()})
	}
	return s, nil
}

// Projects returns the figures of each project that asked.
func (a Analytics) Projects(ctx context.Context, c fermata.Caller, q Query) (s fermata.AnalyticsProjects, err error) {
	f, err := a.filter(ctx, q)
	if err != nil {
		return s, err
	}
	f.GroupBy = store.ByProject
	counts, err := a.Engine.CountQuestions(ctx, c, f)
	if err != nil {
		return s, err
	}
	s = fermata.AnalyticsProjects{Period: f.Asked, Items: []fermata.ProjectFigures{}}
	projects := newTallies(counts)
	for _, name := range projects.busiestKeys() {
		s.Items = append(s.Items, fermata.ProjectFigures{Project: name, Figures: projects[name].figures()})
	}
	return s, nil
}
