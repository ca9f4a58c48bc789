package cli

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// writesOutside reports whether the call may write a file outside of the folder in which
// the agent works. A link out of the folder leads outside, and so does a path that
// cannot be followed. A relative path has to stay inside wherever it begins: in that folder, and in the one that the event names.
func (in *hookEvent) writesOutside() bool {
	call := fermata.GateCall{Tool: in.Tool, Input: in.Input}
	if !call.Writes() {
		return false
	}
	dir, err := filepath.EvalSymlinks(in.workDir)
	for _, path := range call.Paths() {
		if err != nil || !isBelow(dir, in.workDir, path) || in.Dir != "" && !isBelow(dir, in.Dir, path) {
			return true
		}
	}
	return false
}

// isBelow reports whether a path, as a tool takes it in the folder, leads below dir.
func isBelow(dir, folder, path string) bool {
	path, err := filePath(path)
	if err != nil || strings.HasPrefix(path, "~") {
		return false // some programs take it for the home of the user
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	end, err := follow(filepath.Clean(path))
	return err == nil && (end == dir || strings.HasPrefix(end, dir+string(filepath.Separator)))
}

// filePath returns the path to which an address of a file leads, and any other text as it is.
func filePath(text string) (string, error) {
	const scheme = "file:"
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return text, nil
	}
	address, err := url.Parse(text)
	if err == nil && (address.Opaque != "" || address.Path == "") {
		err = errors.New("the address names no path")
	}
	if err != nil {
		return "", err
	}
	return address.Path, nil
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
