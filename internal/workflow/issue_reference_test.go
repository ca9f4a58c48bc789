package workflow

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestAQuestionNamesTheIssueOfItsRun(t *testing.T) {
	t.Parallel()
	here := map[string]any{"repository": "acme/shop", "issue": 7}
	for name, test := range map[string]struct {
		ins, cause map[string]any
		said, want string
	}{
		"of the input":              {map[string]any{"issue": 12.0}, nil, "", "12"},
		"of the event":              {nil, here, "", "acme/shop#7"},
		"the input before":          {map[string]any{"issue": 12}, here, "", "acme/shop#12"},
		"the step before":           {map[string]any{"issue": 12}, here, "9", "acme/shop#9"},
		"elsewhere":                 {map[string]any{"issue": "acme/tools#3"}, here, "", "acme/tools#3"},
		"an address":                {map[string]any{"issue": "https://github.com/acme/shop/issues/3"}, nil, "", "https://github.com/acme/shop/issues/3"},
		"of another tracker":        {map[string]any{"issue": "SHOP-12"}, nil, "", ""},
		"none":                      {nil, nil, "", ""},
		"no number":                 {map[string]any{"issue": 1.5}, nil, "", ""},
		"of another tracker, event": {map[string]any{"issue": "SHOP-12"}, here, "", "acme/shop#7"},
	} {
		a := fermata.Ask{}
		if test.said != "" {
			a.Metadata = map[string]string{issueKey: test.said}
		}
		x := &execution{inputs: test.ins, cause: test.cause}
		if x.nameIssue(&a); a.Metadata[issueKey] != test.want {
			t.Errorf("%s: %q, want %q", name, a.Metadata[issueKey], test.want)
		}
	}
}
