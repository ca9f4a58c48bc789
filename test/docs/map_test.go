package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheMapIsTrue checks the table "Where does it live" of CONTRIBUTING.md. A name that follows a file or a folder must
// be declared there, as in `answer_right.go`: `Question.CheckMayAnswer`.
func TestTheMapIsTrue(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(readFile(t, "CONTRIBUTING.md"), "## Where does it live\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	if !found {
		t.Fatal("CONTRIBUTING.md has no section Where does it live")
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	names := 0
	for row := range strings.Lines(section) {
		place := ""
		for _, m := range quoted.FindAllStringSubmatch(row, -1) {
			switch text := m[1]; {
			case strings.Contains(text, "NAME"), strings.HasPrefix(text, "go test "):
			case strings.HasSuffix(text, ".go") || strings.Contains(text, "/"):
				if place = text; !exists(place) {
					t.Errorf("%s is not there: %s", place, row)
				}
			default:
				names++
				name := text[strings.LastIndexByte(text, '.')+1:]
				declared := `(?m)^(?:export )?(?:func (?:\([^)]+\) )?|function |type |var |const )` + name + `\b|^\t` + name + `\b.* =`
				if !regexp.MustCompile(declared).MatchString(sourceAt(t, place)) {
					t.Errorf("%s does not declare %s: %s", place, text, row)
				}
			}
		}
	}
	if names < 20 {
		t.Errorf("only %d names were found", names)
	}
}

func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	return err == nil
}

// sourceAt returns the text of a file, or of all files in a folder.
func sourceAt(t *testing.T, name string) string {
	t.Helper()
	info, err := os.Stat(filepath.Join(root, name))
	if err != nil {
		return "" // the caller has reported that it is missing
	}
	if !info.IsDir() {
		return readFile(t, name)
	}
	entries, err := os.ReadDir(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, entry := range entries {
		if !entry.IsDir() {
			all.WriteString(readFile(t, filepath.Join(name, entry.Name())))
		}
	}
	return all.String()
}
