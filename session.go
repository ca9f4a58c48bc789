package fermata

import (
	"encoding/json"
	"strings"
)

// Location returns a text that says where the work of the session is: its
// folder, branch, conversation and worker. It is empty if the folder is
// unknown.
func (s *Session) Location() string {
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

// partialWorkDetails returns the details of a stopped run, or nil if its folder is unknown.
func (s *Session) partialWorkDetails() json.RawMessage {
	if s.Location() == "" {
		return nil
	}
	location := Session{ID: s.ID, Runner: s.Runner, Dir: s.Dir, Worker: s.Worker, Branch: s.Branch}
	details, err := json.Marshal(PartialWork{location})
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
func (r *Run) Stop(t *Task, reason string) (logged string) {
	r.State, r.Summary, r.Details = RunFinished, firstLine(stoppedPrefix+reason, 200), t.Session.partialWorkDetails()
	logged = "fermata: The run was stopped: " + oneLine(reason) + "."
	if location := t.Session.Location(); location != "" {
		logged += " What it had not committed stays in " + oneLine(location) + "."
	}
	return logged + "\n"
}

// OpenCommand returns the shell command that opens the session by hand. If the
// agent program cannot open it, the command only changes into the folder. It is
// empty if the folder is unknown.
func (s *Session) OpenCommand() string {
	if s == nil || s.Dir == "" {
		return ""
	}
	line := "cd " + QuoteShellWord(s.Dir)
	if s.Command != "" {
		line += " && " + s.Command
	}
	return line
}

// QuoteShellWord returns the word, quoted for a POSIX shell if necessary.
func QuoteShellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
