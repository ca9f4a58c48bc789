package notice

import (
	"reflect"
	"testing"

	"github.com/fermata-hq/fermata"
)

func options(values ...string) []fermata.Option {
	list := make([]fermata.Option, len(values))
	for i, v := range values {
		list[i] = fermata.Option{Value: v}
	}
	return list
}

func TestPick(t *testing.T) {
	t.Parallel()
	colours := fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{
		{Value: "red", Label: "Bright Red"}, {Value: "blue"}, {Value: "a,b"},
	}}
	several := colours
	several.ResponseType = fermata.ResponseMultiChoice
	open := colours
	open.Other = new(true)
	ports := fermata.Item{ResponseType: fermata.ResponseChoice, Options: options("80", "2", "1")}
	least := 5.0
	number := fermata.Item{ResponseType: fermata.ResponseNumber, Min: &least}
	of := func(typ fermata.ResponseType) fermata.Item { return fermata.Item{ResponseType: typ} }

	tests := []struct {
		name string
		item fermata.Item
		in   string
		want any // nil if the text is refused
	}{
		{"value", colours, "blue", "blue"},
		{"number", colours, " 2 ", "blue"},
		{"label", colours, "bright red", "red"},
		{"case", colours, "BLUE", "blue"},
		{"no such number", colours, "4", nil},
		{"zero", colours, "0", nil},
		{"no such option", colours, "green", nil},
		{"own answer", open, "green", "green"},
		{"number of an open choice", open, "1", "red"},
		{"number beyond an open choice", open, "9", nil},
		{"value that is a number", ports, "2", "2"},
		{"no number beside numbers", ports, "3", nil},
		{"several by number", several, "2,1", []string{"red", "blue"}},
		{"several mixed", several, "blue, 1", []string{"red", "blue"}},
		{"value with a comma", several, "a,b", []string{"a,b"}},
		{"several as JSON", several, `["a,b","red"]`, []string{"red", "a,b"}},
		{"none of several", several, ",", nil},
		{"yes", of(fermata.ResponseBoolean), "Yes", true},
		{"false", of(fermata.ResponseBoolean), "false", false},
		{"maybe", of(fermata.ResponseBoolean), "maybe", nil},
		{"approve", of(fermata.ResponseApproval), "approve", fermata.Approve},
		{"no", of(fermata.ResponseApproval), "n", fermata.Reject},
		{"neither", of(fermata.ResponseApproval), "ok then", nil},
		{"number", number, "5.5", 5.5},
		{"too small", number, "4", nil},
		{"not finite", number, "Inf", nil},
		{"date", of(fermata.ResponseDate), "2027-01-31", "2027-01-31"},
		{"no date", of(fermata.ResponseDate), "31.1.", nil},
		{"text as it is", of(fermata.ResponseText), " two  words ", " two  words "},
		{"no text", of(fermata.ResponseText), "  ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseValue(&tt.item, tt.in)
			if (err != nil) != (tt.want == nil) || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Pick(%q): got %#v, %v, want %#v", tt.in, got, err, tt.want)
			}
			if err != nil && fermata.CodeOf(err) != fermata.CodeInvalidRequest {
				t.Errorf("Pick(%q): got the code %s", tt.in, fermata.CodeOf(err))
			}
		})
	}
}
