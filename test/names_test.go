package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noVerbs are words that, alone as a name, say neither what a function does nor what it returns: adverbs, pronouns,
// prepositions and participles. The name of a predicate begins with is, has, can or may.
const noVerbs = `
about after again ago ahead alone all among apart around at before began begun behind below better between both called came caused
chosen clicked clipped closed combined committed counted damaged decoded denied described directly doing done down due during
each early elsewhere enabled ended every everything except expanded expected explained failed filled found freed further given gone
granted greeted handed happened heard held here hidden honest hooked how in indented inside instead into joined known labelled late
latest least left lengthened limited listed logged longest looked lost maybe me meant merged mine missing most naturally near nearest
needed none notified nothing nowhere odd of older oldest on once one only other others ours over overtaken own patiently permanent
picked placed planned prepared quoted recovered redelivered refused rejected remedied renewed replaced replied reported reviewed
said settled several shared short shortened showed shown signed silent since single snoozed spelled squeezed stale started stopped
submitted subscribed substituted suggested taken tallied there think together told took trusted trusting twice two typed unanswered
unasked unfinished unheld unreached unread unseen unsent unsure until untold upper usable used validated waited waiting when where
which who whoever whole whom whose why within without wrote wrapped written wrong`

// The name of a function is a verb with its object, or the noun that it returns.
func TestFunctionsAreNamedByVerbsOrNouns(t *testing.T) {
	t.Parallel()
	words := strings.Fields(noVerbs)
	var found []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{"node_modules", "testdata", ".git", "web", "tools", "test", "storetest", "runnertest"}, entry.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && slices.Contains(words, f.Name.Name) {
				found = append(found, files.Position(f.Pos()).String()+": "+f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("name the function by a verb with its object, or by the noun that it returns:\n%s", strings.Join(found, "\n"))
	}
}
