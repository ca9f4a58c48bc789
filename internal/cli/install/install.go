package install

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/config"
)

// Command is fermata install: it sets an agent program up, or removes what it wrote.
type Command struct {
	DryRun  bool   `name:"dry-run" help:"Name the files that would be changed, and change nothing."`
	Program string `arg:"" enum:"claude,codex,opencode,gemini" help:"claude, codex, opencode or gemini."`
	Scope   string `enum:"user,project" default:"user" help:"user: for every session of yours; project: for the project in this folder."`
	Remove  bool   `help:"Take out what was written, and nothing else."`
}

// Help returns the description and the examples that --help prints.
func (Command) Help() string {
	return `Writes into the program's own configuration: Fermata's MCP server, so that the agent can ask, and the hooks that gate its tools and mirror its permission dialogs. Everything else in the files stays as it is, comments included; a copy of each file is kept beside it. Doing it again changes nothing.

Examples:

    fermata install claude
    fermata install gemini --scope project
    fermata install codex --dry-run
    fermata install claude --remove`
}

// configFile is one configuration file of a program, and how to edit it.
type configFile struct {
	path string
	// edit returns the content with Fermata's part, or without it if remove is true.
	edit func(content []byte, remove bool) ([]byte, error)
}

// installation holds the changes that a program needs.
type installation struct {
	files []configFile
	// notes are printed for the person after the files are written.
	notes []string
}

// Run runs the command.
func (c *Command) Run(s *session.Session) error {
	plan, err := c.plan(s)
	if err != nil {
		return err
	}
	edits, err := c.planEdits(plan)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if err := c.apply(s, e); err != nil {
			return err
		}
	}
	switch {
	case len(edits) == 0:
		s.Stderr().Line("nothing to do: it is as it should be")
	case !c.Remove && !c.DryRun:
		for _, note := range plan.notes {
			s.Stderr().Line("%s", note)
		}
	}
	if !c.Remove {
		return c.warnOfMissingToken(s)
	}
	return nil
}

// warnOfMissingToken tells the person if the hooks have no token. A server in single-user mode needs none: it treats programs on
// its own machine as the person.
func (c *Command) warnOfMissingToken(s *session.Session) error {
	login, file, err := s.Login()
	if err != nil {
		return err
	}
	if address := login.Address(s.URL); login.Token(address) == "" {
		s.Stderr().Line("no token is stored for %s in %s, and the hooks read no other: run fermata login --url %s, unless that server runs with --single-user", address, file, address)
	}
	return nil
}

func (c *Command) plan(s *session.Session) (*installation, error) {
	target, err := c.findTarget(s)
	if err != nil {
		return nil, err
	}
	switch c.Program {
	case "claude":
		return target.claude(), nil
	case "codex":
		return target.codex()
	case "opencode":
		return target.opencode()
	default:
		return target.gemini(), nil
	}
}

// fileEdit is the change of one file. A nil after removes the file.
type fileEdit struct {
	// name is the file name that the person knows. path is the real path.
	name, path    string
	exists        bool
	before, after []byte
	// stripPart returns the content without Fermata's part.
	stripPart func(content []byte) ([]byte, error)
}

// planEdits computes the changes of all files before the first file is written. Half an installation would let an agent
// ask but check no call.
func (c *Command) planEdits(plan *installation) ([]fileEdit, error) {
	var edits []fileEdit
	for _, f := range plan.files {
		e, err := c.planEdit(f)
		if err != nil {
			return nil, err
		}
		if string(e.after) != string(e.before) {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

func (c *Command) planEdit(f configFile) (fileEdit, error) {
	e := fileEdit{name: f.path, path: f.path, stripPart: func(content []byte) ([]byte, error) { return f.edit(content, true) }}
	if target, err := filepath.EvalSymlinks(f.path); err == nil {
		// A link stays a link; the file behind it changes.
		e.path = target
	}
	var err error
	e.before, err = os.ReadFile(e.path)
	e.exists = err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return e, fermata.Errorf(fermata.CodeInvalidRequest, "read %s: %w", f.path, err)
	}
	if e.after, err = f.edit(e.before, c.Remove); err != nil {
		return e, fermata.Errorf(fermata.CodeInvalidRequest, "%s: %s", f.path, err).
			WithHint("nothing was written; repair the file and try again")
	}
	return e, nil
}

// apply changes one file. In a dry run it only prints what would happen to the file.
func (c *Command) apply(s *session.Session, e fileEdit) error {
	if c.DryRun {
		s.Stderr().Line("dry run: would %s %s", e.verb(), e.name)
		return nil
	}
	if e.exists {
		if err := backUp(s, e.path, e.before); err != nil {
			return err
		}
	}
	s.Stderr().Line("%s %s", e.verb()+"d", e.name)
	err := e.write()
	if err == nil && c.Remove {
		err = e.removeCopies()
	}
	return err
}

func (e fileEdit) write() error {
	if e.after == nil {
		return os.Remove(e.path)
	}
	return replaceFile(e.path, e.after)
}

// removeCopies removes the backup copies that hold nothing but the present content and Fermata's part. A copy with
// other text of a person stays.
func (e fileEdit) removeCopies() error {
	dir, file := filepath.Split(e.path)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !strings.HasPrefix(entry.Name(), file+backupMark) {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		content, err := os.ReadFile(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if stripped, err := e.stripPart(content); err == nil && string(stripped) == string(e.after) {
			errs = append(errs, os.Remove(name))
		}
	}
	return errors.Join(errs...)
}

// backupMark separates the name of a file from the time of its backup copy.
const backupMark = ".backup-"

func (e fileEdit) verb() string {
	switch {
	case e.after == nil:
		return "remove"
	case e.exists:
		return "change"
	default:
		return "create"
	}
}

// backUp stores a backup copy of a file under a free name.
func backUp(s *session.Session, path string, content []byte) error {
	name := path + backupMark + s.Now().UTC().Format("20060102-150405")
	for n := 0; ; n++ {
		free := name
		if n > 0 {
			free = fmt.Sprintf("%s-%d", name, n)
		}
		file, err := os.OpenFile(free, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue
		}
		if err != nil {
			return fermata.Errorf(fermata.CodeInvalidRequest, "keep a copy of %s: %w", path, err)
		}
		_, err = file.Write(content)
		return errors.Join(err, file.Close())
	}
}

// replaceFile replaces a file atomically and keeps its mode.
func replaceFile(path string, content []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".fermata-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// target holds the locations of the programs' configuration, and how the hooks call fermata.
type target struct {
	project bool
	// dir is the project's folder. home is the person's home.
	dir, home string
	// program is the command that starts fermata.
	program string
	// server holds the flags of hooks that name the server and the token for it.
	server []string
	// url is the address of the server if it was named, and is not the one of the stored login. The MCP server needs it
	// then, because it would use the login.
	url string
}

func (c *Command) findTarget(s *session.Session) (target, error) {
	dir, err := os.Getwd()
	if err != nil {
		return target{}, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return target{}, err
	}
	p := target{project: c.Scope == "project", dir: dir, home: home, program: programName(c.Scope == "project")}
	login, file, err := s.Login()
	if err != nil {
		return target{}, err
	}
	address := login.Address(s.URL)
	p.server = []string{"--server", address}
	if file != "" && !p.project {
		p.server = append(p.server, "--token-file", file)
	}
	p.server = append(p.server, agent.ProxyFlag(address)...)
	if config.CanonicalURL(s.URL) != "" && address != config.CanonicalURL(login.URL) {
		p.url = address
	}
	return p, nil
}

// programName returns the bare name if other people share the file, or else the whole path. Settings of a project may
// change where a bare name is found.
func programName(shared bool) string {
	self, err := os.Executable()
	if err != nil || shared {
		return "fermata"
	}
	if found, err := exec.LookPath("fermata"); err == nil {
		a, errA := os.Stat(found)
		b, errB := os.Stat(self)
		if absolute, err := filepath.Abs(found); errA == nil && errB == nil && err == nil && os.SameFile(a, b) {
			// A link is used as it is, because its target may be replaced.
			return absolute
		}
	}
	return self
}

func envOr(name, other string) string {
	if dir := os.Getenv(name); dir != "" {
		return dir
	}
	return other
}
