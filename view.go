package fermata

import (
	"net/url"
	"time"
)

// SavedView is a list of the inbox under a name of its own.
type SavedView struct {
	Name string `json:"name"`
	// Query is what the address of the list holds behind its question mark.
	Query string `json:"query"`
	// Shared shows it to everybody in the workspace.
	Shared    bool      `json:"shared,omitempty"`
	OwnerID   string    `json:"owner_id"`
	Owner     string    `json:"owner" doc:"handle"`
	UpdatedAt time.Time `json:"updated_at"`
}

// VisibleTo reports whether the caller may see the view. Callers see their own views, and those that name no hidden project.
func (v SavedView) VisibleTo(c Caller) bool {
	query, _ := url.ParseQuery(v.Query) // what can be read of it counts
	project := query.Get("project")
	return v.OwnerID == c.MemberID || project == "" || c.VisibleProjects().Has(project)
}

// Limits of saved views.
const (
	MaxViewName  = 64
	MaxViewQuery = 2000
	// MaxViews is how many views one person may have.
	MaxViews = 100
)

// Check reports what is wrong with the view.
func (v SavedView) Check() error {
	var ps problems
	ps.text("name", v.Name, 1, MaxViewName)
	ps.text("query", v.Query, 0, MaxViewQuery)
	if len(ps) > 0 {
		return Invalid(ps...)
	}
	return nil
}
