package notice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/notice"
)

// TestMarksOfTheLargest checks that an agent cannot keep the server busy with
// many options.
func TestMarksOfTheLargest(t *testing.T) {
	t.Parallel()
	it := &fermata.Item{ResponseType: fermata.ResponseChoice}
	for i := range fermata.MaxOptions {
		it.Options = append(it.Options, fermata.Option{Value: fmt.Sprint(i, strings.Repeat("é ", 90)), Label: fmt.Sprint(i, strings.Repeat("😀", 90))})
	}
	if marks := notice.Marks(it); len(marks) != fermata.MaxOptions || marks[27] != "AB" {
		t.Errorf("marks are %q", marks)
	}
}
