package docs_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"mvdan.cc/sh/v3/syntax"
)

// block is a block of shell commands on a page.
type block struct {
	page string
	// line is the line of its first command.
	line       int
	source     string
	statements []*syntax.Stmt
	// kind is sh if the test runs the block, and "sh no-run" if it does not. Then reason says why.
	kind, reason string
	// prepare holds commands that make what the page takes for granted. They are in a comment before the block.
	prepare string
	// output is the block of text behind it, which shows what its commands print.
	output string
}

// generatedPage has the examples of every command. A program writes it, so it does not count for the limit of blocks that
// do not run.
const generatedPage = "docs/reference/cli.md"

// wrongKinds are kinds of blocks that may hold commands, and do not say whether the test runs them.
var wrongKinds = []string{"", "bash", "console", "shell", "zsh"}

func (b block) isRun() bool { return b.kind == "sh" }

func (b block) isShell() bool { return b.isRun() || b.kind == "sh no-run" }

// TestBlocksAreMarked checks the marks of the shell blocks: sh, or sh no-run with the reason.
func TestBlocksAreMarked(t *testing.T) {
	t.Parallel()
	for _, blocks := range readBlocks(t) {
		for _, b := range blocks {
			switch {
			case !b.isShell():
				t.Errorf("%s:%d: the kind of the block is %q: write sh if the test can run it, or else sh no-run or text", b.page, b.line, b.kind)
			case !b.isRun() && b.reason == "":
				t.Errorf("%s:%d: write the reason before the block: <!-- not run: it needs … -->", b.page, b.line)
			}
		}
	}
}

// readBlocks returns the shell blocks of README.md and docs, by page.
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

// walkPage calls f for every node of a page.
func walkPage(t *testing.T, source []byte, f func(ast.Node)) {
	t.Helper()
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			f(n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
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
		b := block{page: name, source: linesOf(fence, source), kind: kindOf(fence, source)}
		if fence.Lines().Len() > 0 {
			b.line = 1 + bytes.Count(source[:fence.Lines().At(0).Start], []byte("\n"))
		}
		switch b.kind {
		case "sh":
			b.prepare, b.output = commentBefore(fence, source, "run first"), outputBehind(fence, source)
		case "sh no-run":
			b.reason = commentBefore(fence, source, "not run")
		}
		if b.isShell() || slices.Contains(wrongKinds, b.kind) {
			blocks = append(blocks, b)
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
	if shown, isFence := next.(*ast.FencedCodeBlock); isFence && kindOf(shown, source) == "text" {
		return linesOf(shown, source)
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
	whole := linesOf(comment, source)
	if comment.HasClosure() {
		whole += string(comment.ClosureLine.Value(source))
	}
	content, isKind := strings.CutPrefix(strings.TrimSpace(whole), "<!-- "+kind+":")
	if !isKind {
		return ""
	}
	return strings.TrimSpace(strings.TrimSuffix(content, "-->"))
}

// parseBlock parses the commands of a block.
func parseBlock(t *testing.T, b *block) {
	t.Helper()
	if !b.isShell() {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(b.source), b.page)
	if err != nil {
		t.Errorf("%s, the block at line %d: %v", b.page, b.line, err)
		return
	}
	b.statements = file.Stmts
}
