package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// event is a line of go test -json (see go doc test2json).
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// execution is one run of the tests of one package.
type execution struct {
	result string            // pass, fail or skip; "" when the run did not end
	tests  map[string]string // the result of each test; "" while it runs
	output map[string][]string
	took   map[string]time.Duration
	// failedBuild names the package that did not compile.
	failedBuild string
}

// packageRuns holds the runs of one package in their order: the first, then the repeats.
type packageRuns struct {
	name string
	runs []*execution
}

// readRuns reads the events of a group. A package begins a new run with each "start".
func readRuns(r io.Reader) ([]*packageRuns, error) {
	var packages []*packageRuns
	byName := map[string]*packageRuns{}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) != "" {
			var e event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				return nil, err
			}
			if e.Package != "" {
				p := byName[e.Package]
				if p == nil {
					p = &packageRuns{name: e.Package}
					byName[e.Package] = p
					packages = append(packages, p)
				}
				p.add(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *packageRuns) add(e event) {
	if e.Action == "start" || len(p.runs) == 0 {
		p.runs = append(p.runs, &execution{tests: map[string]string{}, output: map[string][]string{}, took: map[string]time.Duration{}})
	}
	x := p.runs[len(p.runs)-1]
	switch e.Action {
	case "run":
		x.tests[e.Test] = ""
	case "output":
		x.output[e.Test] = append(x.output[e.Test], e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			x.tests[e.Test] = e.Action
			x.took[e.Test] = time.Duration(e.Elapsed * float64(time.Second))
			return
		}
		x.result = e.Action
		x.failedBuild = e.FailedBuild
	}
}

// failedLeaves returns the failed tests without a failed subtest, sorted.
func (x *execution) failedLeaves() []string {
	var leaves []string
	for name, result := range x.tests {
		if result == "fail" && !x.hasSubtest(name, "fail") {
			leaves = append(leaves, name)
		}
	}
	slices.Sort(leaves)
	return leaves
}

// hasSubtest reports whether a test has subtests, or subtests with one of the results.
func (x *execution) hasSubtest(parent string, results ...string) bool {
	for name, result := range x.tests {
		if strings.HasPrefix(name, parent+"/") && (len(results) == 0 || slices.Contains(results, result)) {
			return true
		}
	}
	return false
}

// unfinishedTests returns the tests that began and never ended, sorted.
func (x *execution) unfinishedTests() []string {
	var names []string
	for name, result := range x.tests {
		if result == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
