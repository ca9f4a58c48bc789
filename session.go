package fermata

import (
	"encoding/json"
	"strings"
)

// Place says in words where the work of the session is: its folder, branch,
// conversation and worker. It is empty where the folder is not known.
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

// PartialWork is what the details of a run say that was stopped before its end.
type PartialWork struct {
	// PartialWork is where it left what it had not committed.
	PartialWork Session `json:"partial_work"`
}

// partialWork are the details of a stopped run; none where its folder is not
// known.
func (s *Session) partialWork() json.RawMessage {
	if s.Place() == "" {
		return nil
	}
	place := Session{ID: s.ID, Runner: s.Runner, Dir: s.Dir, Worker: s.Worker, Branch: s.Branch}
	details, err := json.Marshal(PartialWork{place})
	if err != nil {
		// Texts have a JSON form.
		panic("fermata: write the details of a run: " + err.Error())
	}
	return details
}

// stoppedPrefix begins the summary of a run that was stopped.
const stoppedPrefix = "stopped: "

// Stop ends a run before it came to a result, and returns the line for its log:
// why, and where it left what it had not committed.
func (r *Run) Stop(t *Task, why string) (logged string) {
	r.State, r.Summary, r.Details = RunFinished, firstLine(stoppedPrefix+why, 200), t.Session.partialWork()
	logged = "fermata: The run was stopped: " + oneLine(why) + "."
	if place := t.Session.Place(); place != "" {
		logged += " What it had not committed stays in " + oneLine(place) + "."
	}
	return logged + "\n"
}

// OpenLine is the line for a shell that opens the session by hand, or its folder
// where the program cannot. It is empty where the folder is not known.
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

// ShellWord quotes a word for a POSIX shell where it needs to be.
func ShellWord(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
