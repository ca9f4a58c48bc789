// Package private creates files that only their owner may read.
package private

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
)

const (
	// FileMode lets only the owner read and write a file.
	FileMode fs.FileMode = 0o600
	// FolderMode lets only the owner enter a folder.
	FolderMode fs.FileMode = 0o700

	// otherRights are the rights of all users but the owner.
	otherRights fs.FileMode = 0o077
)

// IsOpenToOthers reports whether users other than the owner have a right to the file. Windows has no such rights.
func IsOpenToOthers(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&otherRights != 0
}

// Create creates an empty file that only the owner may read. If the file exists, it removes the rights of other users
// and logs this.
func Create(path string, log *slog.Logger) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, FileMode)
	if errors.Is(err, fs.ErrExist) {
		return Restrict(path, log)
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// Restrict removes the rights of other users on a file, and logs it if there were any. It is no error if the file
// does not exist.
func Restrict(path string, log *slog.Logger) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !IsOpenToOthers(info) {
		return err
	}
	if err := os.Chmod(path, info.Mode().Perm()&^otherRights); err != nil {
		return fmt.Errorf("close %s to other users: %w", path, err)
	}
	log.Warn("a file was open to other users of this machine; its rights are corrected",
		"file", path, "were", info.Mode().Perm().String(), "are", (info.Mode().Perm() &^ otherRights).String())
	return nil
}

// SyncFolder makes the names of files in a folder durable.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Replace writes a file that only the owner may read. After a crash, the file has the old content or the new one.
func Replace(path string, data []byte) error {
	// CreateTemp creates files that only the owner may read.
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return SyncFolder(filepath.Dir(path))
}
