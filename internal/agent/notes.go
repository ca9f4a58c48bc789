package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/fermata-hq/fermata"
)

// Notes record two things about one interactive session: the questions whose answers the agent has not read, and the
// tasks in which people may write to the agent. Each note is an empty file, so programs that run at the same time need
// no lock.
type Notes struct{ dir string }

// OpenNotes returns the notes of the session. Folder holds the notes of all sessions. If it is empty, they are in the
// user's cache.
func OpenNotes(folder, session string) (Notes, error) {
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return Notes{}, err
		}
		folder = filepath.Join(cache, "fermata", "asked")
	}
	return Notes{filepath.Join(folder, fermata.Digest(session))}, nil
}

// AddQuestion notes that the agent has not read the answer to the question yet.
func (n Notes) AddQuestion(question string) error { return n.add(question) }

// AddTask notes that the session works on the task.
func (n Notes) AddTask(task string) error { return n.add(task) }

// add makes a note. It leaves a note that exists as it is.
func (n Notes) add(id string) error {
	if _, err := os.Stat(n.file(id)); err == nil {
		return nil
	}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(n.file(id), nil, 0o600)
}

func (n Notes) file(id string) string { return filepath.Join(n.dir, filepath.Base(id)) }

// RemoveQuestion notes that the agent was told how the question ended.
func (n Notes) RemoveQuestion(question string) error { return n.remove(question) }

// RemoveTask notes that people can no longer write to the session in the task.
func (n Notes) RemoveTask(task string) error { return n.remove(task) }

func (n Notes) remove(id string) error {
	err := os.Remove(n.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, removeIfEmpty(n.dir))
}

// removeIfEmpty removes a folder if it is empty.
func removeIfEmpty(dir string) error {
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		return nil //nolint:nilerr // a folder that is gone or in use stays as it is
	}
	err := os.Remove(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// IsEmpty reports whether the session has no note.
func (n Notes) IsEmpty() bool {
	left, err := os.ReadDir(n.dir)
	return err == nil && len(left) == 0 || errors.Is(err, fs.ErrNotExist)
}

// LockFile returns the file that a program locks while it tells the agent about the notes.
func (n Notes) LockFile() string { return n.dir + ".lock" }

// WaitFile returns the file that a program locks while it waits for news, in order to wake the program with that process
// id.
func (n Notes) WaitFile(pid int) string { return fmt.Sprintf("%s.%d.wait", n.dir, pid) }

// Unread returns the ids of the questions and of the tasks, the oldest first.
func (n Notes) Unread() (questions, tasks []string, err error) {
	entries, err := os.ReadDir(n.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fermata.PrefixTask+"_") {
			tasks = append(tasks, e.Name())
		} else {
			questions = append(questions, e.Name())
		}
	}
	return questions, tasks, err
}
