package storetest

import (
	"time"

	"github.com/fermata-hq/fermata/internal/store"
)

var replayTests = map[string]func(*suite){
	"round trip": replayRoundTrip,
	"once":       replayOnce,
	"forgotten":  replayForgotten,
}

func replayRoundTrip(s *suite) {
	want := store.Replay{Fingerprint: "f", Result: "{ \"a\" : \"" + hardText + "\" }"}
	s.write(func(tx *store.Tx) { tx.SaveReplay("human:1", hardText, want) })
	got, found, err := s.read().Replay("human:1", hardText)
	s.checkNoError(err)
	s.checkEqual(true, found)
	s.checkEqual(want, got)
	for _, key := range [][2]string{{"human:2", hardText}, {"human:1", "other"}} {
		_, found, err := s.read().Replay(key[0], key[1])
		s.checkNoError(err)
		s.checkEqual(false, found)
	}
}

func replayOnce(s *suite) {
	remember := func() error {
		return s.try(func(tx *store.Tx) error { tx.SaveReplay("a", "k", store.Replay{}); return nil })
	}
	s.checkNoError(remember())
	if remember() == nil {
		s.Error("one key was remembered twice")
	}
}

func replayForgotten(s *suite) {
	var now time.Time
	s.write(func(tx *store.Tx) { tx.SaveReplay("a", "k", store.Replay{}); now = tx.Now() })
	for _, c := range []struct {
		before time.Time
		found  bool
	}{{now, true}, {now.Add(time.Millisecond), false}} {
		s.write(func(tx *store.Tx) { tx.DeleteReplays(c.before) })
		_, found, err := s.read().Replay("a", "k")
		s.checkNoError(err)
		s.checkEqual(c.found, found)
	}
}
