// Package checkout finds files of the repository for tests in any of its folders.
package checkout

import (
	"errors"
	"os"
	"path/filepath"
)

// Path returns the path of a file of the repository, named from its root.
func Path(elements ...string) (string, error) {
	root, err := root()
	return filepath.Join(append([]string{root}, elements...)...), err
}

// root returns the folder at or above the working directory that holds go.mod.
func root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = parent
	}
}
