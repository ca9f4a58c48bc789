// Package testkit holds what the tests of several packages share: an engine on a real database with a clock that the
// test moves, callers, checks, and services that end with the test. A package adds its own parts: it embeds [World].
package testkit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

// Test is a test with checks that end it when they fail. Worlds without a database embed it.
type Test struct{ *testing.T }

// OK fails the test at once if there is an error.
func (t Test) OK(err error) {
	t.Helper()
	OK(t, err)
}

// Equal fails the test at once if the values differ.
func (t Test) Equal(want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
}

// CheckRefused fails the test at once unless the error has the code.
func (t Test) CheckRefused(err error, want fermata.Code) {
	t.Helper()
	if got := fermata.CodeOf(err); got != want {
		t.Fatalf("error is %v (%s), want code %s", err, got, want)
	}
}

// OK fails the test at once if there is an error.
func OK(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("unexpected error: %v", err)
	}
}
