package fermata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// WorkerSilence is how long a worker without a task counts as running after its last call. A waiting worker is
// recorded at least once a minute: a claim waits for a minute at most, and every claim that comes half a minute after the
// last record is recorded.
const WorkerSilence = 70 * time.Second

// Worker is a worker, with the tasks that it takes according to its claims.
type Worker struct {
	Name     string   `json:"name"`
	Runners  []string `json:"runners,omitempty" doc:"what it drives; shell: it runs the commands of tasks"`
	Projects []string `json:"projects,omitempty" doc:"empty: any"`
	Agents   []string `json:"agents,omitempty" doc:"roles; empty: any"`
	Isolates bool     `json:"isolates,omitempty" doc:"it keeps its agents in a sandbox"`
	// Visible are the projects that its tokens see.
	Visible ProjectSet `json:"-"`
	SeenAt  time.Time  `json:"seen_at" doc:"when it last asked for a task or ended one, to the minute"`
	Running bool       `json:"running" doc:"it holds a task, or has asked for one or ended one in the last 70 seconds"`
}

// ClaimingWorker returns the worker that makes the claim.
func (r ClaimRequest) ClaimingWorker() Worker {
	return Worker{Name: r.Worker, Runners: r.Runners, Projects: r.Projects, Agents: r.Agents, Isolates: r.Isolates, Visible: r.Visible}
}

// takesRunner reports whether the worker takes tasks of the runner.
func (w Worker) takesRunner(runner string) bool {
	if runner == "" {
		return ClaimRequest{Runners: w.Runners}.DrivesAgents()
	}
	return slices.Contains(w.Runners, runner)
}

// takesProject reports whether the worker takes tasks of the project.
func (w Worker) takesProject(project string) bool {
	return (len(w.Projects) == 0 || slices.Contains(w.Projects, project)) && w.Visible.Has(project)
}

// takesRole reports whether the worker takes tasks for the role.
func (w Worker) takesRole(role string) bool {
	return role == "" || len(w.Agents) == 0 || slices.Contains(w.Agents, role)
}

// ViewFor returns the worker with only those of its projects that the reader
// sees. It returns false if there are none.
func (w Worker) ViewFor(projects ProjectSet) (Worker, bool) {
	takes := w.Visible
	if len(w.Projects) > 0 {
		takes = takes.Intersect(ProjectSet{Only: true, Names: w.Projects})
	}
	seen := takes.Intersect(projects)
	if seen.Only {
		w.Projects = seen.Names
	}
	return w, !seen.Only || len(seen.Names) > 0
}

// TaskKind holds the properties of a task that decide which workers take it.
type TaskKind struct {
	Runner, Project, Agent string
	Isolated               bool
}

// Kind returns the kind of the task.
func (t *Task) Kind() TaskKind { return TaskKind{t.Runner, t.Project, t.Agent, t.Isolated} }

// Compare orders kinds by runner, isolation, project and agent.
func (k TaskKind) Compare(other TaskKind) int {
	isolated := 0
	if k.Isolated != other.Isolated {
		isolated = -1
		if k.Isolated {
			isolated = 1
		}
	}
	return cmp.Or(strings.Compare(k.Runner, other.Runner), isolated, strings.Compare(k.Project, other.Project), strings.Compare(k.Agent, other.Agent))
}

// WaitsForWorker reports whether the task waits for a worker.
func (t *Task) WaitsForWorker() bool {
	return t.State.IsClaimable() && t.Runner != RunnerExternal && t.Runner != RunnerWorkflow
}

// NoWorker says why no running worker takes a task.
type NoWorker struct {
	// Lacks is the first condition that no worker meets together with the conditions before it. The conditions, in
	// order, are: the worker runs, has the task's runner, has a sandbox, takes the project, takes the role.
	Lacks string `json:"lacks" enum:"worker,runner,isolation,project,agent"`
	Text  string `json:"text"`
	// Start is the command that starts a worker for the task.
	Start string `json:"start"`
}

// Values of [NoWorker].Lacks.
const (
	LacksWorker    = "worker"
	LacksRunner    = "runner"
	LacksIsolation = "isolation"
	LacksProject   = "project"
	LacksAgent     = "agent"
)

// String returns the text and the command that starts a worker.
func (n *NoWorker) String() string { return n.Text + " Start one: " + n.Start }

// NoWorker returns the reason why no running worker of the list takes tasks of this kind. It returns nil if one does.
func (k TaskKind) NoWorker(workers []Worker) *NoWorker {
	remaining := slices.DeleteFunc(slices.Clone(workers), func(w Worker) bool { return !w.Running })
	if len(remaining) == 0 {
		return &NoWorker{LacksWorker, "No worker is running.", k.startCommand()}
	}
	for _, step := range []struct {
		lacks, text string
		fits        func(w Worker) bool
	}{
		{LacksRunner, k.runnerText(), func(w Worker) bool { return w.takesRunner(k.Runner) }},
		{LacksIsolation, "that could do it isolates its agents", func(w Worker) bool { return w.Isolates || !k.Isolated }},
		{LacksProject, "takes tasks of the project " + k.Project, func(w Worker) bool { return w.takesProject(k.Project) }},
		{LacksAgent, "takes tasks for the role " + k.Agent, func(w Worker) bool { return w.takesRole(k.Agent) }},
	} {
		before := remaining
		if remaining = slices.DeleteFunc(slices.Clone(remaining), func(w Worker) bool { return !step.fits(w) }); len(remaining) == 0 {
			return &NoWorker{step.lacks, fmt.Sprintf("No running worker %s: %s.", step.text, describeWorkers(before)), k.startCommand()}
		}
	}
	return nil
}

// describeWorkers returns the names of the workers in words, at most three entries.
func describeWorkers(workers []Worker) string {
	var names []string
	for _, w := range workers {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	const most = 3
	if len(names) == 1 {
		return "there is " + names[0]
	}
	if len(names) > most {
		names = append(names[:most-1], fmt.Sprintf("%d more", len(names)-most+1))
	}
	return "there are " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// runnerText returns the words for the ability that a worker needs to run the task.
func (k TaskKind) runnerText() string {
	switch k.Runner {
	case RunnerShell:
		return "runs the commands of tasks"
	case "":
		return "has an agent"
	default:
		return "has the runner " + k.Runner
	}
}

// startCommand returns the command that starts a worker for the kind.
func (k TaskKind) startCommand() string {
	line := "fermata worker"
	if k.Project != DefaultProject {
		line += " --project " + k.Project
	}
	if k.Agent != "" {
		line += " --agent " + k.Agent
	}
	if k.Isolated {
		line += " --isolate"
	}
	switch k.Runner {
	case RunnerShell:
		return line + " --allow-task-commands"
	case RunnerCommand, "":
		return line + " -- PROGRAM"
	default:
		return line + " --runner " + k.Runner
	}
}
