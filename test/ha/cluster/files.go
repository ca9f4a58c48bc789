//go:build linux

package cluster

import (
	"crypto/rand"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// values are the placeholders in the files of deploy/ha, such as ${ADDRESS}.
type values map[string]string

// with returns the values and some more of them.
func (v values) with(more values) values {
	all := maps.Clone(v)
	maps.Copy(all, more)
	return all
}

var placeholder = regexp.MustCompile(`\$\{[A-Z0-9_]+\}`)

// fill writes a file of deploy/ha with its placeholders filled. It fails if a placeholder has no value.
func (c *Cluster) fill(name, folder string, v values, owner *syscall.Credential) error {
	text, err := os.ReadFile(filepath.Join(c.options.Templates, name))
	if err != nil {
		return err
	}
	var missing []string
	filled := placeholder.ReplaceAllStringFunc(string(text), func(found string) string {
		key := found[2 : len(found)-1]
		value, ok := v[key]
		if !ok {
			missing = append(missing, key)
		}
		return value
	})
	if len(missing) > 0 {
		return fmt.Errorf("deploy/ha/%s: no value for %s", name, strings.Join(missing, ", "))
	}
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte(filled), 0o600); err != nil { //nolint:gosec // the caller names the folder
		return err
	}
	return give(path, owner)
}

// makeFolder makes a folder for one user.
func makeFolder(path string, owner *syscall.Credential) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return give(path, owner)
}

func give(path string, owner *syscall.Credential) error {
	if owner == nil {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}

// readEnv returns the settings of a file with a line NAME=VALUE for each.
func readEnv(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var settings []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			settings = append(settings, line)
		}
	}
	return settings, nil
}

// programEnv is the environment of a program: none of the settings of this process, which could name other servers.
func programEnv(home string, more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin", "HOME=" + home, "LC_ALL=C.UTF-8", "PYTHONUNBUFFERED=1",
	}, more...)
}

// databaseOwner returns the user for PostgreSQL and pgbouncer, which refuse to run as root. For another user than root
// it returns nil: they run as that user.
func databaseOwner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is this user
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("PostgreSQL needs a user that is not root: create one called postgres")
}

// postgresBin returns the folder with the newest programs of PostgreSQL.
func postgresBin() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.SortFunc(found, func(a, b string) int { return versionOf(b) - versionOf(a) })
	if len(found) > 0 {
		return filepath.Dir(found[0]), nil
	}
	program, err := exec.LookPath("initdb")
	if err != nil {
		return "", fmt.Errorf("PostgreSQL is missing: run scripts/setup ha")
	}
	return filepath.Dir(program), nil
}

// versionOf returns the version in a path such as /usr/lib/postgresql/15/bin/initdb.
func versionOf(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

// program returns the path of a program of Debian. Some are in /usr/sbin, which is not in the PATH of every user.
func program(name string) (string, error) {
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is missing: run scripts/setup ha", name)
}

func newPassword() string { return rand.Text() }
