package inbox

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

func TestARowOfTheInboxSaysWhatAQuestionBelongsTo(t *testing.T) {
	t.Parallel()
	m := newModel(t.Context(), &session.Session{Console: terminal.Console{Now: func() time.Time { return rendertest.Noon }, Width: 110}}, &session.Whoami{})
	q := &fermata.Question{
		ID: "q_1", Type: fermata.Approval, Status: fermata.Pending, Title: "Deploy 512?", TaskTitle: "Release\nthe shop", Project: "shop", Votes: []fermata.Vote{{Value: fermata.Approve}, {Value: fermata.Reject}},
		Asked: fermata.Asked{
			Risk:      fermata.RiskHigh,
			Approvals: &fermata.Quorum{Required: 2},
			Items:     make([]fermata.Item, 3),
		},
	}
	row := m.row(m.printer(), q)
	if want := "high     Deploy 512? · 3 items · 1 of 2 approved, 1 rejected · Release the shop"; !strings.Contains(row, want) || !strings.Contains(row, "  shop") {
		t.Errorf("the row is %q, want %q in it", row, want)
	}
	q.Title = strings.Repeat("Deploy all of it ", 12)
	if row := m.row(m.printer(), q); !strings.Contains(row, "… · 3 items · 1 of 2 approved, 1 rejected") || ansi.StringWidth(row) > 110 {
		t.Errorf("a long title hides the votes: %q", row)
	}
}

// Ids are random, so a given pair of letters occurs in one of forty.
func TestTheFilterOfTheInboxFindsAnIdByItsEnding(t *testing.T) {
	t.Parallel()
	m := newModel(t.Context(), &session.Session{Console: terminal.Console{Now: func() time.Time { return rendertest.Noon }, Width: 80}}, &session.Whoami{})
	m.list = []*fermata.Question{{ID: "q_01m83kpgx8e3v9r4t6w", Title: "Which database?"}}
	for filter, found := range map[string]int{"pg": 0, "kpgx8e3v": 0, "r4t6w": 0, "9r4t6w": 1, "9R4T6W": 1, "DATA": 1, "": 1} {
		if m.filter = filter; len(m.filteredList()) != found {
			t.Errorf("%q finds %d questions, want %d", filter, len(m.filteredList()), found)
		}
	}
}
