// Package demoagent is the agent that `fermata demo` runs. It is a small program that does real work in a folder. It
// meets a decision that it cannot make, asks, stops, and goes on with the answer. It uses only the protocol of the
// command runner, which docs/reference/worker.md describes.
package demoagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
)

// handover is the JSON that the command runner writes to the agent's standard input.
type handover struct {
	Task    *fermata.Task          `json:"task"`
	Context *fermata.ResumeContext `json:"context"`
}

// report is the agent's result.
type report struct {
	Result     fermata.Result `json:"result"`
	Summary    string         `json:"summary"`
	Question   *fermata.Ask   `json:"question,omitempty"`
	Details    any            `json:"details,omitempty"`
	Checkpoint any            `json:"checkpoint,omitempty"`
}

// checkpoint is what a run leaves for the next one.
type checkpoint struct {
	Name string `json:"name"`
}

// agent works in one folder.
type agent struct {
	dir string
	out io.Writer
}

// Main runs the agent in the current folder and returns its exit code. The result goes to the file that FERMATA_RESULT
// names, or else to stdout.
func Main(stdin io.Reader, stdout io.Writer, env func(string) string) int {
	a := &agent{dir: ".", out: stdout}
	r, err := a.run(stdin)
	if err == nil {
		err = write(r, stdout, env("FERMATA_RESULT"))
	}
	if err != nil {
		fmt.Fprintf(stdout, "demo agent: %v\n", err)
		return 1
	}
	return 0
}

func write(r report, stdout io.Writer, file string) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if file != "" {
		return os.WriteFile(file, data, 0o600)
	}
	_, err = stdout.Write(data)
	return err
}

// run reads the hand-over and does the next part of the work.
func (a *agent) run(stdin io.Reader) (report, error) {
	var h handover
	if err := json.NewDecoder(stdin).Decode(&h); err != nil {
		return report{}, fmt.Errorf("read the task: %w", err)
	}
	if h.Context == nil {
		h.Context = &fermata.ResumeContext{}
	}
	if c, ok := latestDecision(h.Context); ok {
		return a.finish(c, h.Context)
	}
	if h.Context.Pending != nil {
		return report{Result: fermata.ResultNeedsInput, Summary: "Read the message; the question is still open."}, nil
	}
	return a.begin()
}

// begin drafts what can be written without the answer, and asks.
func (a *agent) begin() (report, error) {
	a.progress("Looking at the repository", 1)
	files, err := a.files()
	if err != nil {
		return report{}, err
	}
	fmt.Fprintf(a.out, "Found %d files: %s\n", len(files), strings.Join(files, ", "))
	name := a.projectName()
	a.progress("Drafting the section in the README", 2)
	if err := a.setSection(draftSection(name)); err != nil {
		return report{}, err
	}
	fmt.Fprintln(a.out, "Nothing here says which format is preferred. Asking instead of guessing.")
	return report{
		Result: fermata.ResultNeedsInput, Summary: "Drafted the README; the format of the file is for people to decide.",
		Question: question(name, files), Checkpoint: checkpoint{Name: name},
	}, nil
}

// finish writes the file in the chosen format, reads it back, and completes.
func (a *agent) finish(c choice, rc *fermata.ResumeContext) (report, error) {
	fmt.Fprintf(a.out, "Resumed: %s, comments: %t (%s).\n", c.Format, c.Comments, c.By)
	saved := checkpoint{}
	if json.Unmarshal(rc.Checkpoint, &saved) != nil || saved.Name == "" {
		saved.Name = a.projectName()
	}
	a.progress("Writing config."+c.Format, 3)
	values := settings(saved.Name)
	text := render(values, c)
	file := "config." + c.Format
	if err := os.WriteFile(filepath.Join(a.dir, file), []byte(text), 0o600); err != nil {
		return report{}, err
	}
	a.progress("Checking what was written", 4)
	if err := a.verify(file, values, c); err != nil {
		return report{}, fmt.Errorf("check %s: %w", file, err)
	}
	if err := a.setSection(finalSection(file, values)); err != nil {
		return report{}, err
	}
	return report{
		Result:  fermata.ResultCompleted,
		Summary: fmt.Sprintf("Added %s with %d settings and described it in the README. The format was decided %s.", file, len(values), c.By),
		Details: map[string]any{"file": file, "format": c.Format, "comments": c.Comments},
	}, nil
}

func (a *agent) progress(message string, step int) {
	line, err := json.Marshal(fermata.Progress{Message: message, Current: float64(step), Total: 4})
	if err == nil {
		fmt.Fprintf(a.out, "::progress %s\n", line)
	}
}

// files lists the entries of the repository except .git.
func (a *agent) files() ([]string, error) {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name() != ".git" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// readme returns the text of the README, or "" if there is none.
func (a *agent) readme() (string, error) {
	data, err := os.ReadFile(filepath.Join(a.dir, "README.md"))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// projectName returns the first heading of the README in small letters.
func (a *agent) projectName() string {
	text, err := a.readme()
	if err == nil {
		for line := range strings.Lines(text) {
			if heading, ok := strings.CutPrefix(line, "# "); ok {
				return strings.ToLower(strings.TrimSpace(heading))
			}
		}
	}
	return "app"
}

// heading begins the agent's section of the README.
const heading = "## Configuration\n"

// setSection puts the agent's section at the end of the README, or in place of the existing one.
func (a *agent) setSection(section string) error {
	text, err := a.readme()
	if err != nil {
		return err
	}
	before, after, found := strings.Cut(text, heading)
	if found {
		_, rest, more := strings.Cut(after, "\n## ")
		after = ""
		if more {
			after = "\n## " + rest
		}
	}
	before = strings.TrimRight(before, "\n")
	if before != "" {
		before += "\n\n"
	}
	return os.WriteFile(filepath.Join(a.dir, "README.md"), []byte(before+heading+section+after), 0o644) //nolint:gosec // a README is for everybody
}
