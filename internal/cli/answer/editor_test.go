package answer

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestReadEdited(t *testing.T) {
	t.Parallel()
	one := &fermata.Question{Asked: fermata.Asked{Items: []fermata.Item{{Key: "answer", ResponseType: fermata.ResponseText}}}}
	if got := ParseEditedText(one, "# Title\n\ntext\n#| question\n"); got["answer"] != "# Title\n\ntext" {
		t.Errorf("got %q", got)
	}
	if got := ParseEditedText(one, "\n\n#| question\n"); len(got) != 0 {
		t.Errorf("an empty file: got %q", got)
	}
	two := &fermata.Question{Asked: fermata.Asked{Items: []fermata.Item{{Key: "a"}, {Key: "b"}}}}
	got := ParseEditedText(two, "[a]\none\n[x]\n\n[b]\n\n#| b\n")
	if got["a"] != "one\n[x]" || len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
