package engine

import (
	"context"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// Limits of run logs.
const (
	// MaxLogChunk is the largest size in bytes of one piece of output.
	MaxLogChunk = 256 << 10
	// MaxLog is the largest size in bytes of a run's log. Later output is dropped.
	MaxLog = 64 << 20
)

// Run returns the run with the id.
func (e *Engine) Run(ctx context.Context, c fermata.Caller, id string) (*fermata.Run, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	r := e.reader(ctx, c)
	id, err := r.FindID("run", "runs", fermata.PrefixRun, id)
	if err != nil {
		return nil, err
	}
	run, err := r.Run(id)
	return run.PublicView(), err
}

// Runs lists a task's runs, oldest first.
func (e *Engine) Runs(ctx context.Context, c fermata.Caller, taskID string) ([]*fermata.Run, error) {
	if err := c.CheckPermission(fermata.ToReadTasks, fermata.UnloadedResource); err != nil {
		return nil, err
	}
	id, err := e.taskID(ctx, c, taskID)
	if err != nil {
		return nil, err
	}
	runs, err := e.reader(ctx, c).Runs(id)
	return publicRuns(runs), err
}

// publicRuns removes the fields that only the holders of runs may see.
func publicRuns(runs []*fermata.Run) []*fermata.Run {
	for i, run := range runs {
		runs[i] = run.PublicView()
	}
	return runs
}

// AppendLog adds output to a run's log and returns the offset of its end. It
// refuses a run that has lost its task.
func (e *Engine) AppendLog(ctx context.Context, c fermata.Caller, runID string, token int64, output string) (int64, error) {
	if err := c.CheckPermission(fermata.ToHoldRun, fermata.UnloadedResource); err != nil {
		return 0, err
	}
	if len(output) > MaxLogChunk {
		return 0, fermata.Invalid(fermata.Problem{Field: "text", Message: "may have at most 262144 bytes: send it in pieces"})
	}
	// PostgreSQL cannot store NUL or invalid UTF-8 in a text, and a terminal does not show them.
	output = strings.ToValidUTF8(strings.ReplaceAll(output, "\x00", "\uFFFD"), "\uFFFD")
	next, err := write(ctx, e, c, fermata.ToHoldRun, func(tx *store.Tx) (int64, error) {
		if _, _, err := loadLeasedRun(tx, c, runID, token); err != nil {
			return 0, err
		}
		size, err := tx.LogSize(runID)
		if err != nil || output == "" || size+int64(len(output)) > MaxLog {
			return size, err
		}
		tx.AppendLog(runID, size, output)
		return size + int64(len(output)), nil
	}, store.ReadAhead{Run: runID})
	if err == nil {
		e.hub.wake("log:" + runID)
	}
	return next, err
}

// Log returns a run's output from an offset on. If there is none yet, it waits
// for more. Next is the offset for the next call. Ended reports that no more
// output will follow. A log that retention removed is a [fermata.CodeNotFound].
func (e *Engine) Log(ctx context.Context, c fermata.Caller, runID string, offset int64, wait time.Duration) (
	chunks []fermata.LogChunk, next int64, ended bool, err error,
) {
	run, err := e.Run(ctx, c, runID)
	if err != nil {
		return nil, 0, false, err
	}
	next = offset
	err = e.waitForTopicAs(ctx, &c, "log:"+run.ID, wait, func() (bool, error) {
		if run, err = e.Run(ctx, c, run.ID); err != nil {
			return false, err
		}
		chunks, err = e.reader(ctx, c).Log(run.ID, offset, 256)
		return err != nil || len(chunks) > 0 || run.State != fermata.RunRunning, err
	})
	if n := len(chunks); n > 0 {
		next = chunks[n-1].Offset + int64(len(chunks[n-1].Text))
	}
	if err != nil || len(chunks) > 0 || run.State == fermata.RunRunning {
		return chunks, next, false, err
	}
	return nil, next, true, checkLogIsKept(e.reader(ctx, c), run.ID, offset)
}

// checkLogIsKept returns an error if a run has printed something after the offset, and its log has nothing there.
func checkLogIsKept(r store.Reader, runID string, offset int64) error {
	size, err := r.LogSize(runID)
	if err != nil || size <= offset {
		return err
	}
	return fermata.Errorf(fermata.CodeNotFound, "the log of the run %s was removed", runID).WithHint("the policy says how long logs are kept: fermata retention")
}

// ReportRunProgress records a progress update of a run.
func (e *Engine) ReportRunProgress(ctx context.Context, c fermata.Caller, runID string, p fermata.Progress) error {
	if err := c.CheckPermission(fermata.ToHoldRun, fermata.UnloadedResource); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}
	_, err := write(ctx, e, c, fermata.ToHoldRun, func(tx *store.Tx) (struct{}, error) {
		run, t, err := loadLeasedRun(tx, c, runID, p.Token)
		if err != nil {
			return struct{}{}, err
		}
		appendProgress(tx, t.ID, run.ID, p, c.Actor())
		return struct{}{}, nil
	}, store.ReadAhead{Run: runID})
	return err
}
