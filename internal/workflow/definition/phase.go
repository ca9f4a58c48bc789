package definition

// Phase is a list of steps of a workflow. A run does the main steps, then those for how they
// ended, and then those that are always done.
type Phase string

// Phases, by the names of their lists in the file.
const (
	MainPhase Phase = "steps"
	// OnSuccess is done when the main steps came to their end.
	OnSuccess Phase = "on_success"
	// OnFailure is done when the run failed or was set aside.
	OnFailure Phase = "on_failure"
	// Finally is done however the others ended.
	Finally Phase = "finally"
)

// phases are in the order in which a run can do them.
var phases = []Phase{MainPhase, OnSuccess, OnFailure, Finally}

// NextPhases are the phases that can follow, by whether the run went well.
func (p Phase) NextPhases(well bool) []Phase {
	switch {
	case p == Finally:
		return nil
	case p == OnFailure, p == OnSuccess && well:
		return []Phase{Finally}
	case !well:
		return []Phase{OnFailure, Finally}
	default:
		return []Phase{OnSuccess, Finally}
	}
}

// First returns the first step of a phase, and nil where it has none.
func (w *Workflow) First(p Phase) *Step {
	for i := range w.Steps {
		if w.Steps[i].Phase == p {
			return &w.Steps[i]
		}
	}
	if p == OnFailure && w.Tells {
		return Told
	}
	return nil
}

// handles reports whether there is anything to do when the main steps have ended.
func (w *Workflow) handles() bool {
	return len(w.Steps) > 0 && w.Steps[len(w.Steps)-1].Phase != MainPhase
}

// Told is done on failure where a definition does not say what is done then: it tells the
// issue of the run. It stands in no file, and its input is not that of a file.
var Told = &Step{ID: string(OnFailure) + ".comment", Phase: OnFailure, Tool: "github_comment", OnError: OnErrorContinue, Parallel: 1}
