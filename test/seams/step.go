package seams

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SequenceEnv names the variable with a sequence that is played instead of
// random ones.
const SequenceEnv = "FERMATA_SEQUENCE"

// Step is one thing that somebody does, or that happens to the machines.
type Step struct {
	Verb string
	// Task is the letter of the task that it is done to, 0 for steps that concern none.
	Task byte
	// N is the verb's choice among its variants.
	N int
	// Now does it at once, without waiting until the task has come to rest.
	Now bool
	// Beside does it together with the step that follows.
	Beside bool
}

// Sequence is a list of steps.
type Sequence []Step

// String writes the sequence so that [ParseSequence] reads it.
func (q Sequence) String() string {
	parts := make([]string, len(q))
	for i, s := range q {
		parts[i] = s.text()
	}
	return strings.Join(parts, "; ")
}

func (s Step) text() string {
	text := s.Verb
	if s.Task != 0 {
		text += " " + string(s.Task)
	}
	if s.N != 0 {
		text += " " + strconv.Itoa(s.N)
	}
	if s.Now {
		text += " at-once"
	}
	if s.Beside {
		text += " beside"
	}
	return text
}

// Sentences tells the sequence to people, a line a step.
func (q Sequence) Sentences() string {
	var sb strings.Builder
	for i, s := range q {
		v, _ := verbOf(s.Verb)
		line := v.says
		if s.Task != 0 {
			line = fmt.Sprintf(v.says, "task "+string(s.Task))
		}
		if len(v.variants) > 0 {
			line += ": " + v.variants[s.N%len(v.variants)]
		}
		if s.Now {
			line += ", at once"
		}
		if s.Beside {
			line += ", together with the next step"
		}
		fmt.Fprintf(&sb, "%3d. %s\n", i+1, line)
	}
	return sb.String()
}

// ParseSequence reads what [Sequence.String] wrote.
func ParseSequence(text string) (Sequence, error) {
	var q Sequence
	for part := range strings.SplitSeq(text, ";") {
		s, err := parseStep(strings.Fields(part))
		if err != nil {
			return nil, err
		}
		q = append(q, s)
	}
	return q, nil
}

func parseStep(words []string) (Step, error) {
	if len(words) == 0 {
		return Step{}, fmt.Errorf("a step is empty: steps are separated by one semicolon")
	}
	s := Step{Verb: words[0]}
	if _, ok := verbOf(s.Verb); !ok {
		return s, fmt.Errorf("there is no verb %q; there are %s", s.Verb, strings.Join(verbNames(), ", "))
	}
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		switch {
		case w == "at-once":
			s.Now = true
		case w == "beside":
			s.Beside = true
		case err == nil && n >= 0:
			s.N = n
		case len(w) == 1 && w[0] >= 'A' && w[0] <= 'Z':
			s.Task = w[0]
		default:
			return s, fmt.Errorf("%q in the step %q is neither a task (A, B …), a number, at-once nor beside", w, strings.Join(words, " "))
		}
	}
	return s, nil
}

// without returns the sequence without the steps from i to j-1.
func (q Sequence) without(i, j int) Sequence {
	return append(slices.Clone(q[:i]), q[j:]...)
}
