package race

import (
	"fmt"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// checksWithin is the time limit of the check.
const checksWithin = 2 * time.Minute

// pending is the state of a question that nobody has closed.
const pending = ""

// timedOut is the end of a question that its deadline closed.
const timedOut = "timed_out"

// input is a client's call: to close a question with an end of the client's own,
// or to read it.
type input struct {
	question string
	// end is the end that the client wants. It is empty if the client only reads.
	end string
	// late is true for an answer. After a timeout, an answer is accepted as late and
	// does not change the end.
	late bool
}

// output is the reply to the client.
type output struct {
	// end is the question's end, or pending if it was still open.
	end string
	// refused is true if the client's own end was refused.
	refused bool
}

// oneEndModel is a register that is set once. A read returns the value that was
// set, and a second write is refused with this value.
var oneEndModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, op := range history {
			q := op.Input.(input).question
			parts[q] = append(parts[q], op)
		}
		all := make([][]porcupine.Operation, 0, len(parts))
		for _, part := range parts {
			all = append(all, part)
		}
		return all
	},
	Init: func() any { return pending },
	Step: func(state, in, out any) (bool, any) {
		now, i, o := state.(string), in.(input), out.(output)
		switch {
		case i.end == "" || o.refused:
			return o.end == now && (!o.refused || now != pending), now
		case now == pending:
			return o.end == i.end, i.end
		case now == timedOut && i.late:
			return o.end == timedOut, now
		default:
			// The same end again is accepted.
			return now == i.end && o.end == now, now
		}
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(input), out.(output)
		if i.end == "" {
			return fmt.Sprintf("read: %q", o.end)
		}
		return fmt.Sprintf("close with %q: %q, refused %v", i.end, o.end, o.refused)
	},
}

// explain logs the history of the first question that breaks the model.
func explain(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	for _, part := range oneEndModel.Partition(history) {
		if porcupine.CheckOperations(oneEndModel, part) {
			continue
		}
		for _, op := range part {
			t.Logf("%s: %12d–%12d client %d: %s", op.Input.(input).question, op.Call, op.Return, op.ClientId,
				oneEndModel.DescribeOperation(op.Input, op.Output))
		}
		return
	}
}

func TestModel(t *testing.T) {
	read := func(call, ret int64, end string) porcupine.Operation {
		return porcupine.Operation{Input: input{question: "q"}, Call: call, Output: output{end: end}, Return: ret}
	}
	set := func(call, ret int64, end string, told output) porcupine.Operation {
		return porcupine.Operation{Input: input{"q", end, true}, Call: call, Output: told, Return: ret}
	}
	tests := []struct {
		name    string
		history []porcupine.Operation
		want    bool
	}{
		{"one end", []porcupine.Operation{read(0, 1, ""), set(2, 3, "a", output{"a", false}), read(4, 5, "a")}, true},
		{"the loser is told", []porcupine.Operation{set(0, 9, "a", output{"a", false}), set(1, 8, "b", output{"a", true})}, true},
		{"two winners", []porcupine.Operation{set(0, 9, "a", output{"a", false}), set(1, 8, "b", output{"b", false})}, false},
		{"refused by nobody", []porcupine.Operation{set(0, 9, "a", output{"", true})}, false},
		{"told about a winner too early", []porcupine.Operation{set(0, 1, "b", output{"a", true}), set(2, 3, "a", output{"a", false})}, false},
		{"read too late", []porcupine.Operation{set(0, 1, "a", output{"a", false}), read(2, 3, "")}, false},
		{"late", []porcupine.Operation{set(0, 5, timedOut, output{timedOut, false}), set(6, 7, "a", output{timedOut, false}), read(8, 9, timedOut)}, true},
		{"an answer does not replace a time-out", []porcupine.Operation{set(0, 5, timedOut, output{timedOut, false}), set(6, 7, "a", output{"a", false})}, false},
	}
	for _, tt := range tests {
		if got := porcupine.CheckOperations(oneEndModel, tt.history); got != tt.want {
			t.Errorf("%s: explained %v, want %v", tt.name, got, tt.want)
		}
	}
}
