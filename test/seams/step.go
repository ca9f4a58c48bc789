package seams

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// SequenceEnv names the variable with a sequence that is played instead of random ones.
const SequenceEnv = "FERMATA_SEQUENCE"

// Step is one act of a person or an agent, or one event on the machines.
type Step struct {
	Verb string
	// Task is the letter of the task that the step concerns, or 0 if it concerns none.
	Task byte
	// N is the verb's choice among its variants.
	N int
	// Now is true if the step does not wait until the task is at rest.
	Now bool
	// Beside is true if the step runs at the same time as the next one.
	Beside bool
}

// Sequence is a list of steps.
type Sequence []Step

// String returns the sequence in the form that [ParseSequence] reads.
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

// Sentences describes the sequence for people, one line for each step.
func (q Sequence) Sentences() string {
	var sb strings.Builder
	for i, s := range q {
		v, _ := verbOf(s.Verb)
		line := v.sentence
		if s.Task != 0 {
			line = fmt.Sprintf(v.sentence, "task "+string(s.Task))
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

// ParseSequence parses the output of [Sequence.String].
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
