package test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// bannedWords has the words that a reader who learned English at school may not know, and words that only this project
// used in their sense. In a pattern, a space matches any white space, also the end of a line. A pattern with a space has
// alternatives only in parentheses.
var bannedWords = []struct{ pattern, instead string }{
	{`who(m|so)?ever`, `"the person who …", "people who …"`},
	{`whichever`, `"the one that …", "any"`},
	{`wherever`, `"where", "everywhere"`},
	{`(hear|hears|heard|hearing) of`, `"is notified of", "gets a notification of", "learns of", "receives"`},
	{`(tell|tells|told|telling) of`, `"reports", "notifies … of", "is notified of"`},
	{`(come|comes|came|coming) to rest`, `"stops", "has no more work"`},
	{`rehears\w*`, `"tries", "dry run"`},
	{`(look|looks|looked|looking) again`, `"checks again", "reads again"`},
	{`in vain`, `"without success", "and nothing happens"`},
	{`anew|afresh`, `"again", "new"`},
	{`(there|where|here)(of|by|upon|from|unto|with)`, `"of it", "by this", "so"`},
	{`here(in|to|tofore|after)|where(in|fore)|therein|thence|thenceforth`, `"in this", "in which", "from there"`},
	{`hitherto|henceforth|forthwith|whence|whither|thither|hither|aforesaid`, `"until now", "from now on", "at once", "from where", "this"`},
	{`lest|albeit|ere|nought|naught|aught|alas`, `"so that … not", "although", "before", "nothing"`},
	{`amidst|amongst|whilst|oftentimes|notwithstanding|inasmuch|insofar`, `"among", "while", "often", "although", "as far as"`},
	{`overt(ake|akes|aken|aking|ook)`, `"came too late", "is older than", "did not count"`},
	{`mend(s|ed|ing)`, `"repairs", "fixes"`},
	{`(a|to|not) mend`, `"a fix", "to repair"`},
	{`mend (it|the|these|this|that)`, `"repair", "fix"`},
	{`meddl(e|es|ed|ing)`, `"changes"`},
	{`hasten(s|ed|ing)?`, `"makes earlier"`},
	{`out(last|lasts|lasted|weigh|weighs|weighed)`, `"ends after", "counts more than"`},
	{`surely|wholly|nevertheless|nonetheless|seldom`, `"certainly", "completely", "anyway", "rarely"`},
	{`lanes?`, `"track", "column"`},
}

// TestWordsAreKnown checks that no comment, text or page has a banned word.
func TestWordsAreKnown(t *testing.T) {
	t.Parallel()
	var found []string
	finder := newWordFinder()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		if entry.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git", "dist", "bin"}, entry.Name()) {
			return filepath.SkipDir
		}
		prose := proseReaders[filepath.Ext(name)]
		if entry.IsDir() || prose == nil || slices.Contains(wordlessFiles, name) {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if isGenerated(source) {
			return nil
		}
		for _, f := range finder.find(prose(source)) {
			found = append(found, fmt.Sprintf("%s:%d: %q; write %s", name, f.line, f.word, f.instead))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("%d words that readers may not know:\n%s", len(found), strings.Join(found, "\n"))
	}
}

// wordlessFiles are the files whose words are not ours to choose: the list of banned words itself, names that a test
// refuses, old releases, a standard that is quoted.
var wordlessFiles = []string{
	"test/words_test.go", "test/names_test.go", "CHANGELOG.md", "docs/inside/asvs.md",
}

// isGenerated reports whether a program wrote the file: one of its first five lines says so.
func isGenerated(source []byte) bool {
	for n, line := range bytes.SplitN(source, []byte("\n"), 6) {
		if n < 5 && generatedLine.Match(line) {
			return true
		}
	}
	return false
}

var generatedLine = regexp.MustCompile(`^(// Code generated |// Generated from |<!-- Generated |Generated from )`)

// bannedWord is a banned word in a text.
type bannedWord struct {
	line          int
	word, instead string
}

// wordFinder finds banned words. It reads each word of a text once, and compares only words that can start a pattern:
// the patterns together would take seconds for the whole repository.
type wordFinder struct {
	first, whole []*regexp.Regexp // the first word of each pattern, and the pattern
	starts       map[string][]int // the patterns that a word can start
}

func newWordFinder() *wordFinder {
	f := &wordFinder{starts: map[string][]int{}}
	for _, w := range bannedWords {
		first, _, _ := strings.Cut(w.pattern, " ")
		f.first = append(f.first, regexp.MustCompile(`^(?i:`+first+`)$`))
		f.whole = append(f.whole, regexp.MustCompile(`^(?i:`+strings.ReplaceAll(w.pattern, " ", `\s+`)+`)\b`))
	}
	return f
}

// find returns the banned words of a text.
func (f *wordFinder) find(text string) []bannedWord {
	var found []bannedWord
	line := 1
	for at := 0; at < len(text); {
		end := at
		for end < len(text) && isWordByte(text[end]) {
			end++
		}
		for _, i := range f.patternsOf(text[at:end]) {
			if word := f.whole[i].FindString(text[at:min(at+longestPhrase, len(text))]); word != "" {
				found = append(found, bannedWord{line, strings.Join(strings.Fields(word), " "), bannedWords[i].instead})
			}
		}
		for at = end; at < len(text) && !isWordByte(text[at]); at++ {
			if text[at] == '\n' {
				line++
			}
		}
	}
	return found
}

// longestPhrase is the number of bytes in which a pattern is looked for, with the indentation of a second line.
const longestPhrase = 100

// patternsOf returns the patterns that a word can start.
func (f *wordFinder) patternsOf(word string) []int {
	patterns, ok := f.starts[word]
	if !ok {
		for i, first := range f.first {
			if first.MatchString(word) {
				patterns = append(patterns, i)
			}
		}
		f.starts[word] = patterns
	}
	return patterns
}

// isWordByte reports whether the byte is part of a word or an identifier. The words of a name with hyphens are one word.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c >= utf8.RuneSelf
}

func TestFindBannedWords(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, source string
		want         []string
	}{
		"a comment":                 {"a.go", "package a\n\n// f asks whoever is here.\nfunc f() {}\n", []string{"3 whoever"}},
		"a block comment":           {"a.go", "package a\n/* f\nbegins anew. */\n", []string{"3 anew"}},
		"a string":                  {"a.go", "package a\n\nconst s = \"Whoever has it\"\n", []string{"3 Whoever"}},
		"a raw string":              {"a.go", "package a\n\nconst s = `one\ntwo in vain`\n", []string{"4 in vain"}},
		"the tag of a field":        {"a.go", "package a\ntype s struct {\n\tA int `json:\"a\" doc:\"wherever\"`\n}\n", []string{"3 wherever"}},
		"over the end of a line":    {"a.go", "package a\n\n// They hear\n// of it.\n", []string{"3 hear of"}},
		"two in a line":             {"a.md", "It is told of it, albeit late.\n", []string{"1 told of", "1 albeit"}},
		"an identifier":             {"a.go", "package a\n\nvar lane, overtaken = anew, whoever\n", nil},
		"a part of a word":          {"a.go", "package a\n\n// The planes of a renewed lesson.\n", nil},
		"a key of a field":          {"a.go", "package a\ntype s struct {\n\tA int `json:\"overtaken\"`\n}\n", nil},
		"a key of the wire":         {"a.go", "package a\n\nconst s = \"overtaken_answer\"\n", nil},
		"two strings":               {"a.go", "package a\n\nvar s = []string{\"hear\", \"of\"}\n", nil},
		"a comment of a script":     {"a.ts", "const a = 1; // drawn anew\n/** Tells\n * of it. */\n", []string{"1 anew", "2 Tells of"}},
		"a string of a script":      {"a.tsx", "const a = 'for whoever asks', b = \"in vain\";\n", []string{"1 whoever", "1 in vain"}},
		"a template":                {"a.ts", "const a = `${lane} anew ${f({ a: `in vain` })} thereof`;\nlane();\n", []string{"1 anew", "1 in vain", "1 thereof"}},
		"a quote in an expression":  {"a.ts", "if (/['\"`]/.test(lane)) f(lane);\n// anew\n", []string{"2 anew"}},
		"a quote between tags":      {"a.tsx", "<b>it's</b>\nlane(); // anew\n", []string{"2 anew"}},
		"an escaped quote":          {"a.ts", `f('it\'s anew', lane);` + "\n", []string{"1 anew"}},
		"an identifier of a script": {"a.ts", "const lane = row.overtaken / lane; // 1 / 2\n", nil},
		"words of the field":        {"a.md", "The lease was settled; there is hearing, and news.\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range newWordFinder().find(proseReaders[filepath.Ext(tt.file)]([]byte(tt.source))) {
				got = append(got, fmt.Sprintf("%d %s", f.line, f.word))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBannedWordsHaveReplacements(t *testing.T) {
	t.Parallel()
	patterns := map[string]bool{}
	for _, w := range bannedWords {
		if w.instead == "" || patterns[w.pattern] {
			t.Errorf("%q is there twice, or nothing says what to write instead", w.pattern)
		}
		patterns[w.pattern] = true
	}
	for _, ext := range slices.Sorted(maps.Keys(proseReaders)) {
		if found := newWordFinder().find(proseReaders[ext](nil)); found != nil {
			t.Errorf("an empty file %s has %v", ext, found)
		}
	}
}
