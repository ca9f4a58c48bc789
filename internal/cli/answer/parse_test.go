package answer

import (
	"reflect"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/render/rendertest"
)

func TestAnswerFrom(t *testing.T) {
	t.Parallel()
	off := false
	one := &fermata.Question{Asked: fermata.Asked{Items: []fermata.Item{{Key: "answer", ResponseType: fermata.ResponseText}}}}
	two := &fermata.Question{
		Asked: fermata.Asked{
			Items: []fermata.Item{
				{Key: "db", ResponseType: fermata.ResponseChoice, Options: rendertest.Options("pg", "sqlite")},
				{Key: "port", ResponseType: fermata.ResponseNumber, Required: &off},
			},
		},
	}
	three := &fermata.Question{
		Asked: fermata.Asked{
			Items: []fermata.Item{
				{Key: "note", ResponseType: fermata.ResponseText, Required: &off},
				{Key: "db", ResponseType: fermata.ResponseText},
				{Key: "port", ResponseType: fermata.ResponseNumber},
			},
		},
	}
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
			got, err := Parse(tt.q, tt.words, tt.pairs)
			if (err != nil) != tt.refused || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}
