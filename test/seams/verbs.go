package seams

import (
	"slices"

	"github.com/fermata-hq/fermata"
)

// freeTool is a tool that a rule allows. Any other tool needs an approval.
const freeTool = "Look"

// shortTimeout is the time limit of questions that are meant to time out.
const shortTimeout = "1s"

// view is the state by which a verb is chosen.
type view struct {
	state   fermata.TaskState
	reason  string
	pending *fermata.Question
	// agent is true if the agent is running and listens.
	agent, deaf, leftChild bool
	// claude is true if the agent is Claude Code and its model may reply.
	claude bool
	// held is true if an answer can be taken back.
	held bool
	// timedOut is true if a timeout closed a question of the task, answered if a person did.
	timedOut, answered bool
	// worker is true if the worker runs.
	worker, rough bool
}

func (v view) isEnded() bool { return v.state.IsEnded() }
func (v view) isPaused() bool {
	return v.state == fermata.TaskDeferred && v.reason == fermata.ReasonPaused
}
func (v view) isStopped() bool { return v.isEnded() || v.isPaused() }

// verb is an act or event that a step can have.
type verb struct {
	name string
	// sentence is a sentence with a place for the task.
	sentence string
	variants []string
	// weight returns a weight for how well the verb fits. 0 means not at all.
	weight func(v view) int
	act    func(p *Play, r *playTask, n int)
	// onMachines marks events on the machines, which happen only in rough worlds.
	onMachines bool
}

func weightIf(holds bool, weight int) int {
	if holds {
		return weight
	}
	return 0
}

// verbs lists all verbs. init fills it, because verbs print themselves.
var verbs []verb

func init() { verbs = slices.Concat(peopleVerbs, agentVerbs, claudeVerbs, worldVerbs) }

func verbOf(name string) (verb, bool) {
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == name })
	if i < 0 {
		return verb{sentence: name + " %s"}, false
	}
	return verbs[i], true
}

func verbNames() []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = v.name
	}
	return names
}
