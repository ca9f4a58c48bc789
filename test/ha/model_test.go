//go:build lab

package ha

import (
	"fmt"
	"testing"

	"github.com/anishathalye/porcupine"
)

// call is a client's call: an answer to a question, or a read of it if there is no answer.
type call struct{ question, answer string }

// reply is the answer that the server says the question has, or "" if it is open.
type reply struct {
	answer string
	// refused is true if the client's own answer came too late.
	refused bool
}

// oneAnswerModel is a register that is set once. From then on, each read and each refused answer returns that value: also
// after a standby has become the leader.
var oneAnswerModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			q := op.Input.(call).question
			parts[q] = append(parts[q], op)
		}
		all := make([][]porcupine.Operation, 0, len(parts))
		for _, part := range parts {
			all = append(all, part)
		}
		return all
	},
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		now, c, r := state.(string), in.(call), out.(reply)
		switch {
		case c.answer == "":
			return r.answer == now, now
		case now == "":
			return !r.refused && r.answer == c.answer, c.answer
		default:
			return r.refused && r.answer == now, now
		}
	},
	DescribeOperation: func(in, out any) string {
		c, r := in.(call), out.(reply)
		return fmt.Sprintf("%s %q: %q, refused %v", c.question, c.answer, r.answer, r.refused)
	},
}

// The model refuses the histories that a failover with a loss leaves behind.
func TestModelRefusesLosses(t *testing.T) {
	op := func(begin, end int64, answer string, r reply) porcupine.Operation {
		return porcupine.Operation{Input: call{"q", answer}, Call: begin, Output: r, Return: end}
	}
	tests := []struct {
		name    string
		history []porcupine.Operation
		want    bool
	}{
		{"one wins, one is refused", []porcupine.Operation{op(0, 9, "a", reply{"a", false}), op(1, 8, "b", reply{"a", true}), op(10, 11, "", reply{"a", false})}, true},
		{"the answer is lost", []porcupine.Operation{op(0, 1, "a", reply{"a", false}), op(2, 3, "", reply{})}, false},
		{"a second answer after a loss", []porcupine.Operation{op(0, 1, "a", reply{"a", false}), op(2, 3, "b", reply{"b", false})}, false},
		{"a read of an answer that is lost later", []porcupine.Operation{op(0, 9, "a", reply{"a", false}), op(1, 2, "", reply{"a", false}), op(3, 4, "", reply{})}, false},
	}
	for _, tt := range tests {
		if got := porcupine.CheckOperations(oneAnswerModel, tt.history); got != tt.want {
			t.Errorf("%s: possible %v, want %v", tt.name, got, tt.want)
		}
	}
}
