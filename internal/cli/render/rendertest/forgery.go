package rendertest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// Forgery is a text that imitates something else.
type Forgery struct {
	Class, Name, Text string
	Repeat            int
}

// Forgeries reads the corpus of forgeries.
func Forgeries(t *testing.T) []Forgery {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/forging.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus struct{ Texts []Forgery }
	if err := json.Unmarshal(data, &corpus); err != nil {
		t.Fatal(err)
	}
	if len(corpus.Texts) < 100 {
		t.Fatalf("the corpus has %d texts", len(corpus.Texts))
	}
	for i, f := range corpus.Texts {
		if f.Repeat > 0 {
			corpus.Texts[i].Text = strings.Repeat(f.Text, f.Repeat)
		}
	}
	return corpus.Texts
}

// HugeText is the length from which a text is shown in only one view, because its layout takes long.
const HugeText = 10_000
