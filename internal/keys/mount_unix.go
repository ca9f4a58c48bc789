//go:build unix

package keys

import (
	"os"
	"path/filepath"
	"syscall"
)

// isMount reports whether a folder is on another device than the folder above it.
func isMount(folder string) bool {
	here, err := os.Stat(folder)
	if err != nil {
		return false
	}
	above, err := os.Stat(filepath.Dir(folder))
	if err != nil {
		return false
	}
	a, ok := here.Sys().(*syscall.Stat_t)
	b, alsoOK := above.Sys().(*syscall.Stat_t)
	return ok && alsoOK && a.Dev != b.Dev
}
