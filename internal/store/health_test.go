package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

// An operator is told about a trouble at once, once a minute while it lasts, when it becomes another one, and when it
// ends.
func TestATroubleThatLastsIsToldEachMinute(t *testing.T) {
	t.Parallel()
	full, malformed := &store.Trouble{Reason: "full"}, &store.Trouble{Reason: "malformed", Malformed: true}
	var told []string
	tell := store.Reporter(func(trouble *store.Trouble) {
		if trouble == nil {
			told = append(told, "over")
			return
		}
		told = append(told, trouble.Reason)
	})
	began := time.Now()
	for _, look := range []struct {
		after   time.Duration
		trouble *store.Trouble
		told    []string
	}{
		{0, nil, nil},
		{time.Second, full, []string{"full"}},
		{30 * time.Second, &store.Trouble{Reason: "full"}, nil},
		{60 * time.Second, full, nil},
		{61 * time.Second, full, []string{"full"}},
		{70 * time.Second, malformed, []string{"malformed"}},
		{129 * time.Second, malformed, nil},
		{130 * time.Second, malformed, []string{"malformed"}},
		{190 * time.Second, malformed, []string{"malformed"}},
		{191 * time.Second, nil, []string{"over"}},
		{10 * time.Minute, nil, nil},
	} {
		told = nil
		tell(look.trouble, began.Add(look.after))
		if !slices.Equal(told, look.told) {
			t.Errorf("after %s it told %q, want %q", look.after, told, look.told)
		}
	}
}
