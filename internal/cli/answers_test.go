package cli

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

func TestAnswerFrom(t *testing.T) {
	t.Parallel()
	off := false
	one := &fermata.Question{Items: []fermata.Item{{Key: "answer", ResponseType: fermata.ResponseText}}}
	two := &fermata.Question{Items: []fermata.Item{
		{Key: "db", ResponseType: fermata.ResponseChoice, Options: options("pg", "sqlite")},
		{Key: "port", ResponseType: fermata.ResponseNumber, Required: &off},
	}}
	three := &fermata.Question{Items: []fermata.Item{
		{Key: "note", ResponseType: fermata.ResponseText, Required: &off},
		{Key: "db", ResponseType: fermata.ResponseText},
		{Key: "port", ResponseType: fermata.ResponseNumber},
	}}
	tests := []struct {
		name         string
		q            *fermata.Question
		words, pairs []string
		want         map[string]any
		refused      bool
	}{
		{"nothing", one, nil, nil, nil, false},
		{"words", one, []string{"use", "the", "old", "one"}, nil, map[string]any{"answer": "use the old one"}, false},
		{"in order", two, []string{"1", "5432"}, nil, map[string]any{"db": "pg", "port": 5432.0}, false},
		{"by key", two, nil, []string{"db=sqlite"}, map[string]any{"db": "sqlite"}, false},
		{"required", two, nil, []string{"port=1"}, nil, true},
		{"unknown key", two, nil, []string{"x=1"}, nil, true},
		{"the required ones in order", two, []string{"pg"}, nil, map[string]any{"db": "pg"}, false},
		{"too few", three, []string{"pg"}, nil, nil, true},
		{"too many", two, []string{"pg", "1", "2"}, nil, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseAnswer(tt.q, tt.words, tt.pairs)
			if (err != nil) != tt.refused || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestReadEdited(t *testing.T) {
	t.Parallel()
	one := &fermata.Question{Items: []fermata.Item{{Key: "answer", ResponseType: fermata.ResponseText}}}
	if got := parseEditedText(one, "# Title\n\ntext\n#| question\n"); got["answer"] != "# Title\n\ntext" {
		t.Errorf("got %q", got)
	}
	if got := parseEditedText(one, "\n\n#| question\n"); len(got) != 0 {
		t.Errorf("an empty file: got %q", got)
	}
	two := &fermata.Question{Items: []fermata.Item{{Key: "a"}, {Key: "b"}}}
	got := parseEditedText(two, "[a]\none\n[x]\n\n[b]\n\n#| b\n")
	if got["a"] != "one\n[x]" || len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
