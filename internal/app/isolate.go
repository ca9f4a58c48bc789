package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/runner/codex"
	"github.com/fermata-hq/fermata/internal/runner/gemini"
	"github.com/fermata-hq/fermata/internal/runner/opencode"
)

// Isolation says what agents see of the machine.
type Isolation struct {
	// On lets agents run in a sandbox. Read and Write are further files and folders
	// that they see there; Offline takes the network away.
	On          bool
	Read, Write []string
	Offline     bool
}

// sandbox makes the sandbox for agents; nil where none is asked for.
func (o WorkerOptions) sandbox(ctx context.Context) (*process.Sandbox, error) {
	if !o.Isolation.On {
		if o.Isolation.Offline || len(o.Isolation.Read)+len(o.Isolation.Write) > 0 {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--isolate-read, --isolate-write and --isolate-offline go with --isolate").WithHint("add --isolate")
		}
		return nil, nil
	}
	program, err := process.FindSandbox(ctx)
	if err != nil {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--isolate: %w", err).
			WithHint("install bubblewrap (apt install bubblewrap) and allow user namespaces, or leave --isolate out; `fermata doctor` tries it")
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	homes, err := o.agentHomes()
	if err != nil {
		return nil, err
	}
	s := &process.Sandbox{Program: program, Hide: []string{o.Folder}, Masks: map[string]string{}, Offline: o.Isolation.Offline}
	s.Read = append(append(s.Read, own), o.Isolation.Read...)
	s.Read = append(s.Read, filepath.SplitList(os.Getenv("PATH"))...)
	for _, name := range o.programs() {
		s.Read = append(s.Read, programFiles(name)...)
	}
	for _, home := range homes {
		if err := home.open(s, filepath.Join(o.Folder, ".sandbox")); err != nil {
			return nil, err
		}
	}
	s.Write = append(s.Write, o.Isolation.Write...)
	return s, nil
}

// programFiles are the files that a program is made of: itself, what its name is a
// link to, and the packages of npm around it.
func programFiles(name string) []string {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	files := []string{path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
		files = append(files, target)
	}
	if before, _, ok := strings.Cut(path, "/node_modules/"); ok {
		return []string{before + "/node_modules"}
	}
	return files
}

// agentHome is where an agent program keeps its login and its sessions.
type agentHome struct {
	// dir is made where it is missing; files are further ones that can be written.
	dir   string
	files []string
	// fixed are names in it that can only be read: they say what the program does at
	// a person's desk. Those of made are as well, and are made where they are missing.
	fixed, made []string
	// blank are files in it that the program sees empty, with the text that says so. They
	// hold the hooks of the desk, which find neither their server nor their token in a sandbox.
	blank map[string]string
}

// agentHomes returns the homes of the programs that the worker runs.
func (o WorkerOptions) agentHomes() ([]agentHome, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var homes []agentHome
	for _, name := range o.Runners {
		own := agentHome{dir: filepath.Join(o.Folder, ".agents", name)}
		switch name {
		case claude.Name:
			homes = append(homes, agentHome{
				dir:   cmp.Or(os.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(user, ".claude")),
				fixed: []string{"settings.local.json", "CLAUDE.md", "agents", "commands", "skills", "plugins", "hooks"},
				blank: map[string]string{"settings.json": "{}\n"},
				files: []string{filepath.Join(user, ".claude.json")},
			})
		case codex.Name:
			homes = append(homes, agentHome{
				dir:   cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(user, ".codex")),
				made:  []string{"config.toml"},
				fixed: []string{"AGENTS.md", "prompts", "rules", "skills"},
				blank: map[string]string{"hooks.json": "{}\n"},
			})
		case gemini.Name:
			homes = append(homes, own, agentHome{fixed: []string{filepath.Join(user, ".gemini")}})
		case opencode.Name:
			homes = append(homes, own,
				agentHome{fixed: entriesOf(filepath.Join(user, ".config", "opencode"))},
				agentHome{dir: filepath.Join(user, ".local", "share", "opencode")},
				agentHome{dir: filepath.Join(user, ".local", "state", "opencode")},
				agentHome{dir: filepath.Join(user, ".cache", "opencode")})
		}
	}
	return homes, nil
}

// entriesOf are the files and folders in a folder. A program that sees these, and not
// the folder itself, can add to it for as long as it runs, and change nothing.
func entriesOf(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	paths := make([]string, 0, len(entries))
	for _, e := range entries {
		paths = append(paths, filepath.Join(dir, e.Name()))
	}
	return paths
}

// open adds a home to what a sandbox shows. Files that the program sees empty are made
// where there are none, so that it cannot make them itself.
func (h agentHome) open(s *process.Sandbox, state string) error {
	if h.dir != "" {
		if err := os.MkdirAll(h.dir, 0o700); err != nil {
			return err
		}
		s.Write = append(s.Write, h.dir)
	}
	s.Write = append(s.Write, h.files...)
	for _, name := range h.made {
		if err := makeFile(filepath.Join(h.dir, name), ""); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(h.fixed, h.made) {
		s.Read = append(s.Read, filepath.Join(h.dir, name))
	}
	for name, text := range h.blank {
		at, from := filepath.Join(h.dir, name), filepath.Join(state, "blank-"+name)
		if err := errors.Join(makeFile(at, text), makeFile(from, text)); err != nil {
			return err
		}
		s.Masks[at] = from
	}
	return nil
}

// makeFile makes a file where there is none.
func makeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}
