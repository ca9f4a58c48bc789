package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// inboxParts are the parts of the inbox from top to bottom. The high risks have one for each risk.
var inboxParts = []struct {
	section fermata.InboxSection
	risk    fermata.Risk
}{
	{section: fermata.SectionDueSoon},
	{section: fermata.SectionHighRisk, risk: fermata.RiskCritical},
	{section: fermata.SectionHighRisk, risk: fermata.RiskHigh},
	{section: fermata.SectionLongWait},
	{section: fermata.SectionRest},
}

// inboxPosition is where the next page of a list in the order of the inbox begins.
type inboxPosition struct {
	store.QuestionPosition

	// Part is the index of the part in inboxParts.
	Part int `json:"s,omitempty"`
	// At is the instant of the first page, in Unix milliseconds. It decides the parts on all pages, so that no question moves
	// from a part that is still to come to one that was read.
	At int64 `json:"t,omitempty"`
}

// collect collects a page of questions in the order of the filter. It also returns where the next page begins, or nil at the end.
func (e *Engine) collect(ctx context.Context, r store.Reader, c fermata.Caller, f QuestionFilter, query store.QuestionFilter,
	from inboxPosition,
) ([]*fermata.Question, *inboxPosition, error) {
	if f.Sort == fermata.SortInbox {
		return e.collectSections(ctx, r, c, f, query, from)
	}
	query.After = from.QuestionPosition
	found, end, err := collectPage(r, c, f, query)
	if end == nil {
		return found, nil, err
	}
	return found, &inboxPosition{QuestionPosition: *end}, err
}

// collectSections collects a page of questions in the order of the inbox. It also returns where the next page begins, or nil at
// the end.
func (e *Engine) collectSections(ctx context.Context, r store.Reader, c fermata.Caller, f QuestionFilter, query store.QuestionFilter,
	from inboxPosition,
) ([]*fermata.Question, *inboxPosition, error) {
	if from.At == 0 {
		now, err := e.db.Now(ctx)
		if err != nil {
			return nil, nil, err
		}
		from.At = now.UnixMilli()
	}
	want := pageSize(f.Limit)
	var found []*fermata.Question
	for ; from.Part < len(inboxParts); from.Part, from.QuestionPosition = from.Part+1, (store.QuestionPosition{}) {
		if len(found) == want {
			return found, &from, nil
		}
		section, risk := inboxParts[from.Part].section, inboxParts[from.Part].risk
		part := inSection(query, section, time.UnixMilli(from.At))
		part.After, part.GraveRisk, f.Limit = from.QuestionPosition, risk, want-len(found)
		rows, end, err := collectPage(r, c, f, part)
		if err != nil {
			return nil, nil, err
		}
		for _, q := range rows {
			q.Section = section
		}
		found = append(found, rows...)
		if end != nil {
			from.QuestionPosition = *end
			return found, &from, nil
		}
	}
	return found, nil, nil
}

// inSection narrows a query to a section of the inbox, as it is at an instant, and puts it in the order of the section. The caller
// names the risk.
func inSection(query store.QuestionFilter, section fermata.InboxSection, at time.Time) store.QuestionFilter {
	query.Sort = store.SortUrgency
	if section == fermata.SectionDueSoon {
		query.DueUntil, query.Sort = at.Add(fermata.DueSoon), store.SortDeadline
		return query
	}
	query.DueAfter, query.NotGrave = at.Add(fermata.DueSoon), section != fermata.SectionHighRisk
	if section == fermata.SectionLongWait {
		query.AskedBefore, query.Sort = at.Add(-fermata.LongWait), store.SortOldest
	}
	if section == fermata.SectionRest {
		query.AskedFrom = at.Add(-fermata.LongWait)
	}
	return query
}
