package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

// fatal matches a line of output after which a repeat proves nothing: tests may be lost,
// or the fault may be one that shows now and then.
var fatal = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE|signal: |exit status ([2-9]|\d\d)|\*\*\* Test killed|goroutines outlived the tests)` +
	`|race detected during execution of test|runtime\.Goexit`)

// neverRepeated matches tests of which one failure decides: what they guard loses data or
// lets somebody in, or a repeat would test something else.
var neverRepeated = regexp.MustCompile(`/test/(crash|race|replicas|attack|seams)(/|\.)|/internal/(access|keys|checkpoint)\.|(?i:migrat|backup|signin|sign_in)`)

// ofRapid marks the output of a property test, which draws other values when repeated.
const ofRapid = "[rapid]"

// verdict is what a group has proven.
type verdict struct {
	red      []string // why the group is red
	repeated []repeat // tests that passed only when repeated
}

// repeat is a test that failed and then passed.
type repeat struct {
	name   string
	output string // of the run that failed
}

// judge reads the events of a group and its repeats.
func judge(r io.Reader) (verdict, error) {
	packages, err := readRuns(r)
	if err != nil {
		return verdict{}, err
	}
	var v verdict
	if len(packages) == 0 {
		v.redden("no package was tested")
	}
	for _, p := range packages {
		v.add(p)
	}
	return v, nil
}

func (v *verdict) redden(format string, a ...any) { v.red = append(v.red, fmt.Sprintf(format, a...)) }

// add judges one package.
func (v *verdict) add(p *packageRuns) {
	first := p.runs[0]
	switch {
	case first.failedBuild != "":
		v.redden("%s does not compile", p.name)
		return
	case first.result == "":
		v.redden("%s did not end", p.name)
		return
	case first.result != "fail":
		return
	}
	for _, x := range p.runs {
		if line, found := x.fatalLine(); found {
			v.redden("%s: %s", p.name, line)
			return
		}
		if lost := x.unfinished(); len(lost) > 0 {
			v.redden("%s: began and never ended: %s", p.name, strings.Join(lost, ", "))
			return
		}
	}
	leaves := first.failedLeaves()
	if len(leaves) == 0 {
		v.redden("%s failed without a failed test", p.name)
	}
	for _, test := range leaves {
		v.addFailed(p, test)
	}
}

// addFailed judges a test that failed in the first run of its package.
func (v *verdict) addFailed(p *packageRuns, test string) {
	name := p.name + "." + test
	output := strings.Join(p.runs[0].output[test], "")
	switch {
	case neverRepeated.MatchString(name):
		v.redden("%s failed; its repeats do not count", name)
	case strings.Contains(output, ofRapid):
		v.redden("%s failed; a property test draws other values when repeated", name)
	case !p.passedLater(test):
		v.redden("%s failed", name)
	default:
		v.repeated = append(v.repeated, repeat{name: name, output: output})
	}
}

// passedLater reports whether a repeat ran the test and passed as a whole.
func (p *packageRuns) passedLater(test string) bool {
	for _, x := range p.runs[1:] {
		if x.result == "pass" && x.tests[test] == "pass" {
			return true
		}
	}
	return false
}

// fatalLine returns a line of the output that forbids a repeat.
func (x *execution) fatalLine() (string, bool) {
	for _, lines := range x.output {
		for _, line := range lines {
			if fatal.MatchString(line) {
				return strings.TrimSpace(line), true
			}
		}
	}
	return "", false
}

func (v *verdict) print(w io.Writer) {
	for _, reason := range v.red {
		fmt.Fprintln(w, "red:", reason)
	}
	for _, r := range v.repeated {
		fmt.Fprintf(w, "passed only when repeated: %s\n%s", r.name, r.output)
	}
}
