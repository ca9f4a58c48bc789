package app

import (
	"cmp"
	"os"
	"os/exec"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/runner/acp"
	"github.com/fermata-hq/fermata/internal/runner/command"
)

// check returns an error if the worker could run no task: such a worker would
// claim one task after the other and fail them all.
func (o WorkerOptions) check() error {
	if err := checkFolder("--folder", o.Folder); err != nil {
		return err
	}
	if o.WorkDir != "" {
		folder, err := os.Stat(o.WorkDir)
		switch {
		case err != nil:
			return fermata.Errorf(fermata.CodeInvalidRequest, "--workdir: %w", err).WithHint("name the folder of the project")
		case !folder.IsDir():
			return fermata.Errorf(fermata.CodeInvalidRequest, "--workdir: %s is no folder", o.WorkDir).WithHint("name the folder of the project")
		}
	}
	for _, program := range o.programs() {
		if _, err := exec.LookPath(program); err != nil {
			return fermata.Errorf(fermata.CodeInvalidRequest, "the agent program cannot be run: %w", err).
				WithHint("install it, or name another one with --program or behind --; `fermata doctor` tells which agents are found")
		}
	}
	return nil
}

// programs returns the programs that the runners start.
func (o WorkerOptions) programs() []string {
	var programs []string
	names := o.Agents.Runners
	if len(names) == 0 {
		names = []string{command.Name}
	}
	for _, name := range names {
		switch {
		case name != command.Name && name != acp.Name:
			programs = append(programs, cmp.Or(o.Agents.Program, name))
		case name == acp.Name && o.Agents.Program != "":
			programs = append(programs, o.Agents.Program)
		case len(o.Agents.Command) > 0:
			programs = append(programs, o.Agents.Command[0])
		}
	}
	slices.Sort(programs)
	return slices.Compact(programs)
}
