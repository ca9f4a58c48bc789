package email

import (
	"fmt"
	"testing"
)

func TestNothingOwedIsDroppedInSilence(t *testing.T) {
	t.Parallel()
	at := &place{}
	const said = mostOwedTo + 7
	for i := range said {
		at.owe(owed{To: "ada@x.test", ID: fmt.Sprint("a", i), Subject: "Re: Which?", Words: "It is no option.", Open: fmt.Sprint("https://f.test/questions/q_", i)})
	}
	if kept := len(at.owedTo("ada@x.test")); kept != mostOwedTo || at.LeftOut["ada@x.test"] != said-kept {
		t.Errorf("%d are kept and %d counted", kept, at.LeftOut["ada@x.test"])
	}
	// Even if there are many people with several messages, each person keeps
	// one.
	const people = 900
	for n := range 3 {
		for i := range people {
			at.owe(owed{To: fmt.Sprintf("p%d@x.test", i), ID: fmt.Sprint("p", n, i), Subject: fmt.Sprint(n), Words: "No."})
		}
	}
	for i := range people {
		to := fmt.Sprintf("p%d@x.test", i)
		if kept := len(at.owedTo(to)); kept == 0 || kept+at.LeftOut[to] != 3 {
			t.Fatalf("of %s %d are kept and %d counted", to, kept, at.LeftOut[to])
		}
	}
}
