package cli

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// testedAgents are the agent programs that Fermata drives, and the versions with
// which it was tested. A test compares them with those that the tests install.
var testedAgents = []struct{ name, version string }{
	{"claude", "2.1.329"},
	{"codex", "0.169.0"},
	{"gemini", "0.61.0"},
	{"opencode", "1.18.33"},
}

// versionPatience is how long a program may take to tell its version.
const versionPatience = 15 * time.Second

// versionNumber is what a program says of its version, whatever stands around it.
var versionNumber = regexp.MustCompile(`\d+\.\d+\.\d+[0-9A-Za-z.+-]*`)

// checkAgents looks for the agent programs that runners drive.
func checkAgents(ctx context.Context) []finding {
	found := make([]*finding, len(testedAgents))
	var looking sync.WaitGroup
	for i, a := range testedAgents {
		looking.Go(func() { found[i] = checkAgent(ctx, a.name, a.version) })
	}
	looking.Wait()
	found = slices.DeleteFunc(found, func(f *finding) bool { return f == nil })
	if len(found) == 0 {
		names := make([]string, len(testedAgents))
		for i, a := range testedAgents {
			names[i] = a.name
		}
		return []finding{{"agents", "ok", "none of " + strings.Join(names, ", ") + " is installed; a worker can run any program"}}
	}
	findings := make([]finding, len(found))
	for i, f := range found {
		findings[i] = *f
	}
	return findings
}

// checkAgent looks for one program; nil says that it is not installed.
func checkAgent(ctx context.Context, name, tested string) *finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	// What it starts may hold its output open.
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return &finding{name, "warn", fmt.Sprintf("%s does not tell its version: %v", path, err)}
	}
	switch version := versionNumber.FindString(string(out)); version {
	case tested:
		return &finding{name, "ok", version + ", the version that Fermata was tested with"}
	case "":
		return &finding{name, "warn", fmt.Sprintf("%s tells no version; Fermata was tested with %s", path, tested)}
	default:
		return &finding{name, "warn", fmt.Sprintf("%s; Fermata was tested with %s, and these programs change: try a question before you rely on it", version, tested)}
	}
}
