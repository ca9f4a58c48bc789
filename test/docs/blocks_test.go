package docs_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	"mvdan.cc/sh/v3/syntax"
)

// block is a block of shell commands on a page.
type block struct {
	page string
	// line is the line of its first command.
	line       int
	source     string
	statements []*syntax.Stmt
	// isRun reports whether the test runs the block. If not, reason says why.
	isRun  bool
	reason string
	// prepare holds commands that make what the page takes for granted. They are in a comment before the block.
	prepare string
	// output is the block of text behind it, which shows what its commands print.
	output string
}

// generatedPage has the examples of every command. A program writes it, so it does not count for the limit of blocks that
// do not run.
const generatedPage = "docs/reference/cli.md"

// readBlocks returns the shell blocks of README.md and docs, by page. It parses them, and checks the marks of those that
// do not run.
func readBlocks(t *testing.T) map[string][]block {
	t.Helper()
	blocks := map[string][]block{}
	pages := readPages(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		if isDocumentation(name) {
			for _, b := range findBlocks(t, name, []byte(pages[name].source)) {
				parseBlock(t, &b)
				blocks[name] = append(blocks[name], b)
			}
		}
	}
	return blocks
}

// isDocumentation reports whether a page belongs to README.md and docs.
func isDocumentation(name string) bool {
	return name == "README.md" || strings.HasPrefix(name, "docs/")
}

// findBlocks returns the shell blocks of a page.
func findBlocks(t *testing.T, name string, source []byte) []block {
	t.Helper()
	var blocks []block
	walkPage(t, source, func(n ast.Node) {
		fence, isFence := n.(*ast.FencedCodeBlock)
		if !isFence {
			return
		}
		b := block{page: name, source: linesOf(fence, source), reason: commentBefore(fence, source, "not run")}
		if fence.Lines().Len() > 0 {
			b.line = 1 + bytes.Count(source[:fence.Lines().At(0).Start], []byte("\n"))
		}
		switch kind := kindOf(fence, source); kind {
		case "sh":
			b.isRun = true
			b.prepare = commentBefore(fence, source, "run first")
			b.output = outputBehind(fence, source)
			blocks = append(blocks, b)
		case "sh no-run":
			if b.reason == "" {
				t.Errorf("%s:%d: write the reason before the block: <!-- not run: it needs … -->", name, b.line)
			}
			blocks = append(blocks, b)
		case "bash", "console", "shell", "zsh", "":
			t.Errorf("%s:%d: the kind of the block is %q: write sh if the test can run it, or else sh no-run or text", name, b.line, kind)
		}
	})
	return blocks
}

// outputBehind returns the block of text that follows a shell block, at once or behind a paragraph that ends with
// "prints:", and "" if there is none.
func outputBehind(n ast.Node, source []byte) string {
	next := n.NextSibling()
	if paragraph, isParagraph := next.(*ast.Paragraph); isParagraph && strings.HasSuffix(strings.TrimSpace(linesOf(paragraph, source)), "prints:") {
		next = next.NextSibling()
	}
	if text, isFence := next.(*ast.FencedCodeBlock); isFence && kindOf(text, source) == "text" {
		return linesOf(text, source)
	}
	return ""
}

// kindOf returns the text behind the backquotes that begin a block.
func kindOf(fence *ast.FencedCodeBlock, source []byte) string {
	if fence.Info == nil {
		return ""
	}
	return string(fence.Info.Segment.Value(source))
}

// linesOf returns the lines of a block.
func linesOf(n ast.Node, source []byte) string { return string(n.Lines().Value(source)) }

// commentBefore returns the text of the comment before a block, such as <!-- not run: TEXT -->, and "" if there is no
// comment of this kind.
func commentBefore(n ast.Node, source []byte, kind string) string {
	comment, isHTML := n.PreviousSibling().(*ast.HTMLBlock)
	if !isHTML {
		return ""
	}
	text := linesOf(comment, source)
	if comment.HasClosure() {
		text += string(comment.ClosureLine.Value(source))
	}
	text, isKind := strings.CutPrefix(strings.TrimSpace(text), "<!-- "+kind+": ")
	if !isKind {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(text, "-->"))
}

// parseBlock parses the commands of a block.
func parseBlock(t *testing.T, b *block) {
	t.Helper()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(b.source), b.page)
	if err != nil {
		t.Errorf("%s, the block at line %d: %v", b.page, b.line, err)
		return
	}
	b.statements = file.Stmts
}
