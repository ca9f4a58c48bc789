package docs_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// root is the folder of the repository.
const root = "../.."

// maxWords is the largest number of words that the pages in docs may have together. Nobody would read more.
const maxWords = 25_000

// uncountedPages are the pages that a program writes, and the one that answers the questions of a standard.
var uncountedPages = []string{
	"docs/inside/asvs.md", "docs/inside/benchmarks.md", "docs/inside/dependencies.md", "docs/inside/states.md", "docs/reference/cli.md", "docs/reference/permissions.md",
}

// TestLinksLeadSomewhere checks every relative link of every page: its file exists, and its anchor is a heading there.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	links := 0
	for path, p := range pages {
		for _, link := range p.links {
			target, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: the link %q is no address: %v", path, link, err)
				continue
			}
			if target.IsAbs() || target.Host != "" {
				continue
			}
			links++
			file := path
			if target.Path != "" {
				file = filepath.Join(filepath.Dir(path), target.Path)
			}
			if problem := pages.find(file, target.Fragment); problem != "" {
				t.Errorf("%s: the link %s leads nowhere: %s", path, link, problem)
			}
		}
	}
	if links < 100 {
		t.Errorf("only %d links were found", links)
	}
}

// TestPathsOfPagesExist checks the paths of pages that the program, its comments and the pages name, such as
// docs/inside/contract.md#task-states. Tests are left out: a test that reads a page fails by itself.
func TestPathsOfPagesExist(t *testing.T) {
	t.Parallel()
	pages := readPages(t)
	path := regexp.MustCompile(`(?:^|[^/\w])(docs/[\w/.-]+\.(?:md|yaml))(?:#([\w-]+))?`)
	kinds := []string{".go", ".md", ".mjs", ".sh", ".ts", ".tsx", ".yaml", "Makefile"}
	found := 0
	walkFiles(t, func(name string) {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || !slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasSuffix(base, kind) }) {
			return
		}
		for _, m := range path.FindAllStringSubmatch(readFile(t, name), -1) {
			found++
			if problem := pages.find(m[1], m[2]); problem != "" {
				t.Errorf("%s names %s: %s", name, m[1], problem)
			}
		}
	})
	if found < 50 {
		t.Errorf("only %d paths were found", found)
	}
}

// TestPagesAreShort counts the words of the pages in docs. Fenced code, comments, generated pages and the page about ASVS
// do not count.
func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	words := 0
	for path, p := range readPages(t) {
		if strings.HasPrefix(path, "docs/") && !slices.Contains(uncountedPages, path) {
			words += countWords(p.source)
		}
	}
	if words > maxWords {
		t.Errorf("the pages in docs have %d words, %d more than %d: shorten some, or link to a page that says it already", words, words-maxWords, maxWords)
	}
	t.Logf("the pages in docs have %d words of %d", words, maxWords)
}

// page is a Markdown file.
type page struct {
	source string
	// anchors are the anchors that GitHub gives to the headings.
	anchors []string
	// links are the addresses of links and pictures as they are written.
	links []string
}

// pageSet holds pages by their path below the root.
type pageSet map[string]page

// readPages returns every Markdown file of the repository that is not the data of a test.
func readPages(t *testing.T) pageSet {
	t.Helper()
	pages := pageSet{}
	walkFiles(t, func(name string) {
		if filepath.Ext(name) == ".md" {
			pages[name] = parsePage(t, readFile(t, name))
		}
	})
	return pages
}

// pictureSource finds the addresses of pictures in HTML.
var pictureSource = regexp.MustCompile(`\ssrc(?:set)?="([^"]+)"`)

func parsePage(t *testing.T, source string) page {
	t.Helper()
	p := page{source: source}
	walkPage(t, []byte(source), func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading:
			p.addAnchor(headingText(n, []byte(source)))
		case *ast.Link:
			p.links = append(p.links, string(n.Destination))
		case *ast.Image:
			p.links = append(p.links, string(n.Destination))
		case *ast.HTMLBlock:
			for _, m := range pictureSource.FindAllSubmatch(n.Lines().Value([]byte(source)), -1) {
				p.links = append(p.links, string(m[1]))
			}
		}
	})
	return p
}

// addAnchor adds the anchor of a heading: lower case, without punctuation, a hyphen for each space, and a number if an
// earlier heading has the same one.
func (p *page) addAnchor(heading string) {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	unique := anchor
	for i := 1; slices.Contains(p.anchors, unique); i++ {
		unique = anchor + "-" + strconv.Itoa(i)
	}
	p.anchors = append(p.anchors, unique)
}

// headingText returns the text of a node without its markup.
func headingText(n ast.Node, source []byte) string {
	var sb strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if part, ok := child.(*ast.Text); ok {
			sb.Write(part.Value(source))
			continue
		}
		sb.WriteString(headingText(child, source))
	}
	return sb.String()
}

// find returns "" if the file exists and has the anchor, and otherwise the problem. An empty anchor is the whole file.
func (s pageSet) find(file, anchor string) string {
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return "there is no file " + file
	}
	if anchor != "" && !slices.Contains(s[file].anchors, anchor) {
		return file + " has no heading with the anchor " + anchor
	}
	return ""
}

var htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)

// countWords counts the words that have a letter or a digit. It leaves out fenced code, and comments that no reader sees.
func countWords(source string) int {
	words, inCode := 0, false
	for line := range strings.Lines(htmlComment.ReplaceAllString(source, "")) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			inCode = !inCode
			continue
		}
		if inCode {
			continue
		}
		for _, word := range strings.Fields(line) {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				words++
			}
		}
	}
	return words
}

// walkFiles calls f for every file, with its path below the root. It leaves out hidden folders, data of tests, and
// installed or built files.
func walkFiles(t *testing.T, f func(name string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if path != root && (strings.HasPrefix(base, ".") || slices.Contains([]string{"bin", "dist", "node_modules", "testdata"}, base)) {
				return filepath.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
