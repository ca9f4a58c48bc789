package definition

import "slices"

// Kinds of nodes in a [Graph].
const (
	NodeStart    = "start"
	NodeStep     = "step"
	NodeQuestion = "question"
	NodeChild    = "child"
	NodeTimeout  = "timeout"
	NodeEnd      = "end"
)

// Graph holds the steps of a workflow and the edges between them.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a step, the start, the end, or the action at a timeout.
type Node struct {
	// ID is the id of the step, start or end. The action at a timeout has the
	// id of its step followed by .on_timeout.
	ID    string `json:"id"`
	Label string `json:"label"`
	// Kind is start, step, question, child, timeout or end.
	Kind string `json:"kind"`
	Tool string `json:"tool,omitempty"`
	// Phase is on_success, on_failure or finally; empty for the main steps.
	Phase string `json:"phase,omitempty"`
	// Condition is the text of the step's condition.
	Condition string `json:"condition,omitempty"`
}

// Edge leads from one node to another.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Label says when the edge is taken: answered, approved, rejected, timed
	// out, set aside, skipped, failed, again, or the value of an option.
	// Without a label, it is the usual way.
	Label string `json:"label,omitempty"`
	// Back says that the edge leads to the same step or an earlier one.
	Back bool `json:"back,omitempty"`
}

// Graph returns the steps and the edges between them.
func (w *Workflow) Graph() Graph {
	g := Graph{Nodes: []Node{{ID: "start", Label: "start", Kind: NodeStart}}}
	for _, first := range w.Roots(MainPhase) {
		g.Edges = append(g.Edges, Edge{From: "start", To: first.ID})
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		n := Node{ID: s.ID, Label: s.ID, Kind: kindOfStep(s), Tool: s.Tool, Phase: phaseOfNode(s)}
		if s.Condition != nil {
			n.Condition = s.Condition.String()
		}
		g.Nodes = append(g.Nodes, n)
		for _, m := range w.moves(i) {
			g.add(w, i, m)
		}
	}
	g.Nodes = append(g.Nodes, Node{ID: "end", Label: "end", Kind: NodeEnd})
	return g
}

// add adds an edge. If the step has an action at a timeout, the edge leads
// through the node of that action.
func (g *Graph) add(w *Workflow, from int, m move) {
	s := &w.Steps[from]
	e := Edge{From: s.ID, Label: m.label, Back: m.to <= from}
	if a := w.Timeout(s); m.label == "timed out" && a != nil && a.Tool != "" {
		id := s.ID + ".on_timeout"
		if !slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.ID == id }) {
			g.Nodes = append(g.Nodes, Node{ID: id, Label: a.Tool, Kind: NodeTimeout, Tool: a.Tool, Phase: phaseOfNode(s)})
		}
		if e.Label = ""; !slices.Contains(g.Edges, Edge{From: s.ID, To: id, Label: m.label}) {
			g.Edges = append(g.Edges, Edge{From: s.ID, To: id, Label: m.label})
		}
		e.From = id
	}
	for _, e.To = range w.targetNodes(s, m) {
		g.Edges = append(g.Edges, e)
	}
}

// targetNodes returns the nodes to which a move from a step leads.
func (w *Workflow) targetNodes(from *Step, m move) []string {
	if m.to < len(w.Steps) {
		return []string{w.Steps[m.to].ID}
	}
	failed := m.label == "rejected" || m.label == "timed out"
	for _, phase := range from.Phase.NextPhases(!failed) {
		if first := w.Roots(phase); len(first) > 0 {
			var ids []string
			for _, s := range first {
				ids = append(ids, s.ID)
			}
			return ids
		}
	}
	return []string{"end"}
}

func phaseOfNode(s *Step) string {
	if s.Phase == MainPhase {
		return ""
	}
	return string(s.Phase)
}

func kindOfStep(s *Step) string {
	switch s.Tool {
	case postQuestion, requestApproval:
		return NodeQuestion
	case "agent", "shell", "workflow":
		return NodeChild
	}
	return NodeStep
}
