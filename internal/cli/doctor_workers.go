package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// maxWaitingRead is the largest number of waiting tasks that are read.
const maxWaitingRead = 1000

// checkWorkers lists the running workers, and warns of tasks that no running worker takes.
func checkWorkers(ctx context.Context, s *session.Session, server *client.Client) []finding {
	workers, err := server.Workers(ctx)
	if err != nil {
		return []finding{failure(s, "workers", err)}
	}
	waiting, more, err := s.Tasks(ctx, client.TaskQuery{
		State: []fermata.TaskState{fermata.TaskOpen, fermata.TaskInputReceived}, Sort: fermata.SortOldest,
	}, maxWaitingRead)
	if err != nil {
		return []finding{failure(s, "workers", err)}
	}
	found := []finding{{Check: "workers", Status: "ok", Detail: runningText(workers)}}
	for _, missing := range missingWorkers(waiting) {
		detail := fmt.Sprintf("%s (%s) waits. %s", terminal.OneLine(missing.firstTask.Title), missing.firstTask.ID, missing.firstTask.NoWorker.Text)
		if missing.taskCount > 1 {
			detail = fmt.Sprintf("%d tasks wait, first %s (%s). %s", missing.taskCount, terminal.OneLine(missing.firstTask.Title), missing.firstTask.ID, missing.firstTask.NoWorker.Text)
		}
		found = append(found, finding{Check: "workers", Status: "warn", Detail: detail, Hint: "start one: " + missing.firstTask.NoWorker.Start})
	}
	if more {
		found[0].Detail += fmt.Sprintf("; of the tasks that wait, the oldest %d were looked at", maxWaitingRead)
	}
	return found
}

// runningText returns the running workers, and the runners that each has.
func runningText(workers []fermata.Worker) string {
	var texts []string
	for _, w := range workers {
		if !w.Running {
			continue
		}
		runners := "any task without a runner"
		if len(w.Runners) > 0 {
			runners = strings.Join(w.Runners, ", ")
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", w.Name, runners))
	}
	slices.Sort(texts)
	switch len(texts) {
	case 0:
		return "none is running"
	case 1:
		return "1 is running: " + texts[0]
	default:
		return fmt.Sprintf("%d are running: %s", len(texts), strings.Join(texts, "; "))
	}
}

// missingWorker is a group of tasks that wait for the same worker.
type missingWorker struct {
	firstTask *fermata.Task
	taskCount int
}

// missingWorkers returns the tasks that no running worker takes, grouped by the command that starts such a worker.
func missingWorkers(waiting []*fermata.Task) []missingWorker {
	var found []missingWorker
	for _, t := range waiting {
		if t.NoWorker == nil {
			continue
		}
		i := slices.IndexFunc(found, func(l missingWorker) bool { return l.firstTask.NoWorker.Start == t.NoWorker.Start })
		if i < 0 {
			i, found = len(found), append(found, missingWorker{firstTask: t})
		}
		found[i].taskCount++
	}
	return found
}
