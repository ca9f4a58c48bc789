package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// writesOutside reports whether the call may write a file outside of the folder in which
// the agent works. A link out of the folder leads outside, and so does a path that
// cannot be followed.
func (in *hookEvent) writesOutside() bool {
	call := fermata.GateCall{Tool: in.Tool, Input: in.Input}
	if !call.Writes() {
		return false
	}
	dir, err := filepath.EvalSymlinks(in.Dir)
	for _, path := range call.Paths() {
		if err != nil || !isBelow(dir, in.Dir, path) {
			return true
		}
	}
	return false
}

// isBelow reports whether a path, as a tool takes it in the folder, leads below dir.
func isBelow(dir, folder, path string) bool {
	path = strings.TrimPrefix(path, "file://")
	if strings.HasPrefix(path, "~") {
		return false // some programs take it for the home of the user
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	end, err := follow(filepath.Clean(path))
	return err == nil && (end == dir || strings.HasPrefix(end, dir+string(filepath.Separator)))
}

// follow returns where a path leads. Of one that is not there yet it follows the folders that are.
func follow(path string) (string, error) {
	end, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, os.ErrNotExist) {
		return end, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", errors.New("a link leads to nothing")
	}
	parent, err := follow(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}
