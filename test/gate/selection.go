package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// selection is the part of the gate to run. Empty fields select everything.
type selection struct {
	group    string
	packages []string // patterns of go list
	tests    string   // a pattern of go test -run
}

// isPart reports whether only some tests of a group run.
func (s selection) isPart() bool { return len(s.packages) > 0 || s.tests != "" }

// readSelection reads the variables GROUP, PACKAGE and RUN. A folder may be written with or without a leading ./.
func readSelection(root string) selection {
	s := selection{group: os.Getenv("GROUP"), packages: strings.Fields(os.Getenv("PACKAGE")), tests: os.Getenv("RUN")}
	for i, pattern := range s.packages {
		if isFolder(root, pattern) && !strings.HasPrefix(pattern, ".") {
			s.packages[i] = "./" + pattern
		}
	}
	return s
}

// isFolder reports whether a pattern of packages begins with a folder of the module.
func isFolder(root, pattern string) bool {
	info, err := os.Stat(filepath.Join(root, strings.TrimSuffix(pattern, "...")))
	return err == nil && info.IsDir()
}

// check returns an error, before anything is built, if the selection selects no test.
func (s selection) check(root string, groups []*group) error {
	at := slices.IndexFunc(groups, func(g *group) bool { return g.name == s.group })
	switch {
	case s.group == "" && s.isPart():
		return errors.New("RUN and PACKAGE choose among the tests of one group: set GROUP too")
	case s.group == "":
		return nil
	case at < 0:
		return fmt.Errorf("there is no group %q; the groups are %s", s.group, strings.Join(groupNames(groups), ", "))
	case s.isPart() && groups[at].includes == nil:
		return fmt.Errorf("RUN and PACKAGE choose among tests, and the group %s holds checks of everything: set neither", s.group)
	}
	if _, err := regexp.Compile(s.tests); err != nil {
		return fmt.Errorf("RUN is no pattern of go test -run: %w", err)
	}
	for _, pattern := range s.packages {
		if err := checkPackage(root, pattern, groups[at], groups); err != nil {
			return err
		}
	}
	return nil
}

// checkPackage returns an error if the folder does not exist, or belongs to another group than the chosen one.
func checkPackage(root, pattern string, chosen *group, groups []*group) error {
	if !isFolder(root, pattern) {
		return fmt.Errorf("in PACKAGE: there is no folder %s; a package is named by its folder, such as ./test, or with those below it, as ./test/... is", pattern)
	}
	if strings.HasSuffix(pattern, "...") {
		return nil
	}
	// The folder of the module itself is "".
	folder := strings.TrimPrefix(strings.TrimPrefix(filepath.Clean(pattern), "."), "/")
	if chosen.includes(folder) {
		return nil
	}
	for _, other := range groups {
		if other.includes != nil && other.includes(folder) {
			return fmt.Errorf("in PACKAGE: %s belongs to the group %s: set GROUP=%s", pattern, other.name, other.name)
		}
	}
	return nil
}

// nothingRunMessage returns the message for a selection that selected no test.
func (s selection) nothingRunMessage() string {
	if !s.isPart() {
		return "no test was run"
	}
	text := "no test was run: none"
	if len(s.packages) > 0 {
		text += " in " + strings.Join(s.packages, " and ")
	}
	if s.tests != "" {
		text += fmt.Sprintf(" has a name that RUN='%s' matches; a test inside another is named behind a slash, such as RUN=/part", s.tests)
	}
	return text
}
