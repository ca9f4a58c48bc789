package cli

import (
	"slices"
	"testing"

	"github.com/fermata-hq/fermata"
)

// The forms of respond and of the inbox begin with the suggested value.
func TestFormsBeginAtWhatIsSuggested(t *testing.T) {
	t.Parallel()
	options := []fermata.Option{{Value: "a"}, {Value: "b", Recommended: true}, {Value: "c"}}
	for name, tt := range map[string]struct {
		it   fermata.Item
		form field
		row  int
	}{
		"a default of yes":       {fermata.Item{ResponseType: fermata.ResponseBoolean, Default: true}, field{yes: true}, 0},
		"a default of no":        {fermata.Item{ResponseType: fermata.ResponseBoolean, Default: false}, field{}, 1},
		"a default option":       {fermata.Item{ResponseType: fermata.ResponseChoice, Options: options, Default: "c"}, field{text: "c"}, 2},
		"a recommended option":   {fermata.Item{ResponseType: fermata.ResponseChoice, Options: options}, field{text: "b"}, 1},
		"two recommended ones":   {fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{options[0], options[1], options[1]}}, field{}, 0},
		"several options":        {fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: options, Default: []any{"a", "c"}}, field{list: []string{"a", "c"}}, 0},
		"an approval":            {fermata.Item{ResponseType: fermata.ResponseApproval, Default: fermata.Approve}, field{}, 0},
		"a number":               {fermata.Item{ResponseType: fermata.ResponseNumber, Default: 2.5}, field{text: "2.5"}, 0},
		"nothing that is wanted": {fermata.Item{ResponseType: fermata.ResponseText}, field{}, 0},
	} {
		f := newField(&tt.it)
		if f.yes != tt.form.yes || f.text != tt.form.text || !slices.Equal(f.list, tt.form.list) {
			t.Errorf("%s: respond begins at %t, %q, %q", name, f.yes, f.text, f.list)
		}
		inbox := newInboxForm(&fermata.Question{Items: []fermata.Item{tt.it}})
		if inbox.row != tt.row || len(inbox.chosenValues()) != len(tt.form.list) || inbox.input.Value() != tt.form.text && inbox.typing {
			t.Errorf("%s: the inbox begins at line %d, %q, %q", name, inbox.row, inbox.chosenValues(), inbox.input.Value())
		}
	}
}

// A person who goes back finds the earlier answer, and enter keeps it.
func TestTheInboxGoesBackToWhatWasAnswered(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{Items: []fermata.Item{
		{Key: "sure", ResponseType: fermata.ResponseBoolean, Default: true}, {Key: "ship", ResponseType: fermata.ResponseApproval},
	}}
	f := newInboxForm(q)
	f.values = map[string]any{"sure": false, "ship": fermata.Approve}
	for at, row := range []int{1, 1} {
		if f.startItem(at); f.row != row {
			t.Errorf("item %d begins at line %d, want %d", at, f.row, row)
		}
	}
}
