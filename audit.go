package fermata

import "time"

// AuditPage is a part of the record of what happened, the newest first. A
// search looks at a bounded number of events a call: a page may hold fewer
// than were asked for, or none, and still lead on.
type AuditPage struct {
	Items      []*Event `json:"items"`
	NextCursor string   `json:"next_cursor,omitempty" doc:"absent in the last part"`
	// SearchedTo is how far back a search came that found too little to fill
	// the page.
	SearchedTo *time.Time `json:"searched_to,omitempty" doc:"the search came back to here without filling the page; next_cursor goes on"`
}
