package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// fatalLinePattern matches a line of output that forbids a repeat: either some tests did not run, or the fault does not
// show in every run.
var fatalLinePattern = regexp.MustCompile(`^(panic: |fatal error: |WARNING: DATA RACE|signal: |exit status ([2-9]|\d\d)|\*\*\* Test killed|goroutines outlived the tests)` +
	`|race detected during execution of test|runtime\.Goexit`)

// neverRepeated matches tests whose first failure decides. They guard data or access, or they choose their steps at
// random.
var neverRepeated = regexp.MustCompile(`/test/(attack|seams)(/|\.)|/internal/(access|keys|checkpoint|redact)\.|(?i:migrat|backup|signin|sign_in)`)

// rapidMark marks the output of a property test. A repeat would draw other values.
const rapidMark = "[rapid]"

// repeat is a test that failed and then passed.
type repeat struct {
	pkg, test                  string // the package, and the name of the test, such as TestIt/part
	failedOutput, passedOutput string // its output, the first time and when repeated
}

// isIn reports whether a list in Markdown names the test in backticks. For TestIt/part, the name `TestIt` or `part` is
// enough.
func (r repeat) isIn(list string) bool {
	return slices.ContainsFunc(strings.Split(r.test, "/"), func(part string) bool { return strings.Contains(list, "`"+part+"`") })
}

// slowTest is a step, or a test without subtests, and its duration.
type slowTest struct {
	name string
	took time.Duration
}

// judge reads the output of go test -json for a suite, including the runs of failed tests that gotestsum repeated. It
// decides whether the repeats may count.
func judge(events io.Reader, source source) (outcome, error) {
	packages, err := readRuns(events)
	if err != nil {
		return outcome{}, err
	}
	j := judgement{source: source}
	if len(packages) == 0 {
		j.addFailure("no package was tested")
	}
	for _, p := range packages {
		j.addPackage(p)
	}
	return j.outcome, nil
}

// source names the group and the module of the tests.
type source struct {
	group  string
	module string
}

// command returns the shell command that repeats a test with the seed in its output, or the whole package if test is "".
func (s source) command(pkg, test, output string) string {
	folder := "." + strings.TrimPrefix(pkg, s.module)
	if test == "" {
		return fmt.Sprintf("make test GROUP=%s PACKAGE=%s", s.group, folder)
	}
	var levels []string
	for level := range strings.SplitSeq(test, "/") {
		levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
	}
	seed := ""
	if found := seedLine.FindString(output); found != "" {
		seed = found + " "
	}
	quoted := quote(strings.Join(levels, "/"))
	// make would read a dollar sign as the beginning of a variable.
	return fmt.Sprintf("%smake test GROUP=%s PACKAGE=%s RUN=%s", seed, s.group, folder, strings.ReplaceAll(quoted, "$", "$$"))
}

// seedLine matches the variable with which a test repeats its random choices.
var seedLine = regexp.MustCompile(`\bFERMATA_(SEED|SEQUENCE)=\S+`)

type judgement struct {
	outcome

	source source
}

// addPackage judges one package.
func (j *judgement) addPackage(p *packageRuns) {
	first := p.runs[0]
	j.count(p.name, first)
	switch {
	case first.failedBuild != "":
		j.addFailure("%s does not compile", p.name)
		return
	case first.result == "":
		j.fail(p.name, "", " did not end", strings.Join(first.output[""], ""))
		return
	case first.result != "fail":
		return
	}
	for _, x := range p.runs {
		if test, from, found := x.fatalLine(); found {
			lines := x.output[test][from:]
			j.fail(p.name, test, ": "+strings.TrimSpace(lines[0]), strings.Join(lines[:min(len(lines), maxTraceLines)], ""))
			return
		}
		if lost := x.unfinishedTests(); len(lost) > 0 {
			j.fail(p.name, "", ": began and never ended: "+strings.Join(lost, ", "), "")
			return
		}
	}
	leaves := first.failedLeaves()
	if len(leaves) == 0 {
		j.fail(p.name, "", " failed without a failed test", strings.Join(first.output[""], ""))
	}
	for _, test := range leaves {
		j.addFailed(p, test)
	}
}

// addFailed judges a test that failed in the first run of its package.
func (j *judgement) addFailed(p *packageRuns, test string) {
	name := p.name + "." + test
	output := strings.Join(p.runs[0].output[test], "")
	var why string
	switch passed, again := p.findPassedRepeat(test); {
	case neverRepeated.MatchString(name):
		why = "failed; its repeats do not count"
	case strings.Contains(output, rapidMark):
		why = "failed; a property test draws other values when repeated"
	case !passed:
		why = "failed"
	default:
		j.repeats = append(j.repeats, repeat{pkg: p.name, test: test, failedOutput: output, passedOutput: again})
		return
	}
	j.fail(p.name, test, " "+why, output)
}

// maxTraceLines limits the lines of a stack trace or of a data race that are shown.
const maxTraceLines = 40

// fail adds the failure of a test, or of the whole package if test is "".
func (j *judgement) fail(pkg, test, why, output string) {
	what := pkg
	if test != "" {
		what += "." + test
	}
	j.failures = append(j.failures, failure{subject: what + why, message: firstError(output), output: output, command: j.source.command(pkg, test, output)})
}

// count adds the tests that passed in the first run.
func (j *judgement) count(pkg string, x *execution) {
	for test, result := range x.tests {
		if result == "pass" && !x.hasSubtest(test) {
			j.passed++
			j.slow = append(j.slow, slowTest{name: pkg + "." + test, took: x.took[test]})
		}
	}
	j.slow = slowest(j.slow)
}

// slowest returns the ten tests that took longest.
func slowest(tests []slowTest) []slowTest {
	slices.SortFunc(tests, func(a, b slowTest) int { return cmp.Compare(b.took, a.took) })
	return tests[:min(10, len(tests))]
}

// findPassedRepeat reports whether a repeat ran the test and its package passed. It returns the output of the test.
func (p *packageRuns) findPassedRepeat(test string) (passed bool, output string) {
	for _, x := range p.runs[1:] {
		if x.result == "pass" && x.tests[test] == "pass" {
			return true, strings.Join(x.output[test], "")
		}
	}
	return false, ""
}

// fatalLine finds a line of the output that forbids a repeat. It returns the test that wrote it, or "" for the package,
// and the index of the line.
func (x *execution) fatalLine() (test string, at int, found bool) {
	for _, test := range slices.Sorted(maps.Keys(x.output)) {
		if at := slices.IndexFunc(x.output[test], fatalLinePattern.MatchString); at >= 0 {
			return test, at, true
		}
	}
	return "", 0, false
}

// errorLine matches a line from t.Error and similar methods.
var errorLine = regexp.MustCompile(`(?m)^\s+\S+\.go:\d+: (.*)$`)

// firstError returns the first line of a test's output that describes an error.
func firstError(output string) string {
	if found := errorLine.FindString(output); found != "" {
		return strings.TrimSpace(found)
	}
	return ""
}
