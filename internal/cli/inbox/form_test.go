package inbox

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestTheInboxBeginsAtWhatIsSuggested(t *testing.T) {
	t.Parallel()
	options := []fermata.Option{{Value: "a"}, {Value: "b", Recommended: true}, {Value: "c"}}
	for name, tt := range map[string]struct {
		it   fermata.Item
		row  int
		text string
		list []string
	}{
		"a default of yes":       {it: fermata.Item{ResponseType: fermata.ResponseBoolean, Default: true}, row: 0},
		"a default of no":        {it: fermata.Item{ResponseType: fermata.ResponseBoolean, Default: false}, row: 1},
		"a default option":       {it: fermata.Item{ResponseType: fermata.ResponseChoice, Options: options, Default: "c"}, row: 2, text: "c"},
		"a recommended option":   {it: fermata.Item{ResponseType: fermata.ResponseChoice, Options: options}, row: 1, text: "b"},
		"two recommended ones":   {it: fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{options[0], options[1], options[1]}}},
		"several options":        {it: fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: options, Default: []any{"a", "c"}}, list: []string{"a", "c"}},
		"an approval":            {it: fermata.Item{ResponseType: fermata.ResponseApproval, Default: fermata.Approve}},
		"a number":               {it: fermata.Item{ResponseType: fermata.ResponseNumber, Default: 2.5}, text: "2.5"},
		"nothing that is wanted": {it: fermata.Item{ResponseType: fermata.ResponseText}},
	} {
		f := newInboxForm(&fermata.Question{Asked: fermata.Asked{Items: []fermata.Item{tt.it}}})
		if f.row != tt.row || len(f.chosenValues()) != len(tt.list) || f.input.Value() != tt.text && f.typing {
			t.Errorf("%s: the inbox begins at line %d, %q, %q", name, f.row, f.chosenValues(), f.input.Value())
		}
	}
}

// A person who goes back finds the earlier answer, and enter keeps it.
func TestTheInboxGoesBackToWhatWasAnswered(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{
		Asked: fermata.Asked{
			Items: []fermata.Item{
				{Key: "sure", ResponseType: fermata.ResponseBoolean, Default: true}, {Key: "ship", ResponseType: fermata.ResponseApproval},
			},
		},
	}
	f := newInboxForm(q)
	f.values = map[string]any{"sure": false, "ship": fermata.Approve}
	for at, row := range []int{1, 1} {
		if f.startItem(at); f.row != row {
			t.Errorf("item %d begins at line %d, want %d", at, f.row, row)
		}
	}
}
