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

// Sandbox is what a program sees of the machine, apart from what everybody may
// read: the homes, the temporary folders and the sockets of the machine are not
// there, and it can write nothing but what is named. It has its own processes.
type Sandbox struct {
	// Program is bubblewrap.
	Program string
	// Hide are further folders that the program does not see, even if it sees a folder around them.
	Hide []string
	// Read and Write are files and folders that are there all the same; one that
	// does not exist is left out. A path in both can only be read.
	Read, Write []string
	// Programs are the absolute paths of programs, and of links to programs. They are seen even if their folder is hidden.
	Programs []string
	// Masks and Copies are files and folders, by the path at which they are seen instead of what is there. Those of
	// Copies can be written.
	Masks, Copies map[string]string
	// Offline takes the network away.
	Offline bool
}

// hidden are the folders that no program in a sandbox sees.
var hidden = []string{"/home", "/root", "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/etc/fermata", "/var/lib/fermata"}

// sandboxKey is the key of the sandbox in a context.
type sandboxKey struct{}

// InSandbox lets the programs that are run with the context run in a sandbox.
func InSandbox(ctx context.Context, s *Sandbox) context.Context {
	return context.WithValue(ctx, sandboxKey{}, s)
}

// sandboxOf returns the sandbox of a context; nil is none.
func sandboxOf(ctx context.Context) *Sandbox {
	s, _ := ctx.Value(sandboxKey{}).(*Sandbox)
	return s
}

// With returns the sandbox with all that the other one adds.
func (s *Sandbox) With(other Sandbox) *Sandbox {
	both := *s
	both.Hide = slices.Concat(s.Hide, other.Hide)
	both.Programs = slices.Concat(s.Programs, other.Programs)
	both.Read, both.Write = slices.Concat(s.Read, other.Read), slices.Concat(s.Write, other.Write)
	both.Masks, both.Copies = mergeMaps(s.Masks, other.Masks), mergeMaps(s.Copies, other.Copies)
	return &both
}

// mergeMaps returns what is in either map; where both have a key, it is that of b.
func mergeMaps(a, b map[string]string) map[string]string {
	both := map[string]string{}
	maps.Copy(both, a)
	maps.Copy(both, b)
	return both
}

// command returns the command that runs p in the sandbox. The worker ends programs
// with a signal to their process group. The sandbox itself ignores it, because the
// program would be killed with the sandbox before it could stop. Its first process locks
// the file known, where there is one.
func (s *Sandbox) command(p Program, known string) []string {
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
	if known != "" {
		args = append(args, "--lock-file", known)
	}
	args = append(args, "--unsetenv", "SSH_AUTH_SOCK", "--unsetenv", "XDG_RUNTIME_DIR", "--setenv", "TMPDIR", "/tmp", "--chdir", p.Dir, "--")
	args = append(append(args, "env", "--default-signal=TERM"), p.Argv...)
	return append([]string{"sh", "-c", `trap "" TERM; exec "$@"`, "sh", s.Program}, args...)
}

// hiddenFolders returns the folders that the program does not see, the outer ones first.
func (s *Sandbox) hiddenFolders() []string {
	all := slices.Concat(hidden, s.Hide)
	if home, err := os.UserHomeDir(); err == nil {
		all = append(all, home)
	}
	there := make([]string, 0, len(all))
	for _, dir := range all {
		if at, err := filepath.EvalSymlinks(dir); err == nil && at != "/" {
			there = append(there, at)
		}
	}
	slices.Sort(there)
	return slices.Compact(there)
}

// makeKnown makes the file by which the sandbox of a program is known to be that of a
// run; none where the program has no folder.
func makeKnown(p Program) (string, error) {
	if p.Folder == "" {
		return "", nil
	}
	file, err := os.CreateTemp(p.Folder, sandboxFile+"*")
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// contains reports whether a path is a folder or lies in it.
func contains(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// mount is a file or a folder that a program sees, or a folder that it does not see.
type mount struct{ kind, from, at string }

// The kinds of a mount, as bubblewrap calls them.
const (
	hides   = "--tmpfs"
	reads   = "--ro-bind"
	writes  = "--bind"
	linksTo = "--symlink"
)

// args are the arguments of bubblewrap.
func (m mount) args() []string {
	if m.kind == hides {
		return []string{m.kind, m.at}
	}
	return []string{m.kind, m.from, m.at}
}

// mounts returns what is hidden and what is seen, the outer folders first: what lies in a folder is laid over it. So a hidden
// folder stays hidden inside one that is seen. Of two mounts at one place the last holds.
func (s *Sandbox) mounts(folder string) []mount {
	var all []mount
	for _, dir := range s.hiddenFolders() {
		all = append(all, mount{kind: hides, at: dir})
	}
	all = append(all, s.openedMounts(folder)...)
	slices.SortStableFunc(all, func(a, b mount) int { return cmp.Compare(len(a.at), len(b.at)) })
	var laid []mount
	for _, m := range all {
		if m.kind != hides || !isHidden(laid, m.at) {
			laid = append(laid, m)
		}
	}
	return append(laid, s.programMounts(laid)...)
}

// isHidden reports whether the mounts hide a path. The outer mounts come first.
func isHidden(laid []mount, path string) bool {
	for _, m := range slices.Backward(laid) {
		if contains(m.at, path) {
			return m.kind == hides
		}
	}
	// A sandbox has a /dev and a /proc of its own.
	return contains("/dev", path) || contains("/proc", path)
}

// OnlyReads reports whether the path is, or lies in, a file or folder that the program can only read.
func (s *Sandbox) OnlyReads(path string) bool {
	only := slices.Concat(s.Read, s.Programs, slices.Collect(maps.Keys(s.Masks)))
	return slices.ContainsFunc(only, func(folder string) bool { return contains(folder, path) })
}

// openedMounts returns what is seen although a folder around it may be hidden.
func (s *Sandbox) openedMounts(folder string) []mount {
	var all []mount
	add := func(kind, from, at string) {
		if _, err := os.Stat(from); err == nil {
			all = append(all, mount{kind, from, at})
		}
	}
	for _, path := range append(slices.Clone(s.Write), folder) {
		if path != "" {
			add(writes, path, path)
		}
	}
	for _, path := range append(slices.Clone(s.Read), nameService()) {
		if path != "" {
			add(reads, path, path)
		}
	}
	for at, from := range s.Copies {
		add(writes, from, at)
	}
	for at, from := range s.Masks {
		add(reads, from, at)
	}
	return all
}

// nameService is the file by which names of hosts are found, where it lies in a
// folder that is hidden.
func nameService() string {
	at, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil || !contains("/run", at) {
		return ""
	}
	return at
}

// FindSandbox returns the program that makes sandboxes, after it made one. The
// error says why there can be none here.
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
