package answer

import (
	"slices"
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestFormsBeginAtWhatIsSuggested(t *testing.T) {
	t.Parallel()
	options := []fermata.Option{{Value: "a"}, {Value: "b", Recommended: true}, {Value: "c"}}
	for name, tt := range map[string]struct {
		it   fermata.Item
		form field
	}{
		"a default of yes":       {fermata.Item{ResponseType: fermata.ResponseBoolean, Default: true}, field{yes: true}},
		"a default of no":        {fermata.Item{ResponseType: fermata.ResponseBoolean, Default: false}, field{}},
		"a default option":       {fermata.Item{ResponseType: fermata.ResponseChoice, Options: options, Default: "c"}, field{text: "c"}},
		"a recommended option":   {fermata.Item{ResponseType: fermata.ResponseChoice, Options: options}, field{text: "b"}},
		"two recommended ones":   {fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{options[0], options[1], options[1]}}, field{}},
		"several options":        {fermata.Item{ResponseType: fermata.ResponseMultiChoice, Options: options, Default: []any{"a", "c"}}, field{list: []string{"a", "c"}}},
		"an approval":            {fermata.Item{ResponseType: fermata.ResponseApproval, Default: fermata.Approve}, field{}},
		"a number":               {fermata.Item{ResponseType: fermata.ResponseNumber, Default: 2.5}, field{text: "2.5"}},
		"nothing that is wanted": {fermata.Item{ResponseType: fermata.ResponseText}, field{}},
	} {
		f := newField(&tt.it)
		if f.yes != tt.form.yes || f.text != tt.form.text || !slices.Equal(f.list, tt.form.list) {
			t.Errorf("%s: respond begins at %t, %q, %q", name, f.yes, f.text, f.list)
		}
	}
}
