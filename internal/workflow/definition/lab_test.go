//go:build lab

package definition_test

import (
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

func TestALargeFileIsReadFast(t *testing.T) {
	source := largeWorkflow() // not parallel: the measurement would include other tests
	limit, best := 50*time.Millisecond*raceFactor, time.Hour
	for range 50 { // one quiet moment of the machine is enough
		begin := time.Now()
		if w, problems := definition.Load(source, known); w == nil {
			t.Fatal(problems[0])
		}
		if best = min(best, time.Since(begin)); best <= limit {
			return
		}
	}
	t.Errorf("it took %v, more than %v", best, limit)
}
