package fermata_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

// trimmedChain is a chain whose beginning was trimmed.
type trimmedChain struct {
	ranges []fermata.TrimmedRange
	events []*fermata.Event
}

// drawTrimmedChain trims some ranges of a chain, and keeps some of their events.
func drawTrimmedChain(t *rapid.T) trimmedChain {
	all := newChain(rapid.IntRange(4, 20).Draw(t, "events"))
	var c trimmedChain
	first, prev := 0, ""
	for first < len(all)-2 {
		end := rapid.IntRange(first+1, len(all)-2).Draw(t, "end of a range")
		kept := slices.DeleteFunc(slices.Clone(all[first:end]), func(*fermata.Event) bool { return !rapid.Bool().Draw(t, "kept") })
		last := all[end-1]
		c.ranges = append(c.ranges, fermata.TrimmedRange{
			Workspace: "main", First: all[first].Seq, Last: last.Seq, PrevHash: prev, Hash: last.Hash, Kept: int64(len(kept)), KeptHash: fermata.HashEvents(kept), At: noon,
		})
		c.events = append(c.events, kept...)
		if first, prev = end, last.Hash; rapid.Bool().Draw(t, "no more ranges") {
			break
		}
	}
	c.events = append(c.events, all[first:]...)
	return c
}

// verify returns the number of the last event of the chain, or an error if the chain is not whole.
func (c trimmedChain) verify() (int64, error) {
	var v fermata.ChainVerification
	ranges := c.ranges
	for _, e := range c.events {
		for len(ranges) > 0 && ranges[0].First <= e.Seq {
			if err := v.EnterRange(ranges[0]); err != nil {
				return v.Seq, err
			}
			ranges = ranges[1:]
		}
		if err := v.VerifyNext(e); err != nil {
			return v.Seq, err
		}
	}
	return v.Seq, v.Finish()
}

func TestATrimmedChainHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrimmedChain(t)
		if end, err := c.verify(); err != nil || end != c.events[len(c.events)-1].Seq {
			t.Fatalf("the chain ends at %d: %v", end, err)
		}
	})
}

func TestAChangedTrimmedChainIsFoundOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := drawTrimmedChain(t)
		event, place := rapid.IntRange(0, len(c.events)-2).Draw(t, "event"), rapid.IntRange(0, len(c.ranges)-1).Draw(t, "range")
		switch rapid.SampledFrom([]string{"remove", "change", "swap", "repeat", "forget a range", "move a range", "another end", "another beginning", "keep fewer"}).Draw(t, "change") {
		case "remove":
			c.events = slices.Delete(slices.Clone(c.events), event, event+1)
		case "change":
			changed := *c.events[event]
			changed.TaskID = "task_2"
			c.events[event] = &changed
		case "swap":
			c.events[event], c.events[event+1] = c.events[event+1], c.events[event]
		case "repeat":
			c.events = slices.Insert(slices.Clone(c.events), event, c.events[event])
		case "forget a range":
			if c.ranges[place].Removed() == 0 {
				t.Skip("all events of the range were kept, so nothing is missing without it")
			}
			c.ranges = slices.Delete(slices.Clone(c.ranges), place, place+1)
		case "move a range":
			c.ranges[place].First++
		case "another end":
			c.ranges[place].Hash = "another"
		case "another beginning":
			c.ranges[place].PrevHash = "another"
		case "keep fewer":
			c.ranges[place].Kept--
		}
		if _, err := c.verify(); err == nil {
			t.Fatal("the change was not found out")
		}
	})
}

func TestATrimmedRangeCountsWhatWasRemoved(t *testing.T) {
	t.Parallel()
	r := fermata.TrimmedRange{First: 11, Last: 30, Kept: 3}
	if got := r.Removed(); got != 17 {
		t.Errorf("got %d", got)
	}
}

func TestTheFirstIDOfAnInstant(t *testing.T) {
	t.Parallel()
	limit := fermata.FirstID(fermata.PrefixTask, noon)
	for at, isBefore := range map[time.Time]bool{noon.Add(-time.Millisecond): true, noon: false, noon.Add(time.Millisecond): false} {
		if id := fermata.NewID(fermata.PrefixTask, at); (id < limit) != isBefore {
			t.Errorf("%s and %s of %s", id, limit, at)
		}
	}
}

func TestKeepTimesAreChecked(t *testing.T) {
	t.Parallel()
	for keep, ok := range map[fermata.Timeout]bool{"": true, "never": true, "1d": true, "365d": true, "23h": false, "soon": false, "0d": false} {
		p := fermata.DefaultPolicy()
		p.KeepTasks, p.KeepLogs, p.KeepDeliveries = keep, keep, keep
		if err := p.Check(); (err == nil) != ok {
			t.Errorf("%q: %v", keep, err)
		}
		if limit, isLimited := fermata.KeepLimit("2d", noon); !isLimited || !limit.Equal(noon.Add(-48*time.Hour)) {
			t.Errorf("got %s, %t", limit, isLimited)
		}
	}
	for _, keep := range []fermata.Timeout{"", fermata.Never} {
		if _, isLimited := fermata.KeepLimit(keep, noon); isLimited {
			t.Errorf("%q has a limit", keep)
		}
	}
}
