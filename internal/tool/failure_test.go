package tool_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/tool"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	slow := fermata.Errorf(fermata.CodeRateLimited, "too many").WithHint("wait")
	slow.RetryAfter = 7 * time.Second
	tests := []struct {
		err       error
		permanent bool
		after     time.Duration
		code      fermata.Code
	}{
		{tool.Transient(slow), false, 7 * time.Second, fermata.CodeRateLimited},
		{tool.Permanent(fermata.Errorf(fermata.CodeNotFound, "gone")), true, 0, fermata.CodeNotFound},
	}
	for _, tt := range tests {
		wrapped := fmt.Errorf("step: %w", tt.err)
		var f tool.Failure
		if !errors.As(wrapped, &f) || f.Permanent() != tt.permanent || f.RetryAfter() != tt.after {
			t.Errorf("%v is not the failure that was made", wrapped)
		}
		if tool.IsSafeToRetry(wrapped) || !tool.IsSafeToRetry(fmt.Errorf("step: %w", tool.MarkSafeToRetry(tt.err))) {
			t.Errorf("%v is marked as safe to retry by itself, or not where it is marked", wrapped)
		}
		if code := fermata.CodeOf(wrapped); code != tt.code {
			t.Errorf("the code is %s, want %s", code, tt.code)
		}
	}
}
