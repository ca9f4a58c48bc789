package workflow

import (
	"fmt"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// mermaid returns a graph in the language of Mermaid. Nodes are numbered,
// because the names of steps may be words of that language.
func mermaid(g *fermata.WorkflowGraph) string {
	lines := []string{"flowchart TD"}
	numbers, phase := map[string]string{}, ""
	for i, n := range g.Nodes {
		numbers[n.ID] = fmt.Sprintf("n%d", i)
		open, shut := "[", "]"
		switch n.Kind {
		case nodeStart, nodeEnd:
			open, shut = "([", "])"
		case nodeQuestion:
			open, shut = "{{", "}}"
		case nodeChild:
			open, shut = "[[", "]]"
		}
		label := mermaidText(n.ID)
		if n.Kind == nodeTimeout && n.Tool != "" {
			label = mermaidText(n.Tool)
		} else if n.Tool != "" {
			label += "<br/>" + mermaidText(n.Tool)
		}
		if n.Condition != "" {
			label += "<br/>if " + mermaidText(n.Condition)
		}
		lines = append(lines, phaseLines(phase, n.Phase)...)
		phase = n.Phase
		lines = append(lines, fmt.Sprintf(`    n%d%s"%s"%s`, i, open, label, shut))
	}
	for _, e := range g.Edges {
		arrow := "-->"
		if e.Back {
			arrow = "-.->"
		}
		if !isPlainLabel(e.Label) {
			arrow += `|"` + mermaidText(e.Label) + `"|`
		}
		lines = append(lines, fmt.Sprintf("    %s %s %s", numbers[e.From], arrow, numbers[e.To]))
	}
	return strings.Join(lines, "\n")
}

// phaseLines ends the group of one list of steps, and begins the group of the
// next list.
func phaseLines(before, now string) (lines []string) {
	if before == now {
		return nil
	}
	if before != "" {
		lines = append(lines, "    end")
	}
	if now != "" {
		lines = append(lines, "    subgraph "+now)
	}
	return lines
}

// mermaidText escapes characters that would end a label or be drawn as markup.
func mermaidText(text string) string {
	return strings.NewReplacer(
		"&", "#amp;", "#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "`", "#96;", "|", "#124;",
	).Replace(terminal.OneLine(text))
}
