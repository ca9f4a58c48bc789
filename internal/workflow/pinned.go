package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// loadPinned returns the definition that a run is pinned to. It was checked when it was stored. If a tool has been
// removed since, the step that names it fails.
func (s *Service) loadPinned(r store.Reader, name, hash string) (*definition.Workflow, error) {
	key := r.Workspace() + "\x00" + name + "\x00" + hash
	s.mu.Lock()
	w := s.cachedDefinitions[key]
	s.mu.Unlock()
	if w != nil {
		return w, nil
	}
	source, err := r.Definition(name, hash)
	if err != nil {
		return nil, err
	}
	if definition.Hash([]byte(source)) != hash {
		return nil, fermata.Errorf(fermata.CodeInternal, "the definition of %s is not the one that was put: it was changed in the database", name).
			WithHint("put it again, and look at who writes the database: fermata audit verify")
	}
	w, problems := definition.Load([]byte(source), definition.Catalog{Tools: builtInByName, AllowUnknownTools: true, WasChecked: true})
	if w == nil {
		return nil, definitionError(problems)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cachedDefinitions) >= maxCachedDefinitions {
		clear(s.cachedDefinitions)
	}
	s.cachedDefinitions[key] = w
	return w, nil
}

// maxCachedDefinitions limits how many definitions are cached in memory.
const maxCachedDefinitions = 1000

// failRun ends a run that cannot continue at all. A problem with the database does not end the run.
func (s *Service) failRun(ctx context.Context, claim *fermata.Claim, cause error) error {
	if code := fermata.CodeOf(cause); code == fermata.CodeUnavailable || ctx.Err() != nil {
		return cause
	}
	return s.e.WithLeasedRun(ctx, claim.Task.WorkspaceID, claim.Run.ID, claim.Run.Token, func(h *engine.LeasedRun) error {
		return h.Fail(fermata.TaskFailed, fermata.ReasonDefinitionGone, fermata.Finish{
			Summary: boundText(fmt.Sprintf("The run cannot go on: %s. Trying again does not repair that: %s.", cause, newRunHint)),
		})
	})
}

// newRunHint is a hint that names the alternative to a retry.
const newRunHint = "put a definition that fermata workflow validate finds nothing wrong with, and start a new run"

// joinProblems returns all problems of an error in one line.
func joinProblems(err error) string {
	var e *fermata.Error
	if !errors.As(err, &e) || len(e.Problems) == 0 {
		return err.Error()
	}
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Field + " " + p.Message
	}
	return strings.Join(lines, "; ")
}

// checkPinned returns an error if the hash of the run's definition is not the hash in the last event that started or
// moved the run. In that case somebody changed the database.
func checkPinned(r store.Reader, run *fermata.WorkflowRun) error {
	types := []string{string(fermata.EventWorkflowTriggered), string(fermata.EventRunMoved)}
	events, err := r.Events(store.EventFilter{TaskID: run.ID, Types: types, Newest: true, Limit: 1})
	if err != nil || len(events) == 0 {
		return err
	}
	if decodeObject(events[0].Data)["hash"] != run.Hash {
		return fermata.Errorf(fermata.CodeIllegalTransition, "the run has another definition than it began with, or was moved to: it was changed in the database").
			WithHint("look at who writes the database: fermata audit verify")
	}
	return nil
}

// pinnedDefinition returns the definition of a run. It returns an error if the definition cannot be loaded. A
// definition that was valid when it was stored may break a rule that was added since then.
func (s *Service) pinnedDefinition(r store.Reader, run *fermata.WorkflowRun) (*definition.Workflow, error) {
	if err := checkPinned(r, run); err != nil {
		return nil, err
	}
	d, err := s.loadPinned(r, run.Workflow, run.Hash)
	if err == nil || fermata.CodeOf(err) == fermata.CodeUnavailable {
		return d, err
	}
	return nil, fermata.Errorf(fermata.CodeIllegalTransition, "the definition that the run is pinned to cannot be read: %s", joinProblems(err)).WithHint("%s", newRunHint)
}
