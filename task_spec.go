package fermata

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// specKeys are the keys of a task's spec that workers read. A spec may have other keys, for the program that created it.
var specKeys = []string{"command", "working_copy", "from", "push", "timeout", "plain_output"}

// otherSpecKeys are words that are similar to a key of the workers but mean something else.
var otherSpecKeys = []string{"form"}

// checkSpec checks the spec of a task for workers. It refuses a misspelt key of the workers. A worker would ignore that
// key, and would run the task without a time limit, a shared working copy or its own command.
func (ps *problems) checkSpec(raw json.RawMessage) {
	if !ps.checkJSON("spec", raw) || len(raw) == 0 {
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		ps.add("spec", "must be an object, such as {\"command\": [\"make\", \"test\"]}")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(specKeys, name) {
			continue
		}
		if known := similarSpecKey(name); known != "" {
			ps.add("spec."+name, "is no key that workers read; did you mean %s?", known)
		}
	}
	if limit, ok := fields["timeout"]; ok && !isTimeLimit(limit) {
		ps.add("spec.timeout", "must be a duration above zero, such as \"30m\"")
	}
	if command, ok := fields["command"]; ok && !isCommandLine(command) {
		ps.add("spec.command", "must be a list of texts, the program first; leave it out to run the worker's own program")
	}
	var id string
	if copied, ok := fields["working_copy"]; ok && (json.Unmarshal(copied, &id) != nil || id != "" && !IsWorkingCopyID(id)) {
		ps.add("spec.working_copy", "must be the id of a working copy: at most %d letters, digits, _ and -", maxWorkingCopyID)
	}
	ps.checkSpecFrom(fields)
	for _, name := range []string{"push", "plain_output"} {
		var isOn bool
		if flag, ok := fields[name]; ok && json.Unmarshal(flag, &isOn) != nil {
			ps.add("spec."+name, "must be true or false")
		}
	}
}

// checkSpecFrom checks the id of the task whose branch is the start of the working copy.
func (ps *problems) checkSpecFrom(fields map[string]json.RawMessage) {
	from, ok := fields["from"]
	var id, shared string
	switch {
	case !ok:
	case json.Unmarshal(from, &id) != nil || id != "" && !IsWorkingCopyID(id):
		ps.add("spec.from", "must be the id of a task whose branch the working copy begins at: at most %d letters, digits, _ and -", maxWorkingCopyID)
	case id != "" && json.Unmarshal(fields["working_copy"], &shared) == nil && shared != "":
		ps.add("spec.from", "begins a working copy of its own, and working_copy names that of another task: leave one of them out")
	}
}

// SpecNamesCommand reports whether the spec of a task names a command line.
func SpecNamesCommand(spec json.RawMessage) bool {
	var fields struct {
		Command []string `json:"command"`
	}
	return json.Unmarshal(spec, &fields) == nil && len(fields.Command) > 0
}

// WorkingCopyID returns the id of the working copy that the task shares, or "" if it has its own.
func (n NewTask) WorkingCopyID() string { return n.tasksInSpec().WorkingCopy }

// BaseTaskID returns the id of the task whose branch is the start of the new task's working copy. It is "" if the
// working copy begins at the current state of the repository.
func (n NewTask) BaseTaskID() string { return n.tasksInSpec().From }

// specTasks are the ids of tasks that a spec names.
type specTasks struct {
	WorkingCopy string `json:"working_copy"`
	From        string `json:"from"`
}

// tasksInSpec returns the ids of tasks in the spec, as workers read them. It leaves out values that are not valid ids.
func (n NewTask) tasksInSpec() specTasks {
	var named specTasks
	if n.Runner == RunnerExternal || json.Unmarshal(n.Spec, &named) != nil {
		return specTasks{}
	}
	for _, id := range []*string{&named.WorkingCopy, &named.From} {
		if !IsWorkingCopyID(*id) {
			*id = ""
		}
	}
	return named
}

// isCommandLine reports whether a worker can run the value.
func isCommandLine(raw json.RawMessage) bool {
	var words []*string
	return json.Unmarshal(raw, &words) == nil && len(words) > 0 && !slices.Contains(words, nil) && *words[0] != ""
}

const maxWorkingCopyID = 128

// IsWorkingCopyID reports whether the id can be the name of a working copy's folder.
func IsWorkingCopyID(id string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return id != "" && len(id) <= maxWorkingCopyID && strings.Trim(id, allowed) == ""
}

// isTimeLimit reports whether a worker can read the value as the time limit of a run.
func isTimeLimit(raw json.RawMessage) bool {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return false
	}
	if string(raw) == "null" {
		return true
	}
	limit, err := time.ParseDuration(text)
	return err == nil && limit > 0
}

// similarSpecKey returns the known key that a misspelt name resembles, or "" if it resembles none.
func similarSpecKey(name string) string {
	const longest = 32
	plain := plainKey(name)
	if plain == "" || len(plain) > longest || slices.Contains(otherSpecKeys, name) {
		return ""
	}
	for _, known := range specKeys {
		if isMisspelt(plain, plainKey(known)) {
			return known
		}
	}
	return ""
}

// plainKey returns a key in small letters and without separators.
func plainKey(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name))
}

// isMisspelt reports whether a name is a known one with a typing error. Two errors count only in a long name with the
// right first and last letter. Otherwise real words would count, as comment is close to command.
func isMisspelt(name, known string) bool {
	switch editDistance(name, known) {
	case 0, 1:
		return true
	case 2:
		return len(known) > 5 && name[0] == known[0] && name[len(name)-1] == known[len(known)-1]
	default:
		return false
	}
}

// editDistance returns the least number of steps from a to b. A step inserts, deletes or replaces a byte, or swaps
// two neighbours.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
