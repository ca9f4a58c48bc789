// Command agent is the smallest agent that asks people and continues with their
// answer. It needs nothing of Fermata but the contract in docs/reference/worker.md:
//
//	go build -o agent ./examples/agent && fermata worker -- ./agent
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// handover is the part of the standard input that this agent reads.
type handover struct {
	Task    struct{ Title string }
	Context struct {
		Questions []struct {
			Resolution struct {
				Status  string
				Answers map[string]any
			}
		}
	}
}

func main() {
	var h handover
	if err := json.NewDecoder(os.Stdin).Decode(&h); err != nil {
		fmt.Fprintln(os.Stderr, "read the task:", err)
		os.Exit(1)
	}
	if len(h.Context.Questions) == 0 {
		fmt.Println(`::progress {"message":"Thinking about the colour","current":1,"total":2}`)
		say(map[string]any{
			"result":  "needs_input",
			"summary": "The colour is for people to choose.",
			"question": map[string]any{
				"question": "Which colour for: " + h.Task.Title + "?",
				"options":  []string{"green", "blue"},
				"default":  "green",
			},
		})
		return
	}
	last := h.Context.Questions[len(h.Context.Questions)-1].Resolution
	if len(last.Answers) == 0 {
		say(map[string]any{"result": "failed", "summary": "There is no answer: the question was " + last.Status + "."})
		return
	}
	say(map[string]any{"result": "completed", "summary": fmt.Sprintf("Painted it %v.", last.Answers["answer"])})
}

// say prints the result of the run. The worker reads it from the last line of the output.
func say(result map[string]any) {
	line, err := json.Marshal(result)
	if err != nil {
		fmt.Fprintln(os.Stderr, "write the result:", err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}
