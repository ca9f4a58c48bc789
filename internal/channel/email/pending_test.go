package email

import (
	"fmt"
	"testing"
)

func TestNothingOwedIsDroppedInSilence(t *testing.T) {
	t.Parallel()
	at := &mailboxPosition{}
	const said = maxPendingPerPerson + 7
	for i := range said {
		at.addPending(pendingMessage{To: "ada@x.test", ID: fmt.Sprint("a", i), Subject: "Re: Which?", Words: "It is no option.", Open: fmt.Sprint("https://f.test/questions/q_", i)})
	}
	if kept := len(at.pendingFor("ada@x.test")); kept != maxPendingPerPerson || at.Dropped["ada@x.test"] != said-kept {
		t.Errorf("%d are kept and %d counted", kept, at.Dropped["ada@x.test"])
	}
	// Even if there are many people with several messages, each person has one
	// left.
	const people = 900
	for n := range 3 {
		for i := range people {
			at.addPending(pendingMessage{To: fmt.Sprintf("p%d@x.test", i), ID: fmt.Sprint("p", n, i), Subject: fmt.Sprint(n), Words: "No."})
		}
	}
	for i := range people {
		to := fmt.Sprintf("p%d@x.test", i)
		if kept := len(at.pendingFor(to)); kept == 0 || kept+at.Dropped[to] != 3 {
			t.Fatalf("of %s %d are kept and %d counted", to, kept, at.Dropped[to])
		}
	}
}
