package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Sandbox describes what a program sees of the machine. Homes, temporary folders and sockets are hidden, unless they
// are named here. The rest of what every user may read is visible. The program can write only what is named here. It
// has its own process ids.
type Sandbox struct {
	// Program is the path of bubblewrap.
	Program string
	// Hide lists further folders that the program does not see, even inside a folder that it sees.
	Hide []string
	// Read and Write list files and folders that are visible even if a folder around them is hidden. A path that does
	// not exist is left out. A path in both can only be read.
	Read, Write []string
	// Programs lists the absolute paths of programs, and of links to programs. They are visible even if their folder is
	// hidden.
	Programs []string
	// Masks and Copies map a path to the file or folder that the program sees there instead. Those of Copies can be
	// written.
	Masks, Copies map[string]string
	// Offline takes the network away.
	Offline bool
}

// alwaysHidden are the folders that no program in a sandbox sees.
var alwaysHidden = []string{"/home", "/root", "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/etc/fermata", "/var/lib/fermata"}

// sandboxKey is the key of the sandbox in a context.
type sandboxKey struct{}

// WithSandbox returns a context whose programs run in the sandbox.
func WithSandbox(ctx context.Context, s *Sandbox) context.Context {
	return context.WithValue(ctx, sandboxKey{}, s)
}

// sandboxOf returns the sandbox of a context, or nil.
func sandboxOf(ctx context.Context) *Sandbox {
	s, _ := ctx.Value(sandboxKey{}).(*Sandbox)
	return s
}

// With returns the sandbox with everything that the other one adds.
func (s *Sandbox) With(other Sandbox) *Sandbox {
	both := *s
	both.Hide = slices.Concat(s.Hide, other.Hide)
	both.Programs = slices.Concat(s.Programs, other.Programs)
	both.Read, both.Write = slices.Concat(s.Read, other.Read), slices.Concat(s.Write, other.Write)
	both.Masks, both.Copies = mergeMaps(s.Masks, other.Masks), mergeMaps(s.Copies, other.Copies)
	return &both
}

// mergeMaps returns the entries of both maps. If both have a key, the value of b is used.
func mergeMaps(a, b map[string]string) map[string]string {
	both := map[string]string{}
	maps.Copy(both, a)
	maps.Copy(both, b)
	return both
}

// command returns the command that runs p in the sandbox. The worker ends programs with a signal to their process
// group. The sandbox itself ignores the signal: if it died, the program would be killed before it could stop. The first
// process of the sandbox locks the file lockFile, if that is not empty.
func (s *Sandbox) command(p Program, lockFile string) []string {
	args := []string{
		"--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	}
	if s.Offline {
		args = append(args, "--unshare-net")
	}
	for _, m := range s.mounts(p.Folder) {
		args = append(args, m.args()...)
	}
	if lockFile != "" {
		args = append(args, "--lock-file", lockFile)
	}
	args = append(args, "--unsetenv", "SSH_AUTH_SOCK", "--unsetenv", "XDG_RUNTIME_DIR", "--setenv", "TMPDIR", "/tmp", "--chdir", p.Dir, "--")
	args = append(append(args, "env", "--default-signal=TERM"), p.Argv...)
	return append([]string{"sh", "-c", `trap "" TERM; exec "$@"`, "sh", s.Program}, args...)
}

// hiddenFolders returns the folders that the program does not see, the outer ones first.
func (s *Sandbox) hiddenFolders() []string {
	all := slices.Concat(alwaysHidden, s.Hide)
	if home, err := os.UserHomeDir(); err == nil {
		all = append(all, home)
	}
	existing := make([]string, 0, len(all))
	for _, dir := range all {
		if at, err := filepath.EvalSymlinks(dir); err == nil && at != "/" {
			existing = append(existing, at)
		}
	}
	slices.Sort(existing)
	return slices.Compact(existing)
}

// makeLockFile creates the file that shows that a sandbox belongs to a run. It creates none if the program has no
// folder.
func makeLockFile(p Program) (string, error) {
	if p.Folder == "" {
		return "", nil
	}
	file, err := os.CreateTemp(p.Folder, sandboxFile+"*")
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// contains reports whether the path is the folder or lies in it.
func contains(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// mount is a file or folder that a program sees, or a folder that is hidden from it.
type mount struct{ kind, from, at string }

// The kinds of a mount, as bubblewrap calls them.
const (
	mountHidden   = "--tmpfs"
	mountReadOnly = "--ro-bind"
	mountWritable = "--bind"
	mountLink     = "--symlink"
)

// args returns the arguments of bubblewrap for the mount.
func (m mount) args() []string {
	if m.kind == mountHidden {
		return []string{m.kind, m.at}
	}
	return []string{m.kind, m.from, m.at}
}

// mounts returns the hidden and the visible paths, the outer folders first, because an inner mount is laid over the
// outer one. So a hidden folder stays hidden inside a visible one. Of two mounts at one place, the last one counts.
func (s *Sandbox) mounts(folder string) []mount {
	var all []mount
	for _, dir := range s.hiddenFolders() {
		all = append(all, mount{kind: mountHidden, at: dir})
	}
	all = append(all, s.visibleMounts(folder)...)
	slices.SortStableFunc(all, func(a, b mount) int { return cmp.Compare(len(a.at), len(b.at)) })
	var laid []mount
	for _, m := range all {
		if m.kind != mountHidden || !isHidden(laid, m.at) {
			laid = append(laid, m)
		}
	}
	return append(laid, s.programMounts(laid)...)
}

// isHidden reports whether the mounts hide a path. The outer mounts come first.
func isHidden(laid []mount, path string) bool {
	for _, m := range slices.Backward(laid) {
		if contains(m.at, path) {
			return m.kind == mountHidden
		}
	}
	// A sandbox has its own /dev and /proc.
	return contains("/dev", path) || contains("/proc", path)
}

// IsReadOnly reports whether the path is, or lies in, a file or folder that the program can only read.
func (s *Sandbox) IsReadOnly(path string) bool {
	only := slices.Concat(s.Read, s.Programs, slices.Collect(maps.Keys(s.Masks)))
	return slices.ContainsFunc(only, func(folder string) bool { return contains(folder, path) })
}

// visibleMounts returns the paths that are visible although a folder around them may be hidden.
func (s *Sandbox) visibleMounts(folder string) []mount {
	var all []mount
	add := func(kind, from, at string) {
		if _, err := os.Stat(from); err == nil {
			all = append(all, mount{kind, from, at})
		}
	}
	for _, path := range append(slices.Clone(s.Write), folder) {
		if path != "" {
			add(mountWritable, path, path)
		}
	}
	for _, path := range append(slices.Clone(s.Read), nameService()) {
		if path != "" {
			add(mountReadOnly, path, path)
		}
	}
	for at, from := range s.Copies {
		add(mountWritable, from, at)
	}
	for at, from := range s.Masks {
		add(mountReadOnly, from, at)
	}
	return all
}

// nameService returns the file that configures host names, if it lies in a hidden folder.
func nameService() string {
	at, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || !contains("/run", at) {
		return ""
	}
	return at
}

// FindSandbox returns the path of the program that creates sandboxes, after a test of it. The error says why this
// machine cannot create a sandbox.
func FindSandbox(ctx context.Context) (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("only Linux has sandboxes")
	}
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return "", errors.New("bubblewrap is not installed: there is no program bwrap")
	}
	s := &Sandbox{Program: program}
	argv := s.command(Program{Argv: []string{"true"}, Dir: "/"}, "")
	if out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("bubblewrap can make no sandbox here: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return program, nil
}
