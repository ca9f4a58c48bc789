package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// settings are the values and files that decide which programs git starts in a repository, and where git sends data.
// The worker notes them before the first run in a repository. It runs git only with the noted settings, never with
// those that it finds later.
type settings struct {
	// Config holds the values of the repository's own configuration by their keys.
	Config map[string][]string `json:"config"`
	// Files holds digests of hooks, attributes and similar files, by their names below the common folder.
	Files map[string]string `json:"files"`
}

// readSettings returns the present settings of a repository.
func (r repository) readSettings(ctx context.Context) (settings, error) {
	s := settings{Config: map[string][]string{}, Files: map[string]string{}}
	for file, prefix := range map[string]string{"config": "", "config.worktree": mainPrefix} {
		if err := r.readConfig(ctx, filepath.Join(r.common, file), prefix, s.Config); err != nil {
			return s, err
		}
	}
	return s, errors.Join(s.addFile(r.common, filepath.Join("info", "attributes")), s.addHooks(r.common, "hooks"), s.addModules(r.common))
}

// Prefixes of keys that apply to one worktree only: mainPrefix to the main one, ownPrefix to the one of the copy.
const (
	mainPrefix = "config.worktree:"
	ownPrefix  = "worktree:"
)

// readConfig adds the values of one file, and of the files that it includes. A missing file has no values.
func (r repository) readConfig(ctx context.Context, file, prefix string, into map[string][]string) error {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !isFile(file) {
		return fmt.Errorf("%s is no file", file)
	}
	out, err := r.git(ctx, "config", "--file", file, "--includes", "--list", "-z")
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		if key, value, ok := strings.Cut(entry, "\n"); ok {
			into[prefix+key] = append(into[prefix+key], value)
		} else if key != "" {
			into[prefix+key] = append(into[prefix+key], "true")
		}
	}
	return nil
}

// addFile adds the digest of a file below the folder, if the file exists. For a link, it reads the file that the link
// names.
func (s settings) addFile(folder, name string) error {
	path := filepath.Join(folder, name)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var data []byte
	if isFile(path) {
		if data, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(data)
	s.Files[filepath.ToSlash(name)] = fmt.Sprintf("%s %s", info.Mode(), hex.EncodeToString(sum[:]))
	return nil
}

// isFile reports whether a path names a regular file, which can be read to its end. An agent may put a pipe in its
// place, and the worker would wait for it.
func isFile(path string) bool {
	info, err := os.Stat(path) //nolint:gosec // it is only looked what is there
	return err == nil && info.Mode().IsRegular()
}

// addHooks adds the hooks of a folder, without the samples.
func (s settings) addHooks(folder, name string) error {
	entries, err := os.ReadDir(filepath.Join(folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		if err := s.addFile(folder, filepath.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// addModules adds the configuration and the hooks of submodules. When a person runs git in the repository, git runs the
// programs that they name.
func (s settings) addModules(common string) error {
	folder := filepath.Join(common, "modules")
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{"objects", "refs", "logs", "lfs", "worktrees"}, e.Name()):
			return fs.SkipDir
		case e.IsDir() && e.Name() == "hooks":
			name, err := filepath.Rel(common, path)
			if err := errors.Join(err, s.addHooks(common, name)); err != nil {
				return err
			}
			return fs.SkipDir
		case !e.IsDir() && (e.Name() == "config" || e.Name() == "config.worktree"):
			name, err := filepath.Rel(common, path)
			return errors.Join(err, s.addFile(common, name))
		default:
			return nil
		}
	})
}

// harmlessKeys are settings that start no program, and that git, tools and agents write in the course of work. A *
// matches one or more characters.
var harmlessKeys = []string{
	"branch.*.merge", "branch.*.rebase", "branch.*.description", "branch.*.gh-merge-base", "branch.*.vscode-merge-base", "branch.autosetupmerge",
	"branch.autosetuprebase", "branch.sort", "user.name", "user.email", "remote.*.gh-resolved", "remote.*.fetch", "submodule.*.active", "submodule.*.url",
	"lfs.*.access", "lfs.repositoryformatversion", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "advice.*", "color.*",
}

// remoteKeys are settings that name a remote, or the address of a repository. They are harmless if they name a remote
// that existed before, or a repository on another machine. For a repository on this machine, git starts its hooks.
var remoteKeys = []string{"branch.*.remote", "branch.*.pushremote", "remote.pushdefault"}

// isHarmless reports whether these values of a setting start no program.
func (s settings) isHarmless(key string, values []string) bool {
	if !matchesAny(remoteKeys, key) {
		return matchesAny(harmlessKeys, key)
	}
	return !slices.ContainsFunc(values, func(value string) bool {
		_, isRemote := s.Config["remote."+value+".url"]
		return value != "." && !isRemote && !strings.HasPrefix(value, "https://") && !strings.HasPrefix(value, "ssh://") && !strings.HasPrefix(value, "git@")
	})
}

// changes returns the names of the settings and files that differ from current, sorted.
func (s settings) changes(current settings) []string {
	changed := changedKeys(s.dropHarmless(s.Config), s.dropHarmless(current.Config), slices.Equal)
	changed = append(changed, changedKeys(s.Files, current.Files, func(a, b string) bool { return a == b })...)
	slices.Sort(changed)
	return changed
}

// dropHarmless returns the values without the harmless ones.
func (s settings) dropHarmless(config map[string][]string) map[string][]string {
	rest := maps.Clone(config)
	maps.DeleteFunc(rest, s.isHarmless)
	return rest
}

// changedKeys returns the keys that were added, changed or removed.
func changedKeys[V any](old, current map[string]V, same func(a, b V) bool) []string {
	var names []string
	for key, value := range current {
		if oldValue, ok := old[key]; !ok {
			names = append(names, key+" (added)")
		} else if !same(oldValue, value) {
			names = append(names, key+" (changed)")
		}
	}
	for key := range old {
		if _, ok := current[key]; !ok {
			names = append(names, key+" (removed)")
		}
	}
	return names
}

// carriedKeys are the settings that the worker's own git uses. None of them makes git run a file of an agent: the
// programs that they name belong to the user, and [copyGit.checkPrograms] refuses one that lies in the working copy.
var carriedKeys = []string{
	"core.repositoryformatversion", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.protecthfs",
	"core.protectntfs", "core.autocrlf", "core.eol", "core.safecrlf", "core.longpaths", "core.quotepath", "core.bigfilethreshold",
	"core.compression", "core.sharedrepository", "core.excludesfile", "core.sshcommand", "core.sparsecheckout", "core.sparsecheckoutcone",
	"index.sparse", "extensions.objectformat", "extensions.partialclone", "filter.*", "lfs.*", "remote.*.url", "remote.*.pushurl",
	"remote.*.promisor", "remote.*.partialclonefilter", "url.*", "http.*", "credential.*", "ssh.variant",
}

// carriedConfig returns the lines of a configuration with the carried settings. Those of the worktree come last, so
// they win.
func (s settings) carriedConfig() string {
	var text strings.Builder
	for _, prefix := range []string{"", ownPrefix} {
		for _, key := range slices.Sorted(maps.Keys(s.Config)) {
			name, ok := strings.CutPrefix(key, prefix)
			if !ok || !matchesAny(carriedKeys, name) {
				continue
			}
			for _, value := range s.Config[key] {
				writeSetting(&text, name, value)
			}
		}
	}
	return text.String()
}

// matchesAny reports whether one of the patterns matches the key.
func matchesAny(patterns []string, key string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		before, after, star := strings.Cut(pattern, "*")
		return key == pattern || star && strings.HasPrefix(key, before) && strings.HasSuffix(key, after) && len(key) > len(before)+len(after)
	})
}

// quoting escapes a value for git's configuration, between double quotes.
var quoting = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

// writeSetting writes one setting: a section, perhaps with a name, and a key.
func writeSetting(text *strings.Builder, key, value string) {
	section, rest, _ := strings.Cut(key, ".")
	name, last := "", rest
	if at := strings.LastIndexByte(rest, '.'); at >= 0 {
		name, last = ` "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(rest[:at])+`"`, rest[at+1:]
	}
	fmt.Fprintf(text, "[%s%s]\n\t%s = \"%s\"\n", section, name, last, quoting.Replace(value))
}

// lastValue returns the last value of the key, which is the one that git uses.
func (s settings) lastValue(key string) string {
	if values := s.Config[key]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// merge returns the settings with those of a worktree added.
func (s settings) merge(own settings) settings {
	both := settings{Config: maps.Clone(s.Config), Files: s.Files}
	maps.Copy(both.Config, own.Config)
	return both
}

// loadSettings reads the noted settings, and reports whether there are any.
func loadSettings(name string) (s settings, known bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	return s, true, err
}

// knownSettings holds the noted settings by the names of their files. Settings that were read once are valid until the
// worker ends, because an agent that is not isolated can write the files.
type knownSettings struct {
	mu     sync.Mutex
	byFile map[string]settings
}

// loadOrSave returns the settings that were noted in the file. If none were noted, it notes the current ones. If the
// file differs from what this worker has read before, it restores the file.
func (n *knownSettings) loadOrSave(name string, current settings) (settings, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	inFile, found, err := loadSettings(name)
	noted, known := n.byFile[name]
	switch {
	case known && err == nil && found && inFile.equal(noted):
		return noted, nil
	case known:
		return noted, noted.save(name)
	case err != nil:
		return noted, fmt.Errorf("read %s: %w", name, err)
	case found:
		noted = inFile
	default:
		noted = current
		if err := current.save(name); err != nil {
			return current, err
		}
	}
	n.byFile[name] = noted
	return noted, nil
}

// forget drops the settings of a file, so that they are noted again.
func (n *knownSettings) forget(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byFile, name)
}

// equal reports whether both hold the same settings.
func (s settings) equal(other settings) bool {
	return maps.EqualFunc(s.Config, other.Config, slices.Equal[[]string]) && maps.Equal(s.Files, other.Files)
}

// save writes the settings to the file atomically.
func (s settings) save(name string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(name, data)
}

// replaceFile writes a file atomically: no reader sees half of it.
func replaceFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
