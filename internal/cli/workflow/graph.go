package workflow

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/drawing"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

type graphCommand struct {
	Name    string `arg:"" name:"name|file|run" complete:"workflow,run" help:"Name of a workflow, a file with a definition, or a run."`
	Mermaid bool   `help:"As a Mermaid flowchart, which GitHub and many editors draw."`
	Plain   bool   `help:"Plain letters instead of symbols and lines."`
}

func (graphCommand) Help() string {
	return `The steps stand in the order of the file; what leads elsewhere stands below a step, with the reason. A file needs no server.

Examples:

    fermata workflow graph autofix
    fermata workflow graph ./autofix.yaml
    fermata workflow graph autofix --mermaid`
}

func (c *graphCommand) Run(ctx context.Context, s *session.Session, local Local) error {
	g, err := c.read(ctx, s, local)
	if err != nil {
		return err
	}
	switch {
	case s.JSON:
		return s.WriteJSON(g)
	case c.Mermaid:
		s.Stdout().Line("%s", mermaid(g))
	default:
		printGraph(s, g, drawing.ChooseMarks(&s.Console, c.Plain), "")
	}
	return nil
}

func (c *graphCommand) read(ctx context.Context, s *session.Session, local Local) (*fermata.WorkflowGraph, error) {
	if _, err := os.Stat(c.Name); err == nil || c.Name == "-" {
		return c.readFile(s, local)
	}
	w, run, err := findWorkflowOrRun(ctx, s, c.Name)
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

func (c *graphCommand) readFile(s *session.Session, local Local) (*fermata.WorkflowGraph, error) {
	source, err := readSource(s, c.Name)
	if err != nil {
		return nil, err
	}
	check, err := local.checkSource(source)
	if err != nil {
		return nil, err
	}
	if !check.Valid || check.Graph == nil {
		return nil, reportRefusedFile(s, c.Name, check, "there is nothing to draw")
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
func printGraph(s *session.Session, g *fermata.WorkflowGraph, m drawing.Marks, indent string) {
	if g == nil {
		s.Stdout().Line("%sthe definition cannot be read any more", indent)
		return
	}
	for _, line := range drawGraph(g, m) {
		s.Stdout().Line("%s", s.Fit(indent+line))
	}
}

// graphDrawing is a graph that is drawn as lines.
type graphDrawing struct {
	marks     drawing.Marks
	nodes     map[string]fermata.GraphNode
	edgesFrom map[string][]fermata.GraphEdge
	// order holds the nodes from top to bottom.
	order []fermata.GraphNode
	lines []string
}

func drawGraph(g *fermata.WorkflowGraph, m drawing.Marks) []string {
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
		width = max(width, len([]rune(terminal.OneLine(n.ID))))
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
		tool = "  " + terminal.OneLine(n.Tool)
	}
	d.lines = append(d.lines, strings.TrimRight(d.symbol(n)+" "+pad(terminal.OneLine(n.ID), width)+tool, " "))
	rail, hasNextEdge := strings.Repeat(" ", len([]rune(d.marks.Down))), false
	var otherEdges []string
	for _, e := range joinEdges(d.edgesFrom[n.ID]) {
		isNextEdge := e.To == next && !e.Back
		hasNextEdge = hasNextEdge || isNextEdge
		if !isNextEdge || !isPlainLabel(e.Label) {
			otherEdges = append(otherEdges, d.edgeText(e))
		}
	}
	if hasNextEdge {
		rail = d.marks.Down
	}
	if n.Condition != "" {
		d.lines = append(d.lines, rail+"  if "+terminal.OneLine(n.Condition))
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
	arrow := d.marks.Jump
	if e.Back {
		arrow = d.marks.Back
	}
	text := arrow + " " + d.nodeName(e.To)
	if !isPlainLabel(e.Label) {
		text = terminal.OneLine(e.Label) + " " + text
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
		return terminal.OneLine(n.Tool)
	}
	return terminal.OneLine(id)
}

func (d *graphDrawing) symbol(n fermata.GraphNode) string {
	switch n.Kind {
	case nodeStart:
		return d.marks.Begin
	case nodeEnd:
		return d.marks.End
	case nodeQuestion:
		return d.marks.Ask
	case nodeChild:
		return d.marks.Child
	default:
		return d.marks.Box
	}
}
