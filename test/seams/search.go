package seams

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fermata-hq/fermata/test/process"
)

// Search is a bounded search for a sequence that breaks a law.
type Search struct {
	// Duration is the time during which new sequences are started. ShrinkTime is the time for shortening all failed
	// sequences together.
	Duration, ShrinkTime time.Duration
	// Parallel is how many sequences are played at the same time.
	Parallel int
	// FirstSequence is the sequence that is played first. It may be empty.
	FirstSequence string
	// Corpus is true if the corpus is played before random sequences.
	Corpus bool
	// UntilLaw names the law whose breach ends the search early.
	UntilLaw string
}

// Failure is a sequence that breaks laws.
type Failure struct {
	Seed     uint64
	Sequence Sequence
	Breach   Breach
	// Story describes what happened when the sequence was last played.
	Story string
}

// SearchResult is the result of a search.
type SearchResult struct {
	Sequences, Steps int
	// Verbs counts how often each verb was played.
	Verbs map[string]int
	// Failures maps the name of each broken law to the shortest sequence that broke it.
	Failures map[string]*Failure
}

// seed returns the seed in the environment, or a new one.
func seed(w *World) uint64 {
	text := os.Getenv(process.SeedEnv)
	if text == "" {
		return rand.Uint64() //nolint:gosec // a test's choices are no secret
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		w.Fatalf("%s: %v", process.SeedEnv, err)
	}
	return n
}

// Run plays the known sequences and then random ones, until Duration has passed.
func (s Search) Run(w *World) SearchResult {
	w.Helper()
	first := seed(w)
	w.Logf("%s=%d", process.SeedEnv, first)
	found := SearchResult{Verbs: map[string]int{}, Failures: map[string]*Failure{}}
	// When a law is broken, the sequences in progress are given up.
	ctx, stop := context.WithCancel(w.Context())
	defer stop()
	end := time.Now().Add(s.Duration)
	var mu sync.Mutex
	var n uint64
	sequences := s.knownSequences(w)
	work := func() {
		for time.Now().Before(end) && ctx.Err() == nil {
			mu.Lock()
			var next func(*Play) (Step, bool)
			own := first + n
			if len(sequences) > 0 {
				next, sequences = Replay(sequences[0]), sequences[1:]
			} else {
				next = Draw(rand.New(rand.NewPCG(own, own))) //nolint:gosec // a test's choices are no secret
				n++
			}
			mu.Unlock()
			c := w.Play(ctx, next)
			if ctx.Err() != nil {
				return
			}
			broken := c.Check()
			mu.Lock()
			found.add(c, own, broken)
			if found.Failures[s.UntilLaw] != nil {
				stop()
			}
			mu.Unlock()
			w.Forget(c)
		}
	}
	if s.Parallel <= 1 {
		work() // the test's own goroutine must restart servers
	} else {
		var wg sync.WaitGroup
		for range s.Parallel {
			wg.Go(work)
		}
		wg.Wait()
	}
	return found
}

// knownSequences returns the sequences that are played before random ones.
func (s Search) knownSequences(w *World) (known []Sequence) {
	var texts []string
	if s.FirstSequence != "" {
		texts = append(texts, s.FirstSequence)
	}
	if s.Corpus {
		texts = append(texts, Corpus[w.kind]...)
	}
	for _, text := range texts {
		q, err := ParseSequence(text)
		if err != nil {
			w.Fatalf("the sequence %q: %v", text, err)
		}
		known = append(known, q)
	}
	return known
}

func (f *SearchResult) add(c *Case, seed uint64, broken []Breach) {
	f.Sequences++
	f.Steps += len(c.Sequence)
	for _, s := range c.Sequence {
		f.Verbs[s.Verb]++
	}
	for _, b := range broken {
		if old := f.Failures[b.Name]; old == nil || len(c.Sequence) < len(old.Sequence) {
			f.Failures[b.Name] = &Failure{seed, c.Sequence, b, c.story()}
		}
	}
}

// RunAndReport runs the search. For each broken law, it fails the test with the shortest sequence that it finds.
func (s Search) RunAndReport(w *World) {
	w.Helper()
	found := s.Run(w)
	w.Logf("%d sequences with %d steps: %s", found.Sequences, found.Steps, found.tally())
	w.Logf("| %s | %s | %s | %d | %d | %s |", w.databaseName(), w.kind, s.Duration, found.Sequences, found.Steps, found.laws())
	if found.Sequences == 0 {
		w.Fatal("no sequence came to its end")
	}
	end := time.Now().Add(s.ShrinkTime)
	for _, law := range Laws {
		f := found.Failures[law.Name]
		if f == nil {
			continue
		}
		w.Logf("the law %s is broken by %d steps, which are made fewer if there is time:\n%s\n%s",
			law.Name, len(f.Sequence), f.Sequence, strings.Join(f.Breach.How, "\n"))
		if left := time.Until(end); left > 0 {
			w.shorten(f, left)
		}
		w.Error(f.text(w.testFolder(), w.Name()))
	}
}

// shorten replaces the sequence of a failure by the shortest one that still fails.
func (w *World) shorten(f *Failure, timeout time.Duration) {
	shorter := w.Shrink(w.Context(), f.Sequence, f.Breach.Name, timeout)
	c := w.Play(w.Context(), Replay(shorter))
	defer w.Forget(c)
	f.Sequence = shorter
	for _, b := range c.Check() {
		if b.Name == f.Breach.Name {
			f.Breach, f.Story = b, c.story()
		}
	}
}

// ReplayGiven plays the sequence that [SequenceEnv] holds, and reports whether there is one.
func (w *World) ReplayGiven() bool {
	w.Helper()
	text := os.Getenv(SequenceEnv)
	if text == "" {
		return false
	}
	q, err := ParseSequence(text)
	if err != nil {
		w.Fatalf("%s: %v", SequenceEnv, err)
	}
	c := w.Play(w.Context(), Replay(q))
	for _, b := range c.Check() {
		f := Failure{Sequence: q, Breach: b, Story: "It follows.\n"}
		w.Error(f.text(w.testFolder(), w.Name()))
	}
	w.Logf("this happened:\n%s", c.story())
	return true
}

// laws lists the broken laws.
func (f *SearchResult) laws() string {
	var names []string
	for _, l := range Laws {
		if f.Failures[l.Name] != nil {
			names = append(names, "`"+l.Name+"`")
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// tally lists how often each verb was played.
func (f *SearchResult) tally() string {
	var parts []string
	for _, v := range verbs {
		if n := f.Verbs[v.name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", v.name, n))
		}
	}
	return strings.Join(parts, ", ")
}

// text describes the failure for people.
func (f *Failure) text(room, test string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "\nThis law is broken (%s): %s\n", f.Breach.Name, f.Breach.Sentence)
	for _, how := range f.Breach.How {
		sb.WriteString("  - " + how + "\n")
	}
	sb.WriteString("\nby this sequence:\n" + f.Sequence.Sentences())
	fmt.Fprintf(&sb, "\nPlay it again:\n  %s=%q scripts/with-postgres go test %s -count=1 -v -run '^%s$'\n",
		SequenceEnv, f.Sequence.String(), room, strings.ReplaceAll(test, "/", "$/^"))
	if f.Seed != 0 {
		fmt.Fprintf(&sb, "It was found with %s=%d.\n", process.SeedEnv, f.Seed)
	}
	sb.WriteString("What happened:\n" + f.Story)
	return sb.String()
}

// story describes what happened in a case, for people who look for the cause.
func (c *Case) story() string {
	var sb strings.Builder
	for _, a := range c.Acts {
		fmt.Fprintf(&sb, "%s %s by %s on %c: %v\n", a.End.UTC().Format("05.000"), a.Step, a.Who, c.Letters[a.Task], a.Err)
	}
	for _, id := range c.Tasks {
		fmt.Fprintf(&sb, "task %c is %s\n", c.Letters[id], id)
		for _, e := range c.Events[id] {
			fmt.Fprintf(&sb, "  %s event %d %s %s by %s %s %s\n", e.At.Format("05.000"), e.Seq, e.Type, e.RunID+e.QuestionID, e.Actor.Kind, e.Actor.Name, e.Data)
		}
		for _, l := range c.Processes[id] {
			fmt.Fprintf(&sb, "  agent %d of %s from %s to %s\n", l.PID, l.Run, l.Began.UTC().Format("05.000"), l.goneAt.UTC().Format("05.000"))
			for _, t := range l.Handovers() {
				fmt.Fprintf(&sb, "    told at %s: messages %v, questions %v\n", t.At.UTC().Format("05.000"), t.Messages, t.Questions)
			}
		}
	}
	return sb.String()
}
