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
	"github.com/fermata-hq/fermata/internal/config"
	"github.com/fermata-hq/fermata/internal/process"
	"github.com/fermata-hq/fermata/internal/runner/claude"
	"github.com/fermata-hq/fermata/internal/runner/codex"
	"github.com/fermata-hq/fermata/internal/runner/gemini"
	"github.com/fermata-hq/fermata/internal/runner/opencode"
)

// sandbox returns the sandbox for agents, or nil if none is requested.
func (o WorkerOptions) sandbox(ctx context.Context) (*process.Sandbox, error) {
	program, err := findSandboxProgram(ctx, o.Agents.Isolation)
	if err != nil || program == "" {
		return nil, err
	}
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	homes, err := o.agentHomes()
	if err != nil {
		return nil, err
	}
	s := &process.Sandbox{Program: program, Hide: []string{o.Folder}, Read: []string{executable}, Masks: map[string]string{}, Copies: map[string]string{}, Offline: o.Agents.Isolation.Offline}
	for _, name := range o.programs() {
		addProgram(s, name)
	}
	state := filepath.Join(o.Folder, ".sandbox")
	for _, home := range homes {
		if err := home.addTo(s, state); err != nil {
			return nil, err
		}
	}
	if err := hidePaths(s, o.hiddenPaths, filepath.Join(state, "hidden")); err != nil {
		return nil, err
	}
	if err := checkWrites(s, o.Agents.Isolation.Write); err != nil {
		return nil, err
	}
	s.Read, s.Write = append(s.Read, o.Agents.Isolation.Read...), append(s.Write, o.Agents.Isolation.Write...)
	for _, folder := range s.OpenPath(filepath.SplitList(os.Getenv("PATH"))) {
		o.Log.Warn("agents do not see this folder of PATH: it holds too many programs; --isolate-read opens it whole", "folder", folder)
	}
	return s, nil
}

// findSandboxProgram returns the program that creates the sandbox, or "" if no sandbox is requested. It refuses the other
// options if On is not set, paths that do not exist, and a machine that cannot create a sandbox.
func findSandboxProgram(ctx context.Context, i config.Isolation) (string, error) {
	if !i.On {
		if i.Offline || len(i.Read)+len(i.Write) > 0 {
			return "", fermata.Errorf(fermata.CodeInvalidRequest, "--isolate-read, --isolate-write and --isolate-offline go with --isolate").WithHint("add --isolate")
		}
		return "", nil
	}
	if err := checkSandboxPaths(i); err != nil {
		return "", err
	}
	program, err := process.FindSandbox(ctx)
	if err != nil {
		return "", fermata.Errorf(fermata.CodeInvalidRequest, "--isolate: %w", err).
			WithHint("install bubblewrap (apt install bubblewrap) and allow user namespaces, or leave --isolate out; `fermata doctor` tries it")
	}
	return program, nil
}

// checkSandboxPaths refuses paths that do not exist: agents would not see them, and the operator would not notice.
func checkSandboxPaths(i config.Isolation) error {
	for flag, paths := range map[string][]string{"--isolate-read": i.Read, "--isolate-write": i.Write} {
		for _, path := range paths {
			if _, err := os.Stat(path); err != nil {
				return fermata.Errorf(fermata.CodeInvalidRequest, "%s: %w", flag, err).WithHint("make the file or folder before the worker starts, or leave the flag out")
			}
		}
	}
	return nil
}

// checkWrites refuses paths that a sandbox keeps read-only: programs, and files that the user's own programs read or
// run.
func checkWrites(s *process.Sandbox, paths []string) error {
	for _, path := range paths {
		if s.IsReadOnly(path) {
			return fermata.Errorf(fermata.CodeInvalidRequest, "--isolate-write: agents can only read %s: a program of your desk reads or runs what is there", path).
				WithHint("leave the flag out; nothing of an agent in a sandbox stays there")
		}
	}
	return nil
}

// hidePaths hides files and folders from agents. In the place of a file, agents see the empty file blank.
func hidePaths(s *process.Sandbox, paths []string, blank string) error {
	for _, path := range paths {
		switch info, err := os.Stat(path); {
		case err != nil:
		case info.IsDir():
			s.Hide = append(s.Hide, path)
		default:
			if err := makeFile(blank, ""); err != nil {
				return err
			}
			s.Masks[path] = blank
		}
	}
	return nil
}

// addProgram shows the agents all parts of a program: the program itself, the target of its link, and the npm
// packages around it.
func addProgram(s *process.Sandbox, name string) {
	path, err := exec.LookPath(name)
	if err != nil {
		return
	}
	if path, err = filepath.Abs(path); err != nil {
		return
	}
	s.Programs = append(s.Programs, path)
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if before, _, ok := strings.Cut(target, "/node_modules/"); ok {
		target = before + "/node_modules"
	}
	s.Read = append(s.Read, target)
}

// agentHome describes where an agent program stores its login and its sessions, and which of its files belong to the
// user's own sessions.
type agentHome struct {
	// dir is its folder. In a sandbox, the folder contains only what the other fields name. Other files that the
	// program writes there are gone after the run.
	dir string
	// writablePaths are files and folders in dir that the program can write: the login and the sessions. A name that
	// ends with a slash is a folder, which is created if it does not exist.
	writablePaths []string
	// readOnlyPaths are files and folders in dir that the program can only read: the user's settings, instructions and
	// programs.
	readOnlyPaths []string
	// maskedFiles maps files in dir to the text that the program sees in their place. The files contain the hooks of
	// the user's own sessions, which could find neither their server nor their token in a sandbox.
	maskedFiles map[string]string
	// copiedFiles are paths of files. The worker copies each file when it starts, and the program can write only the
	// copy.
	copiedFiles []string
	// caches are folders in dir with files that the program runs. In the sandbox, a folder of the worker replaces
	// each of them.
	caches []string
}

// agentHomes returns the homes of the agent programs that the worker runs.
func (o WorkerOptions) agentHomes() ([]agentHome, error) {
	user, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	var homes []agentHome
	for _, name := range o.Agents.Runners {
		own := agentHome{dir: filepath.Join(o.Folder, ".agents"), writablePaths: []string{name + "/"}}
		switch name {
		case claude.Name:
			homes = append(homes, claudeHome(user))
		case codex.Name:
			homes = append(homes, agentHome{
				dir:           cmp.Or(os.Getenv("CODEX_HOME"), filepath.Join(user, ".codex")),
				writablePaths: []string{"auth.json", "sessions/"},
				readOnlyPaths: []string{"config.toml", "AGENTS.md", "prompts", "rules", "skills"},
				maskedFiles:   map[string]string{"hooks.json": "{}\n"},
			})
		case gemini.Name:
			homes = append(homes, own, agentHome{dir: user, readOnlyPaths: []string{".gemini"}})
		case opencode.Name:
			settings := filepath.Join(user, ".config", "opencode")
			homes = append(homes, own, agentHome{dir: settings, readOnlyPaths: entriesOf(settings)}, agentHome{
				dir:           user,
				writablePaths: []string{".local/share/opencode/", ".local/state/opencode/"},
				// The snapshots and repositories of opencode belong to git, and the configuration of git can name
				// programs to run.
				caches: []string{".cache/opencode", ".local/share/opencode/bin", ".local/share/opencode/snapshot", ".local/share/opencode/repos"},
			})
		}
	}
	return homes, nil
}

func claudeHome(user string) agentHome {
	home := agentHome{
		dir:           filepath.Join(user, ".claude"),
		writablePaths: []string{".credentials.json", "projects/"},
		readOnlyPaths: []string{"settings.local.json", "CLAUDE.md", "agents", "commands", "skills", "plugins", "hooks", "rules", "output-styles", "local"},
		maskedFiles:   map[string]string{"settings.json": "{}\n"},
		copiedFiles:   []string{filepath.Join(user, ".claude.json")},
	}
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		home.dir, home.copiedFiles = dir, []string{filepath.Join(dir, ".claude.json")}
	}
	return home
}

// entriesOf returns the names of the entries of a folder, or nil if it cannot be read.
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

// addTo adds the home to the sandbox. Copies and caches are in state, a folder of the worker.
func (h agentHome) addTo(s *process.Sandbox, state string) error {
	if h.dir != "" {
		s.Hide = append(s.Hide, h.dir)
	}
	for _, name := range h.writablePaths {
		at := filepath.Join(h.dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(at, 0o700); err != nil {
				return err
			}
		}
		s.Write = append(s.Write, at)
	}
	for _, name := range h.readOnlyPaths {
		s.Read = append(s.Read, filepath.Join(h.dir, name))
	}
	for name, text := range h.maskedFiles {
		from := filepath.Join(state, "blank-"+name)
		if err := makeFile(from, text); err != nil {
			return err
		}
		s.Masks[filepath.Join(h.dir, name)] = from
	}
	for _, at := range h.copiedFiles {
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

// copyFile replaces the file to with a copy of the file from. If from does not exist, it only removes to.
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

// makeFile creates a file with the text, unless the file exists.
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
