package hook

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// mayWriteOutside reports whether the call may write a file outside the agent's folder. A link out of the folder counts
// as outside, and so does a path that cannot be followed. A relative path must stay inside from both starting points:
// the agent's folder, and the folder that the event names.
func (in *event) mayWriteOutside() bool {
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

// isBelow reports whether a path leads below dir, if a tool resolves it in the folder.
func isBelow(dir, folder, path string) bool {
	path, err := filePath(path)
	if err != nil || strings.HasPrefix(path, "~") {
		return false // some programs read it as the user's home
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	end, err := resolvePath(filepath.Clean(path))
	return err == nil && (end == dir || strings.HasPrefix(end, dir+string(filepath.Separator)))
}

// filePath returns the path of a file: address, and any other text as it is.
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

// resolvePath returns where a path leads. If the path does not exist, it follows the folders that do.
func resolvePath(path string) (string, error) {
	end, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, os.ErrNotExist) {
		return end, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", errors.New("a link leads to nothing")
	}
	parent, err := resolvePath(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}
