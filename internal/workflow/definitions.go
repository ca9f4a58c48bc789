package workflow

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/internal/tool"
	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// Definition is a request to store a workflow.
type Definition struct {
	Source  string `json:"source" minLength:"1" maxLength:"262144" doc:"the definition as YAML"`
	Enabled *bool  `json:"enabled,omitempty" doc:"false: no trigger starts a run; left out: as before, true for a new one"`
}

func projectOrDefault(project string) string {
	if project == "" {
		return fermata.DefaultProject
	}
	return project
}

// Validate checks a definition without storing it.
func (s *Service) Validate(ctx context.Context, c fermata.Caller, source string) (fermata.WorkflowCheck, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return fermata.WorkflowCheck{}, err
	}
	known, err := s.catalog(ctx, c)
	if err != nil {
		return fermata.WorkflowCheck{}, err
	}
	w, problems := definition.Load([]byte(source), known)
	return newCheck(w, problems), nil
}

// Check checks a definition without a server. It knows the built-in tools and the given ones. A definition may also
// name other tools, because a server may have them.
func Check(source []byte, tools []tool.Info) fermata.WorkflowCheck {
	w, problems := definition.Load(source, offlineCatalog(tools))
	return newCheck(w, problems)
}

// offlineCatalog returns the catalog for a check without a server. It has the given tools and the built-in ones, and
// allows any other tool.
func offlineCatalog(tools []tool.Info) definition.Catalog {
	known := definition.Catalog{Tools: maps.Clone(builtInByName), AllowUnknownTools: true}
	maps.Copy(known.Tools, infosByName(tools))
	return known
}

func newCheck(w *definition.Workflow, problems []definition.Problem) fermata.WorkflowCheck {
	v := fermata.WorkflowCheck{Valid: w != nil, Problems: toWireProblems(problems)}
	if w != nil {
		v.Name, v.Graph = w.Name, graphOf(w)
	}
	return v
}

func toWireProblems(problems []definition.Problem) []fermata.DefinitionProblem {
	out := make([]fermata.DefinitionProblem, 0, len(problems))
	for _, p := range problems {
		out = append(out, fermata.DefinitionProblem(p))
	}
	return out
}

func graphOf(w *definition.Workflow) *fermata.WorkflowGraph {
	g := w.Graph()
	out := &fermata.WorkflowGraph{Nodes: make([]fermata.GraphNode, 0, len(g.Nodes)), Edges: make([]fermata.GraphEdge, 0, len(g.Edges))}
	for _, n := range g.Nodes {
		out.Nodes = append(out.Nodes, fermata.GraphNode{ID: n.ID, Kind: n.Kind, Tool: n.Tool, Phase: n.Phase, Condition: n.Condition})
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, fermata.GraphEdge(e))
	}
	return out
}

// Put stores a definition under its name. If name is not "", it must be the name in the definition. Runs that are under
// way keep the definition with which they began.
func (s *Service) Put(ctx context.Context, c fermata.Caller, name string, d Definition) (*fermata.Workflow, error) {
	known, err := s.catalog(ctx, c)
	if err != nil {
		return nil, err
	}
	w, problems := definition.Load([]byte(d.Source), known)
	if w == nil {
		return nil, definitionError(problems)
	}
	if err := c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(w.Project)); err != nil {
		return nil, err
	}
	if name != "" && w.Name != name {
		return nil, fermata.Invalid(fermata.Problem{Field: "source", Message: fmt.Sprintf("is named %q, not %q", w.Name, name)})
	}
	// Events from before this change must not start runs of the new definition.
	if err := s.startAllTriggered(ctx, c.WorkspaceID); err != nil {
		return nil, err
	}
	storedWorkflow, err := engine.Write(ctx, s.e, c, fermata.ToDefineWorkflow, func(tx *store.Tx) (*fermata.Workflow, error) {
		return s.saveDefinition(tx, c, w, d)
	})
	if err != nil {
		return nil, err
	}
	storedWorkflow.Source, storedWorkflow.Graph, storedWorkflow.Warnings = d.Source, graphOf(w), toWireProblems(problems)
	s.setWebhookURLs(storedWorkflow)
	return storedWorkflow, nil
}

// definitionError returns an error that lists every problem with its line and column.
func definitionError(problems []definition.Problem) error {
	var all []fermata.Problem
	for _, p := range problems {
		if p.Warning {
			continue
		}
		message := p.Message
		if p.Hint != "" {
			message += " – " + p.Hint
		}
		all = append(all, fermata.Problem{Field: fmt.Sprintf("source:%d:%d", p.Line, p.Column), Message: message})
	}
	return fermata.Invalid(all...).WithHint("fermata workflow validate shows the lines")
}

func (s *Service) saveDefinition(tx *store.Tx, c fermata.Caller, w *definition.Workflow, d Definition) (*fermata.Workflow, error) {
	next := &fermata.Workflow{Name: w.Name, Enabled: true, CreatedAt: tx.Now()}
	before, err := tx.Workflow(w.Name)
	switch {
	case err == nil && !c.VisibleProjects().Has(before.Project):
		return nil, fermata.Invalid(fermata.Problem{Field: "name", Message: "is taken"})
	case err == nil:
		// To move a workflow to another project, the caller must be allowed to change it in its current project.
		if err := c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(before.Project)); err != nil {
			return nil, err
		}
		*next = *before
	case fermata.CodeOf(err) != fermata.CodeNotFound:
		return nil, err
	}
	next.WorkspaceID, next.Hash, next.Description, next.Project = tx.Workspace(), definition.Hash([]byte(d.Source)), w.Description, projectOrDefault(w.Project)
	if d.Enabled != nil {
		next.Enabled = *d.Enabled
	}
	next.Triggers, next.Inputs = toWireTriggers(w), toWireInputs(w)
	if next.WebhookSecret == "" && slices.ContainsFunc(w.Triggers, func(t definition.Trigger) bool { return t.Type == definition.Webhook && t.Auth != definition.AuthNone }) {
		next.WebhookSecret = newSecret()
	}
	next.HasWebhookSecret = next.WebhookSecret != ""
	tx.SaveDefinition(w.Name, next.Hash, d.Source, c.Actor())
	return next, s.saveWithTriggers(tx, c, next, w)
}

// saveWithTriggers saves a workflow together with its triggers and schedules, and appends the event of the change.
func (s *Service) saveWithTriggers(tx *store.Tx, c fermata.Caller, w *fermata.Workflow, d *definition.Workflow) error {
	w.UpdatedBy, w.UpdatedAt = c.Actor(), tx.Now()
	tx.SaveWorkflow(w)
	schedules, err := scheduleRows(tx, d, w.Enabled)
	if err != nil {
		return err
	}
	tx.SetSchedules(w.Name, schedules)
	w.Triggers = addNextTimes(w.Triggers, schedules)
	tx.Append(&fermata.Event{
		Type: fermata.EventWorkflowChanged, Actor: c.Actor(),
		Data: encodeJSON(map[string]any{"workflow": w.Name, "hash": w.Hash, "enabled": w.Enabled, "project": w.Project}),
	})
	return s.startFollowingEvents(tx, d, w.Enabled)
}

// SetEnabled sets whether triggers may start runs of a workflow. Events from the time while it was disabled start nothing.
func (s *Service) SetEnabled(ctx context.Context, c fermata.Caller, name string, enabled bool) (*fermata.Workflow, error) {
	w, err := s.readerFor(ctx, c).Workflow(name)
	if err == nil {
		err = c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(w.Project))
	}
	if err == nil && enabled {
		err = s.startAllTriggered(ctx, c.WorkspaceID)
	}
	if err != nil {
		return nil, err
	}
	_, err = engine.Write(ctx, s.e, c, fermata.ToDefineWorkflow, func(tx *store.Tx) (struct{}, error) {
		w, err := tx.Workflow(name)
		if err != nil || w.Enabled == enabled {
			return struct{}{}, err
		}
		if err := c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(w.Project)); err != nil {
			return struct{}{}, err
		}
		d, err := s.loadPinned(tx.Reader, name, w.Hash)
		if err != nil {
			return struct{}{}, err
		}
		w.Enabled = enabled
		return struct{}{}, s.saveWithTriggers(tx, c, w, d)
	})
	if err != nil {
		return nil, err
	}
	return s.Workflow(ctx, c, name, "")
}

// newSecret returns a random secret in the format of Standard Webhooks.
func newSecret() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // rand.Read never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(raw)
}

// Workflow returns a workflow with its source. If hash is not "", the source is the version of that hash instead of the
// current one.
func (s *Service) Workflow(ctx context.Context, c fermata.Caller, name, hash string) (*fermata.Workflow, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := s.readerFor(ctx, c)
	w, err := r.Workflow(name)
	if err != nil {
		return nil, err
	}
	if hash != "" {
		w.Hash = hash
	}
	if w.Source, err = r.Definition(name, w.Hash); err != nil {
		return nil, err
	}
	known, err := s.catalog(ctx, c)
	if err != nil {
		return nil, err
	}
	d, problems := definition.Load([]byte(w.Source), known)
	w.Warnings = toWireProblems(problems)
	if visible := c.VisibleProjects(); hash != "" && !visible.HasAll() && (d == nil || !visible.Has(projectOrDefault(d.Project))) {
		// An earlier workflow of this name may have belonged to another project.
		return nil, fermata.NotFound("definition", name+"@"+hash)
	}
	if d == nil {
		// Rules that are newer than the definition refuse it, or a tool of it is gone. Its runs go on all the same.
		d, _ = s.loadPinned(r, name, w.Hash)
	}
	if d != nil {
		w.Graph = graphOf(d)
	}
	schedules, err := r.Schedules(name)
	if err != nil {
		return nil, err
	}
	w.Triggers = addNextTimes(w.Triggers, schedules)
	s.setWebhookURLs(w)
	return w, nil
}

// setWebhookURLs sets the webhook URLs of a workflow's triggers.
func (s *Service) setWebhookURLs(w *fermata.Workflow) {
	for i := range w.Triggers {
		if w.Triggers[i].Type == fermata.TriggerWebhook {
			w.Triggers[i].URL = s.PublicURL + "/v1/hooks/workflow/" + w.Name
		}
	}
}

// Workflows returns all workflows, each with its newest run.
func (s *Service) Workflows(ctx context.Context, c fermata.Caller) ([]*fermata.Workflow, error) {
	if err := c.CheckPermission(fermata.ToReadWorkflows, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := s.readerFor(ctx, c)
	all, err := r.Workflows()
	if err != nil {
		return nil, err
	}
	schedules, err := r.Schedules("")
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		w.Triggers = addNextTimes(w.Triggers, slices.Collect(func(yield func(store.Schedule) bool) {
			for _, sc := range schedules {
				if sc.Workflow == w.Name && !yield(sc) {
					return
				}
			}
		}))
		s.setWebhookURLs(w)
		runs, err := r.WorkflowRuns(store.WorkflowRunFilter{Workflow: w.Name, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(runs) > 0 {
			w.LastRun = runs[0]
			prepareForDisplay(w.LastRun)
		}
	}
	return all, nil
}

// Delete removes a workflow. Its runs continue and stay visible.
func (s *Service) Delete(ctx context.Context, c fermata.Caller, name string) error {
	w, err := s.readerFor(ctx, c).Workflow(name)
	if err != nil {
		return err
	}
	if err := c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(w.Project)); err != nil {
		return err
	}
	_, err = engine.Write(ctx, s.e, c, fermata.ToDefineWorkflow, func(tx *store.Tx) (struct{}, error) {
		w, err := tx.Workflow(name)
		if err == nil {
			err = c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(w.Project))
		}
		if err != nil {
			return struct{}{}, err
		}
		tx.DeleteWorkflow(name)
		tx.Append(&fermata.Event{Type: fermata.EventWorkflowRemoved, Actor: c.Actor(), Data: encodeJSON(map[string]any{"workflow": name})})
		return struct{}{}, nil
	})
	return err
}

// NewWebhookSecret replaces the secret that signs the calls of a webhook, and returns it once. If the call is repeated
// with the same idempotency key, the secret is "".
func (s *Service) NewWebhookSecret(ctx context.Context, c fermata.Caller, name string) (string, error) {
	secret, replaced := newSecret(), false
	_, err := engine.Write(ctx, s.e, c, fermata.ToDefineWorkflow, func(tx *store.Tx) (struct{}, error) {
		replaced = true
		w, err := tx.WithVisibleProjects(c.VisibleProjects()).Workflow(name)
		if err == nil {
			err = c.CheckPermission(fermata.ToDefineWorkflow, fermata.InProject(w.Project))
		}
		if err != nil {
			return struct{}{}, err
		}
		w.WebhookSecret, w.UpdatedBy, w.UpdatedAt = secret, c.Actor(), tx.Now()
		tx.SaveWorkflow(w)
		tx.Append(&fermata.Event{
			Type: fermata.EventWorkflowChanged, Actor: c.Actor(), Data: encodeJSON(map[string]any{"workflow": name, "webhook_secret": "replaced"}),
		})
		return struct{}{}, nil
	})
	if err != nil || !replaced {
		return "", err
	}
	return secret, nil
}

func infosByName(all []tool.Info) map[string]tool.Info {
	byName := map[string]tool.Info{}
	for _, i := range all {
		byName[i.Name] = i
	}
	return byName
}
