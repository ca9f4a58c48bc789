package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// verbRooms are the rooms whose exported methods act for a caller.
var verbRooms = []string{"engine", "access", "delivery", "workflow", "insight"}

// TestEveryVerbAsks checks that each exported method with a caller checks a
// permission: it names a verb of the permission table, or passes the caller to a
// function that checks one.
func TestEveryVerbAsks(t *testing.T) {
	t.Parallel()
	asked := 0
	for _, room := range verbRooms {
		methods := methodsWithCaller(t, filepath.Join("..", "internal", room))
		for name, fn := range methods {
			if !fn.Name.IsExported() {
				continue
			}
			asked++
			if !asks(fn, methods, map[string]bool{}) && unasked[room+"."+name] == "" {
				t.Errorf("internal/%s: %s gets a caller, and asks the table for no verb", room, name)
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d methods were found", asked)
	}
}

// unasked maps the methods that need no verb to the reason.
var unasked = map[string]string{
	"engine.Write":            "its caller names the verb",
	"engine.Session":          "it returns the session that calls",
	"engine.Self":             "it returns who calls",
	"engine.VisibilityFilter": "the stream that calls it has asked",
}

// methodsWithCaller returns the functions of a room that have a parameter of
// the type fermata.Caller, by name.
func methodsWithCaller(t *testing.T, folder string) map[string]*ast.FuncDecl {
	t.Helper()
	found := map[string]*ast.FuncDecl{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, entry.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && getsCaller(fn) {
				found[fn.Name.Name] = fn
			}
		}
	}
	return found
}

func getsCaller(fn *ast.FuncDecl) bool {
	for _, p := range fn.Type.Params.List {
		if s, ok := p.Type.(*ast.SelectorExpr); ok && s.Sel.Name == "Caller" {
			return true
		}
	}
	return false
}

// asks reports whether a function names a verb, or passes its caller to a
// function that does.
func asks(fn *ast.FuncDecl, methods map[string]*ast.FuncDecl, seen map[string]bool) bool {
	if seen[fn.Name.Name] {
		return false
	}
	seen[fn.Name.Name] = true
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			found = found || ok && pkg.Name == "fermata" && strings.HasPrefix(n.Sel.Name, "To")
		case *ast.CallExpr:
			found = found || passesCaller(n) && known(n, methods, seen)
		}
		return !found
	})
	return found
}

// known reports whether the called function checks a permission: a function of
// the room that asks, or an exported method of another room, which this test
// checks there.
func known(call *ast.CallExpr, methods map[string]*ast.FuncDecl, seen map[string]bool) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if next := methods[s.Sel.Name]; next != nil {
		return asks(next, methods, seen)
	}
	return s.Sel.IsExported()
}

func passesCaller(call *ast.CallExpr) bool {
	for _, arg := range call.Args {
		if id, ok := arg.(*ast.Ident); ok && id.Name == "c" {
			return true
		}
	}
	return false
}
