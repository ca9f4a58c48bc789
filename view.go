package fermata

import (
	"net/url"
	"time"
)

// SavedView is a list of the inbox that a member saved under a name.
type SavedView struct {
	Name string `json:"name"`
	// Query is the query string of the list's address, without the question mark.
	Query string `json:"query"`
	// Shared shows the view to all members of the workspace.
	Shared    bool      `json:"shared,omitempty"`
	OwnerID   string    `json:"owner_id"`
	Owner     string    `json:"owner" doc:"handle"`
	UpdatedAt time.Time `json:"updated_at"`
}

// IsVisibleTo reports whether the caller may see the view. Callers see their own views, and views that name no hidden project.
func (v SavedView) IsVisibleTo(c Caller) bool {
	query, _ := url.ParseQuery(v.Query) // an invalid query keeps the parts that could be parsed
	project := query.Get("project")
	return v.OwnerID == c.MemberID || project == "" || c.VisibleProjects().Has(project)
}

// Limits of saved views.
const (
	MaxViewName  = 64
	MaxViewQuery = 2000
	// MaxViews is the most views that one person may have.
	MaxViews = 100
)

// Check returns an error that lists every problem of the view.
func (v SavedView) Check() error {
	var ps problems
	ps.checkText("name", v.Name, 1, MaxViewName)
	ps.checkText("query", v.Query, 0, MaxViewQuery)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}
