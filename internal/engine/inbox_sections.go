package engine

import (
	"context"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// SortInbox is the order of a list of pending questions by [fermata.InboxSections].
const SortInbox = "inbox"

// inboxPosition is where the next page of a list in the order of the inbox begins.
type inboxPosition struct {
	store.QuestionPosition

	// Section is the index of the section.
	Section int `json:"s,omitempty"`
	// At is the instant of the first page, in Unix milliseconds. It decides the sections on all pages, so that no question moves
	// from a section that is still to come to one that was read.
	At int64 `json:"t,omitempty"`
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
	for ; from.Section < len(fermata.InboxSections); from.Section, from.QuestionPosition = from.Section+1, (store.QuestionPosition{}) {
		if len(found) == want {
			return found, &from, nil
		}
		section := fermata.InboxSections[from.Section]
		part := inSection(query, section, time.UnixMilli(from.At))
		part.After, f.Limit = from.QuestionPosition, want-len(found)
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

// inSection narrows a query to a section of the inbox, as it is at an instant, and puts it in the order of the section.
func inSection(query store.QuestionFilter, section fermata.InboxSection, at time.Time) store.QuestionFilter {
	query.Sort = store.SortUrgency
	if section == fermata.SectionDueSoon {
		query.DueUntil, query.Sort = at.Add(fermata.DueSoon), store.SortDeadline
		return query
	}
	query.DueAfter, query.HighRisk = at.Add(fermata.DueSoon), new(section == fermata.SectionHighRisk)
	if section == fermata.SectionLongWait {
		query.AskedBefore, query.Sort = at.Add(-fermata.LongWait), store.SortOldest
	}
	if section == fermata.SectionRest {
		query.AskedFrom = at.Add(-fermata.LongWait)
	}
	return query
}
