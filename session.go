package fermata

import (
	"encoding/json"
	"strings"
)

// Place returns in words where the work of the session is: its folder, branch,
// conversation and worker. It is empty if the folder is unknown.
func (s *Session) Place() string {
	if s == nil || s.Dir == "" {
		return ""
	}
	text := s.Dir
	if s.Branch != "" {
		text += ", branch " + s.Branch
	}
	if s.ID != "" {
		text += ", " + strings.TrimSpace(s.Runner+" session ") + " " + s.ID
	}
	if s.Worker != "" {
		text += ", at the worker " + s.Worker
	}
	return text
}

// PartialWork holds the details of a run that was stopped before its end.
type PartialWork struct {
	// PartialWork is where the run left its uncommitted work.
	PartialWork Session `json:"partial_work"`
}

// partialWork returns the details of a stopped run, or nil if its folder is unknown.
func (s *Session) partialWork() json.RawMessage {
	if s.Place() == "" {
		return nil
	}
	place := Session{ID: s.ID, Runner: s.Runner, Dir: s.Dir, Worker: s.Worker, Branch: s.Branch}
	details, err := json.Marshal(PartialWork{place})
	if err != nil {
		// This cannot happen, because every text has a JSON form.
		panic("fermata: write the details of a run: " + err.Error())
	}
	return details
}

// stoppedPrefix is the beginning of the summary of a stopped run.
const stoppedPrefix = "stopped: "

// Stop ends a run that has no result yet. It returns the line for the run's
// log: the reason, and where the run left its uncommitted work.
func (r *Run) Stop(t *Task, why string) (logged string) {
	r.State, r.Summary, r.Details = RunFinished, firstLine(stoppedPrefix+why, 200), t.Session.partialWork()
	logged = "fermata: The run was stopped: " + oneLine(why) + "."
	if place := t.Session.Place(); place != "" {
		logged += " What it had not committed stays in " + oneLine(place) + "."
	}
	return logged + "\n"
}

// OpenLine returns the shell command that opens the session by hand. If the
// agent program cannot open it, the command only changes into the folder. It is
// empty if the folder is unknown.
func (s *Session) OpenLine() string {
	if s == nil || s.Dir == "" {
		return ""
	}
	line := "cd " + ShellWord(s.Dir)
	if s.Command != "" {
		line += " && " + s.Command
	}
	return line
}

// ShellWord returns the word, quoted for a POSIX shell if necessary.
func ShellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
