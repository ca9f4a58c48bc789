package fermata_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fermata-hq/fermata"
)

// TestNoWorker checks that the result names the ability that the workers lack, and the command that starts a worker
// for the task.
func TestNoWorker(t *testing.T) {
	t.Parallel()
	claude := fermata.Worker{Name: "desk", Runners: []string{"claude"}, Running: true}
	shell := fermata.Worker{Name: "ci", Runners: []string{"shell"}, Running: true}
	shop := fermata.Worker{Name: "shop", Runners: []string{"codex"}, Projects: []string{"shop"}, Running: true}
	review := fermata.Worker{Name: "review", Runners: []string{"codex"}, Agents: []string{"review"}, Running: true}
	gone := fermata.Worker{Name: "gone", Runners: []string{"claude", "shell", "codex"}}
	hidden := fermata.Worker{Name: "hidden", Runners: []string{"gemini"}, Visible: fermata.ProjectSet{Only: true, Names: []string{"web"}}, Running: true}
	for name, c := range map[string]struct {
		kind    fermata.TaskKind
		workers []fermata.Worker
		want    *fermata.NoWorker
	}{
		"nobody": {fermata.TaskKind{Project: "default"}, nil, &fermata.NoWorker{Lacks: "worker", Text: "No worker is running.", Start: "fermata worker -- PROGRAM"}},
		"all are gone": {fermata.TaskKind{Runner: "claude", Project: "shop", Agent: "code"}, []fermata.Worker{gone}, &fermata.NoWorker{
			Lacks: "worker", Text: "No worker is running.", Start: "fermata worker --project shop --agent code --runner claude",
		}},
		"a command": {fermata.TaskKind{Runner: "shell", Project: "default"}, []fermata.Worker{claude, shop, gone}, &fermata.NoWorker{
			Lacks: "runner", Text: "No running worker runs the commands of tasks: there are desk and shop.", Start: "fermata worker --allow-task-commands",
		}},
		"no agent": {fermata.TaskKind{Project: "default"}, []fermata.Worker{shell}, &fermata.NoWorker{
			Lacks: "runner", Text: "No running worker has an agent: there is ci.", Start: "fermata worker -- PROGRAM",
		}},
		"the worker's program": {fermata.TaskKind{Runner: "command", Project: "default"}, []fermata.Worker{shell, claude, shop, review}, &fermata.NoWorker{
			Lacks: "runner", Text: "No running worker has the runner command: there are ci, desk and 2 more.", Start: "fermata worker -- PROGRAM",
		}},
		"a project": {fermata.TaskKind{Runner: "codex", Project: "web"}, []fermata.Worker{claude, shop}, &fermata.NoWorker{
			Lacks: "project", Text: "No running worker takes tasks of the project web: there is shop.", Start: "fermata worker --project web --runner codex",
		}},
		"a project that its token does not see": {fermata.TaskKind{Runner: "gemini", Project: "shop"}, []fermata.Worker{hidden}, &fermata.NoWorker{
			Lacks: "project", Text: "No running worker takes tasks of the project shop: there is hidden.", Start: "fermata worker --project shop --runner gemini",
		}},
		"a role": {fermata.TaskKind{Runner: "codex", Project: "default", Agent: "code"}, []fermata.Worker{shop, review}, &fermata.NoWorker{
			Lacks: "agent", Text: "No running worker takes tasks for the role code: there is review.", Start: "fermata worker --agent code --runner codex",
		}},
		"a sandbox": {fermata.TaskKind{Runner: "shell", Project: "default", Isolated: true}, []fermata.Worker{shell, {Name: "safe", Runners: []string{"claude"}, Isolates: true, Running: true}}, &fermata.NoWorker{
			Lacks: "isolation", Text: "No running worker that could do it isolates its agents: there is ci.", Start: "fermata worker --isolate --allow-task-commands",
		}},
		"somebody with a sandbox": {fermata.TaskKind{Project: "default", Isolated: true}, []fermata.Worker{claude, {Name: "safe", Runners: []string{"claude"}, Isolates: true, Running: true}}, nil},
		"somebody":                {fermata.TaskKind{Runner: "shell", Project: "shop", Agent: "code"}, []fermata.Worker{claude, shell}, nil},
		"somebody in the role":    {fermata.TaskKind{Runner: "codex", Project: "default", Agent: "review"}, []fermata.Worker{shop, review}, nil},
		"somebody with any":       {fermata.TaskKind{Project: "shop"}, []fermata.Worker{shop}, nil},
	} {
		if diff := cmp.Diff(c.want, c.kind.NoWorker(c.workers)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestWorkersAreSeenByProject checks that a reader learns nothing of hidden projects, and nothing of workers that
// take only hidden projects.
func TestWorkersAreSeenByProject(t *testing.T) {
	t.Parallel()
	only := func(names ...string) fermata.ProjectSet { return fermata.ProjectSet{Only: true, Names: names} }
	for name, c := range map[string]struct {
		worker fermata.Worker
		seenBy fermata.ProjectSet
		want   string
		hidden bool
	}{
		"every project":           {fermata.Worker{}, fermata.ProjectSet{}, "", false},
		"some of its projects":    {fermata.Worker{Projects: []string{"web", "shop"}}, only("shop", "api"), "shop", false},
		"none of its projects":    {fermata.Worker{Projects: []string{"web"}}, only("shop"), "", true},
		"a hidden one":            {fermata.Worker{Projects: []string{"web", "pay"}}, fermata.ProjectSet{Names: []string{"pay"}}, "web", false},
		"only a hidden one":       {fermata.Worker{Projects: []string{"pay"}}, fermata.ProjectSet{Names: []string{"pay"}}, "", true},
		"those of its token":      {fermata.Worker{Visible: only("web", "pay")}, fermata.ProjectSet{Names: []string{"pay"}}, "web", false},
		"those of both":           {fermata.Worker{Projects: []string{"web", "shop"}, Visible: only("web")}, fermata.ProjectSet{}, "web", false},
		"a worker of all, by one": {fermata.Worker{}, only("shop"), "shop", false},
	} {
		got, ok := c.worker.ViewFor(c.seenBy)
		if projects := strings.Join(got.Projects, " "); ok == c.hidden || ok && projects != c.want {
			t.Errorf("%s: seen %v with the projects %q", name, ok, projects)
		}
	}
}
