package definition

// Phase is one of the lists of steps of a workflow. A run does the main steps, then the steps for success or failure,
// and then the steps that are always done.
type Phase string

// Phases, named as their lists in the file.
const (
	MainPhase Phase = "steps"
	// OnSuccess is done after the main steps are done.
	OnSuccess Phase = "on_success"
	// OnFailure is done after the run failed or was set aside.
	OnFailure Phase = "on_failure"
	// Finally is done at the end of every run.
	Finally Phase = "finally"
)

// phases are all phases in the order in which a run can do them.
var phases = []Phase{MainPhase, OnSuccess, OnFailure, Finally}

// NextPhases returns the phases that can follow. succeeded says whether the run has been successful so far.
func (p Phase) NextPhases(succeeded bool) []Phase {
	switch {
	case p == Finally:
		return nil
	case p == OnFailure, p == OnSuccess && succeeded:
		return []Phase{Finally}
	case !succeeded:
		return []Phase{OnFailure, Finally}
	default:
		return []Phase{OnSuccess, Finally}
	}
}

// First returns the first step of a phase, or nil if the phase has no steps.
func (w *Workflow) First(p Phase) *Step {
	for i := range w.Steps {
		if w.Steps[i].Phase == p {
			return &w.Steps[i]
		}
	}
	if p == OnFailure && w.CommentsOnFailure {
		return FailureComment
	}
	return nil
}

// hasLaterPhases reports whether the workflow has steps to do after the main steps.
func (w *Workflow) hasLaterPhases() bool {
	return len(w.Steps) > 0 && w.Steps[len(w.Steps)-1].Phase != MainPhase
}

// FailureComment is the only on_failure step of a definition without on_failure. It comments on the issue of the run.
// No file contains the step, and the engine writes its input.
var FailureComment = &Step{ID: string(OnFailure) + ".comment", Phase: OnFailure, Tool: "github_comment", OnError: OnErrorContinue, Parallel: 1}
