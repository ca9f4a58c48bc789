package mails

import (
	"fmt"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/patience"
)

const (
	// questions is the number of questions. Each goes to two people.
	questions = 40
	// atOnce is how many mails the server sends at the same time. So many mails
	// may arrive twice.
	atOnce = 16
)

// Every mail that the server was sending when it was killed arrives. A mail that
// the mail server had accepted may arrive twice, with the same Message-ID.
func TestServerIsKilledWhileMailsAreUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	task, err := w.admin.CreateTask(t.Context(), fermata.NewTask{Title: "Settle it", Runner: fermata.RunnerExternal})
	if err != nil {
		t.Fatal(err)
	}
	asked := make([]string, questions)
	ask := func(from, to int) {
		for i := from; i < to; i++ {
			a := choice()
			a.Type, a.Title, a.Channels, a.Items[0].Default = fermata.NonBlocking, fmt.Sprintf("Which format for %d?", i), []string{w.channel}, "toml"
			q, err := w.admin.Ask(t.Context(), task.ID, a)
			if err != nil {
				t.Fatal(err)
			}
			asked[i] = q.ID
		}
	}
	ask(0, questions/2)
	patience.Await(t, "mails are under way", func() bool { return len(w.copies("bob")) > 0 })
	// The mail server is frozen, so that the other mails are being sent when the server is killed.
	if err := w.PauseSMTP(); err != nil {
		t.Fatal(err)
	}
	ask(questions/2, questions)
	w.server.Kill()
	if err := w.ResumeSMTP(); err != nil {
		t.Fatal(err)
	}
	before := len(w.copies("ada")) + len(w.copies("bob"))
	if before == 2*questions {
		t.Error("every mail had arrived when the server was killed")
	}
	w.server = w.again()
	twice := 0
	for _, name := range []string{"ada", "bob"} {
		patience.Await(t, "every mail arrives", func() bool { return len(w.copies(name)) == questions })
		copies := w.copies(name)
		for _, id := range asked {
			if len(copies[id]) != 1 {
				t.Errorf("%s has %d mails about %s", name, len(copies[id]), id)
			}
			for _, n := range copies[id] {
				twice += n - 1
			}
		}
	}
	t.Logf("%d of %d mails had arrived when the server was killed, %d came twice", before, 2*questions, twice)
	if twice > atOnce {
		t.Errorf("%d mails came twice, and %d were under way", twice, atOnce)
	}
}

// copies counts the mails that ask a question, by question and Message-ID.
func (w *world) copies(name string) map[string]map[string]int {
	w.Helper()
	mails, err := w.Mails(name)
	w.OK(err)
	all := map[string]map[string]int{}
	for _, m := range mails {
		id := m.Header.Get("X-Fermata-Question")
		if id == "" {
			continue
		}
		if all[id] == nil {
			all[id] = map[string]int{}
		}
		all[id][m.ID()]++
	}
	return all
}
