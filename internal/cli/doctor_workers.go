package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/client"
)

// mostLooked is the largest number of waiting tasks that are read.
const mostLooked = 1000

// checkWorkers lists the running workers, and warns of tasks that no running worker takes.
func checkWorkers(ctx context.Context, s *session, server *client.Client) []finding {
	workers, err := server.Workers(ctx)
	if err != nil {
		return []finding{s.failure("workers", err)}
	}
	waiting, more, err := s.tasks(ctx, client.TaskQuery{
		State: []fermata.TaskState{fermata.TaskOpen, fermata.TaskInputReceived}, Sort: fermata.SortOldest,
	}, mostLooked)
	if err != nil {
		return []finding{s.failure("workers", err)}
	}
	found := []finding{{Check: "workers", Status: "ok", Detail: runningText(workers)}}
	for _, lack := range lacks(waiting) {
		detail := fmt.Sprintf("%s (%s) waits. %s", oneLine(lack.first.Title), lack.first.ID, lack.first.NoWorker.Text)
		if lack.tasks > 1 {
			detail = fmt.Sprintf("%d tasks wait, first %s (%s). %s", lack.tasks, oneLine(lack.first.Title), lack.first.ID, lack.first.NoWorker.Text)
		}
		found = append(found, finding{Check: "workers", Status: "warn", Detail: detail, Hint: "start one: " + lack.first.NoWorker.Start})
	}
	if more {
		found[0].Detail += fmt.Sprintf("; of the tasks that wait, the oldest %d were looked at", mostLooked)
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
		drives := "any task without a runner"
		if len(w.Runners) > 0 {
			drives = strings.Join(w.Runners, ", ")
		}
		texts = append(texts, fmt.Sprintf("%s (%s)", w.Name, drives))
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

// lack is a group of tasks that wait for the same worker.
type lack struct {
	first *fermata.Task
	tasks int
}

// lacks returns the tasks that no running worker takes, grouped by the command that starts such a worker.
func lacks(waiting []*fermata.Task) []lack {
	var found []lack
	for _, t := range waiting {
		if t.NoWorker == nil {
			continue
		}
		at := slices.IndexFunc(found, func(l lack) bool { return l.first.NoWorker.Start == t.NoWorker.Start })
		if at < 0 {
			at, found = len(found), append(found, lack{first: t})
		}
		found[at].tasks++
	}
	return found
}
