package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	modversion "golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// dependenciesPage lists the libraries that need a reason.
const dependenciesPage = "docs/inside/dependencies.md"

const dependenciesHead = `# Dependencies

This page is for contributors. It lists the Go libraries that have no stable release, and forks: why each is worth it, and what
replaces it. ` + "`go.mod`" + ` has these reasons as comments, and a test writes this page from them:
` + "`go test ./test -run TestDependenciesPage -update`" + `.

| library | version | reason |
| --- | --- | --- |
`

// TestDependenciesPage compares the page with the comments in go.mod. A library without a stable release needs a
// comment. With -update it writes the page.
func TestDependenciesPage(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", source, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := dependenciesHead
	for _, r := range mod.Require {
		reason := reasonOf(r)
		if reason == "" && (modversion.IsPseudoVersion(r.Mod.Version) || semver.Prerelease(r.Mod.Version) != "") {
			t.Errorf("go.mod: %s has no stable release: say in a comment why it is worth it, and what replaces it", r.Mod.Path)
		}
		if reason != "" {
			want += fmt.Sprintf("| `%s` | %s | %s |\n", r.Mod.Path, r.Mod.Version, reason)
		}
	}
	path := filepath.Join("..", dependenciesPage)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s does not say what go.mod says (%v); to write it: go test ./test -run %s -update", dependenciesPage, err, t.Name())
	}
}

// reasonOf returns the comment behind a library, without the mark of go mod tidy.
func reasonOf(r *modfile.Require) string {
	text := ""
	for _, c := range r.Syntax.Suffix {
		text += strings.TrimPrefix(c.Token, "//")
	}
	text = strings.TrimPrefix(strings.TrimSpace(text), "indirect")
	return strings.TrimSpace(strings.TrimPrefix(text, ";"))
}
