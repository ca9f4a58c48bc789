package fermata

import "time"

// AuditPage is one page of the event log, the newest event first. A search
// examines a limited number of events in each call. So a page may hold fewer
// events than were asked for, or none, and still have a next cursor.
type AuditPage struct {
	Items      []*Event `json:"items"`
	NextCursor string   `json:"next_cursor,omitempty" doc:"absent in the last part"`
	// SearchedTo is the time of the oldest event that the search has examined.
	// It is set only if more events remain and the page is not full.
	SearchedTo *time.Time `json:"searched_to,omitempty" doc:"the search came back to here without filling the page; next_cursor goes on"`
}
