package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

type workflowGraphCommand struct {
	Name    string `arg:"" name:"name|file|run" complete:"workflow,run" help:"Name of a workflow, a file with a definition, or a run."`
	Mermaid bool   `help:"As a Mermaid flowchart, which GitHub and many editors draw."`
	Plain   bool   `help:"Plain letters instead of symbols and lines."`
}

func (workflowGraphCommand) Help() string {
	return `The steps stand in the order of the file; what leads elsewhere stands below a step, with the reason. A file needs no server.

Examples:

    fermata workflow graph autofix
    fermata workflow graph ./autofix.yaml
    fermata workflow graph autofix --mermaid`
}

func (c *workflowGraphCommand) Run(ctx context.Context, s *session, local workflowLocal) error {
	g, err := c.read(ctx, s, local)
	if err != nil {
		return err
	}
	switch {
	case s.JSON:
		return s.writeJSON(g)
	case c.Mermaid:
		s.stdout().line("%s", mermaid(g))
	default:
		s.printGraph(g, s.marks(c.Plain), "")
	}
	return nil
}

func (c *workflowGraphCommand) read(ctx context.Context, s *session, local workflowLocal) (*fermata.WorkflowGraph, error) {
	if _, err := os.Stat(c.Name); err == nil || c.Name == "-" {
		return c.readFile(s, local)
	}
	w, run, err := s.findWorkflowOrRun(ctx, c.Name)
	if err != nil {
		return nil, err
	}
	var g *fermata.WorkflowGraph
	if run != nil {
		g = run.Graph
	} else {
		g = w.Graph
	}
	if g == nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the definition cannot be read any more").
			WithHint("fermata workflow show %s says what is wrong with it", c.Name)
	}
	return g, nil
}

func (c *workflowGraphCommand) readFile(s *session, local workflowLocal) (*fermata.WorkflowGraph, error) {
	source, err := s.readSource(c.Name)
	if err != nil {
		return nil, err
	}
	check, err := local.checkSource(source)
	if err != nil {
		return nil, err
	}
	if !check.Valid || check.Graph == nil {
		return nil, s.reportRefusedFile(c.Name, check, "there is nothing to draw")
	}
	return check.Graph, nil
}

// Kinds of nodes in a graph.
const (
	nodeStart    = "start"
	nodeQuestion = "question"
	nodeChild    = "child"
	nodeTimeout  = "timeout"
	nodeEnd      = "end"
)

// isStep reports whether a node is a step of the file.
func isStep(n fermata.GraphNode) bool {
	return n.Kind != nodeStart && n.Kind != nodeEnd && n.Kind != nodeTimeout
}

// printGraph draws the steps below each other. The line between two steps is the
// edge to the next step. Every other edge stands below its step.
func (s *session) printGraph(g *fermata.WorkflowGraph, m marks, indent string) {
	if g == nil {
		s.stdout().line("%sthe definition cannot be read any more", indent)
		return
	}
	for _, line := range drawGraph(g, m) {
		s.stdout().line("%s", s.fit(indent+line))
	}
}

// graphDrawing is a graph that is drawn as lines.
type graphDrawing struct {
	marks     marks
	nodes     map[string]fermata.GraphNode
	edgesFrom map[string][]fermata.GraphEdge
	// order holds the nodes from top to bottom.
	order []fermata.GraphNode
	lines []string
}

func drawGraph(g *fermata.WorkflowGraph, m marks) []string {
	d := &graphDrawing{marks: m, nodes: map[string]fermata.GraphNode{}, edgesFrom: map[string][]fermata.GraphEdge{}}
	for _, n := range g.Nodes {
		d.nodes[n.ID] = n
		if n.Kind != nodeTimeout {
			d.order = append(d.order, n)
		}
	}
	for _, e := range g.Edges {
		d.edgesFrom[e.From] = append(d.edgesFrom[e.From], e)
	}
	width := 0
	for _, n := range d.order {
		width = max(width, len([]rune(oneLine(n.ID))))
	}
	phase := ""
	for i, n := range d.order {
		if n.Phase != phase && n.Phase != "" {
			d.lines = append(d.lines, n.Phase+":")
		}
		phase = n.Phase
		next := ""
		if i+1 < len(d.order) {
			next = d.order[i+1].ID
		}
		d.drawNode(n, next, width)
	}
	return d.lines
}

func (d *graphDrawing) drawNode(n fermata.GraphNode, next string, width int) {
	tool := ""
	if n.Tool != "" {
		tool = "  " + oneLine(n.Tool)
	}
	d.lines = append(d.lines, strings.TrimRight(d.symbol(n)+" "+pad(oneLine(n.ID), width)+tool, " "))
	rail, hasNextEdge := strings.Repeat(" ", len([]rune(d.marks.down))), false
	var otherEdges []string
	for _, e := range joinEdges(d.edgesFrom[n.ID]) {
		isNextEdge := e.To == next && !e.Back
		hasNextEdge = hasNextEdge || isNextEdge
		if !isNextEdge || !isPlainLabel(e.Label) {
			otherEdges = append(otherEdges, d.edgeText(e))
		}
	}
	if hasNextEdge {
		rail = d.marks.down
	}
	if n.Condition != "" {
		d.lines = append(d.lines, rail+"  if "+oneLine(n.Condition))
	}
	for _, text := range otherEdges {
		d.lines = append(d.lines, rail+"  "+text)
	}
	if next != "" {
		d.lines = append(d.lines, strings.TrimRight(rail, " "))
	}
}

// joinEdges joins edges that lead to the same node, with both labels.
func joinEdges(edges []fermata.GraphEdge) []fermata.GraphEdge {
	var list []fermata.GraphEdge
	for _, e := range edges {
		i := slices.IndexFunc(list, func(other fermata.GraphEdge) bool { return other.To == e.To && other.Back == e.Back })
		if i >= 0 && !isPlainLabel(list[i].Label) && !isPlainLabel(e.Label) {
			list[i].Label += ", " + e.Label
			continue
		}
		list = append(list, e)
	}
	return list
}

// isPlainLabel reports whether a label adds nothing to the line.
func isPlainLabel(label string) bool { return label == "" || label == "next" }

// edgeText returns where an edge leads, past the node of a timeout.
func (d *graphDrawing) edgeText(e fermata.GraphEdge) string {
	arrow := d.marks.jump
	if e.Back {
		arrow = d.marks.back
	}
	text := arrow + " " + d.nodeName(e.To)
	if !isPlainLabel(e.Label) {
		text = oneLine(e.Label) + " " + text
	}
	if d.nodes[e.To].Kind != nodeTimeout {
		return text
	}
	for _, next := range d.edgesFrom[e.To] {
		text += " " + d.edgeText(fermata.GraphEdge{To: next.To, Back: next.Back})
		break
	}
	return text
}

// nodeName returns the name of a node. For the node of a timeout it is the tool.
func (d *graphDrawing) nodeName(id string) string {
	if n := d.nodes[id]; n.Kind == nodeTimeout && n.Tool != "" {
		return oneLine(n.Tool)
	}
	return oneLine(id)
}

func (d *graphDrawing) symbol(n fermata.GraphNode) string {
	switch n.Kind {
	case nodeStart:
		return d.marks.begin
	case nodeEnd:
		return d.marks.end
	case nodeQuestion:
		return d.marks.ask
	case nodeChild:
		return d.marks.child
	default:
		return d.marks.box
	}
}
