package fermata

import (
	"slices"
	"time"
)

// MinKeepTime is the shortest time for which a policy can keep tasks, logs and deliveries.
const MinKeepTime = 24 * time.Hour

// checkKeepTime checks how long something is kept; an empty time or [Never] keeps it for ever.
func (ps *problems) checkKeepTime(field string, t Timeout) {
	if t == "" || t == Never {
		return
	}
	if d, err := t.Duration(); err != nil {
		ps.addError(field, err)
	} else if d < MinKeepTime {
		ps.add(field, "is %s, must be at least 1d", t)
	}
}

// KeepLimit returns the instant before which something is removed that is kept for the time. It returns false if it is kept
// for ever.
func KeepLimit(t Timeout, now time.Time) (time.Time, bool) {
	d, err := t.Duration()
	if err != nil {
		return time.Time{}, false
	}
	return now.Add(-d), true
}

// KeepTimes returns how long tasks, logs and deliveries are kept.
func (p Policy) KeepTimes() [3]Timeout {
	return [3]Timeout{p.KeepTasks, p.KeepLogs, p.KeepDeliveries}
}

// RemovesAnything reports whether the policy keeps something for a limited time.
func (p Policy) RemovesAnything() bool {
	for _, t := range p.KeepTimes() {
		if t != "" && t != Never {
			return true
		}
	}
	return false
}

// RemovedTasks is the number of tasks of a project and a state that retention removed together.
type RemovedTasks struct {
	Project string    `json:"project"`
	State   TaskState `json:"state"`
	Count   int64     `json:"count"`
}

// Removal is what retention removed, in one transaction or several. It is the data of [EventRetentionApplied].
type Removal struct {
	Tasks []RemovedTasks `json:"tasks,omitempty"`
	// Events is the number of removed events. UpTo is the number up to which the chain is trimmed.
	Events int64 `json:"events,omitempty"`
	UpTo   int64 `json:"up_to,omitempty"`
	// Logs is the number of runs whose log was removed, and Deliveries that of removed messages to people, both apart from
	// those of removed tasks.
	Logs       int64 `json:"logs,omitempty"`
	Deliveries int64 `json:"deliveries,omitempty"`
}

// IsEmpty reports whether nothing was removed.
func (r Removal) IsEmpty() bool {
	return r.TaskCount() == 0 && r.Events == 0 && r.Logs == 0 && r.Deliveries == 0
}

// TaskCount returns the number of removed tasks.
func (r Removal) TaskCount() int64 {
	var n int64
	for _, t := range r.Tasks {
		n += t.Count
	}
	return n
}

// Add returns what both removals removed together.
func (r Removal) Add(other Removal) Removal {
	tasks := slices.Clone(r.Tasks)
	for _, t := range other.Tasks {
		tasks = addRemoved(tasks, t)
	}
	return Removal{
		Tasks: tasks, Events: r.Events + other.Events, UpTo: max(r.UpTo, other.UpTo), Logs: r.Logs + other.Logs, Deliveries: r.Deliveries + other.Deliveries,
	}
}

func addRemoved(counts []RemovedTasks, more RemovedTasks) []RemovedTasks {
	at := slices.IndexFunc(counts, func(c RemovedTasks) bool { return c.Project == more.Project && c.State == more.State })
	if at < 0 {
		return append(counts, more)
	}
	counts[at].Count += more.Count
	return counts
}

// CountRemoved returns the numbers of the tasks by project and state, in a fixed order.
func CountRemoved(tasks []*Task) []RemovedTasks {
	var counts []RemovedTasks
	for _, t := range tasks {
		counts = addRemoved(counts, RemovedTasks{Project: t.Project, State: t.State, Count: 1})
	}
	return counts
}

// Retention says how long a workspace keeps what has ended, and what was removed.
type Retention struct {
	KeepTasks      Timeout `json:"keep_tasks" doc:"how long tasks are kept after their end; never removes none"`
	KeepLogs       Timeout `json:"keep_logs" doc:"how long the logs of runs are kept after their end"`
	KeepDeliveries Timeout `json:"keep_deliveries" doc:"how long sent messages are kept"`
	// OldestTask is when the ended task that is kept longest ended, or nil if there is none.
	OldestTask *time.Time `json:"oldest_task,omitempty" doc:"last change of the ended task that has been kept longest"`
	// TrimmedTo is the number of the last event up to which the chain is trimmed. RemovedEvents is the number of events that were removed up to
	// there.
	TrimmedTo     int64 `json:"trimmed_to" doc:"the event up to which events were removed"`
	RemovedEvents int64 `json:"removed_events"`
	// LastRemoval is what was removed when the server last looked and found something, and LastRemovalAt when that ended.
	LastRemoval   *Removal   `json:"last_removal,omitempty" doc:"what was removed when the server last found something; logs and deliveries of removed tasks are not counted by themselves"`
	LastRemovalAt *time.Time `json:"last_removal_at,omitempty"`
}
