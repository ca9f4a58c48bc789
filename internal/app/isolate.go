package app

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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
	s := &process.Sandbox{Program: program, Hide: []string{o.Folder}, Masks: map[string]string{}, Copies: map[string]string{}, Offline: o.Isolation.Offline}
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

// agentHome is where an agent program keeps its login, its sessions, and what it does at a person's desk.
type agentHome struct {
	// dir is its folder. In a sandbox it holds only what the other fields name, and what the program adds is gone after
	// the run.
	dir string
	// kept are files and folders in dir that can be written: the login and the sessions. A name that ends with a slash is
	// that of a folder, which is made where it is missing.
	kept []string
	// fixed are files and folders in dir that can only be read: settings, instructions and programs of a person's desk.
	fixed []string
	// blank are files in dir that the program sees empty, with the text that says so. They hold the hooks of the desk,
	// which find neither their server nor their token in a sandbox.
	blank map[string]string
	// copied are paths of files. The program can write a copy, which is made when the worker starts.
	copied []string
	// caches are folders in dir. The program runs what it finds there, so in the sandbox each is replaced by a folder of the
	// worker's.
	caches []string
}

// agentHomes returns the homes of the programs that the worker runs.
func (o WorkerOptions) agentHomes() ([]agentHome, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var homes []agentHome
	for _, name := range o.Runners {
		own := agentHome{dir: filepath.Join(o.Folder, ".agents"), kept: []string{name + "/"}}
		switch name {
		case claude.Name:
			homes = append(homes, claudeHome(user))
		case codex.Name:
			homes = append(homes, agentHome{
				dir:   cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(user, ".codex")),
				kept:  []string{"auth.json", "sessions/"},
				fixed: []string{"config.toml", "AGENTS.md", "prompts", "rules", "skills"},
				blank: map[string]string{"hooks.json": "{}\n"},
			})
		case gemini.Name:
			homes = append(homes, own, agentHome{dir: user, fixed: []string{".gemini"}})
		case opencode.Name:
			settings := filepath.Join(user, ".config", "opencode")
			homes = append(homes, own, agentHome{dir: settings, fixed: entriesOf(settings)}, agentHome{
				dir:  user,
				kept: []string{".local/share/opencode/", ".local/state/opencode/"},
				// Its snapshots and repositories are git's, whose configuration names programs.
				caches: []string{".cache/opencode", ".local/share/opencode/bin", ".local/share/opencode/snapshot", ".local/share/opencode/repos"},
			})
		}
	}
	return homes, nil
}

func claudeHome(user string) agentHome {
	home := agentHome{
		dir:    filepath.Join(user, ".claude"),
		kept:   []string{".credentials.json", "projects/"},
		fixed:  []string{"settings.local.json", "CLAUDE.md", "agents", "commands", "skills", "plugins", "hooks", "rules", "output-styles", "local"},
		blank:  map[string]string{"settings.json": "{}\n"},
		copied: []string{filepath.Join(user, ".claude.json")},
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		home.dir, home.copied = dir, []string{filepath.Join(dir, ".claude.json")}
	}
	return home
}

// entriesOf returns the names in a folder.
func entriesOf(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// open adds a home to what a sandbox shows. Copies and caches are in state, a folder of the worker.
func (h agentHome) open(s *process.Sandbox, state string) error {
	if h.dir != "" {
		s.Hide = append(s.Hide, h.dir)
	}
	for _, name := range h.kept {
		at := filepath.Join(h.dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(at, 0o700); err != nil {
				return err
			}
		}
		s.Write = append(s.Write, at)
	}
	for _, name := range h.fixed {
		s.Read = append(s.Read, filepath.Join(h.dir, name))
	}
	for name, text := range h.blank {
		from := filepath.Join(state, "blank-"+name)
		if err := makeFile(from, text); err != nil {
			return err
		}
		s.Masks[filepath.Join(h.dir, name)] = from
	}
	for _, at := range h.copied {
		from := filepath.Join(state, "copied-"+filepath.Base(at))
		if err := copyFile(at, from); err != nil {
			return err
		}
		s.Copies[at] = from
	}
	for _, name := range h.caches {
		from := filepath.Join(state, "caches", name)
		if err := os.MkdirAll(from, 0o700); err != nil {
			return err
		}
		s.Copies[filepath.Join(h.dir, name)] = from
	}
	return nil
}

// copyFile makes to a copy of from. Where there is no from, there is no to afterwards.
func copyFile(from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	data, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600)) //nolint:gosec // a file of the worker's
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
