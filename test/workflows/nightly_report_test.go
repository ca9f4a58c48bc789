package workflows

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
	"github.com/fermata-hq/fermata/test/patience"
	"github.com/fermata-hq/fermata/test/process"
)

// board is a service like ntfy: it stores posted messages by topic.
type board struct {
	*httptest.Server
	mu   sync.Mutex
	read map[string][]string
}

func newBoard(t *testing.T) *board {
	t.Helper()
	b := &board{read: map[string][]string{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		defer b.mu.Unlock()
		topic := strings.Trim(r.URL.Path, "/")
		b.read[topic] = append(b.read[topic], r.Header.Get("Title")+": "+string(body))
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(b.Close)
	return b
}

// topic returns the reports that were posted under a topic. It leaves out the messages to
// operators that a question has reached nobody.
func (b *board) topic(name string) (reports []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, text := range b.read[name] {
		if !strings.HasPrefix(text, "A question has reached nobody") {
			reports = append(reports, text)
		}
	}
	return reports
}

// channels returns a shell script that sets the variables of the README.
func (b *board) channels() string {
	at := strings.TrimPrefix(b.URL, "http://")
	return fmt.Sprintf("REPORTS='ntfy://%s/reports?scheme=http'\nMANAGEMENT='ntfy://%s/management?scheme=http'\n", at, at)
}

func TestNightlyReport(t *testing.T) {
	t.Parallel()
	w, b := newWorld(t, "nightly-report", process.SQLite(t)), newBoard(t)
	w.script(b.channels() + w.readme())
	run := w.run("nightly-report", fermata.TaskDone)
	patience.Await(t, "the report is there", func() bool { return len(b.topic("management")) == 1 })
	if got := b.topic("management")[0]; !strings.Contains(got, "Report of 2026-07-01") || !strings.Contains(got, "1 orders, 95 EUR") {
		t.Errorf("management read %q", got)
	}
	if all := b.topic("reports"); len(all) != 0 {
		t.Errorf("all others read %q", all)
	}
	if got := w.git(w.project, "show", "fermata/"+run.ID+":reports/2026-07-01.txt"); got != "1 orders, 95 EUR" {
		t.Errorf("filed is %q", got)
	}
}

// The server is down when the report is due. The run is started once, later. Nobody
// answers, and the default answer is not recorded as a person's answer.
func TestNightlyReportByItself(t *testing.T) {
	t.Parallel()
	database := process.SQLite(t)
	w, b := newWorld(t, "nightly-report", database), newBoard(t)
	zone, err := time.LoadLocation("Europe/Berlin")
	w.OK(err)
	due := time.Now().Add(-10 * time.Minute).In(zone).Truncate(time.Minute)
	w.edit("nightly-report.yaml", "30 2 * * 1-5", fmt.Sprintf("%d %d * * *", due.Minute(), due.Hour()), "timeout: 4h", "timeout: 1s")
	before, _, _ := strings.Cut(w.readme(), "RUN=")
	before = strings.ReplaceAll(before, "fermata worker", "#")
	w.script(b.channels() + before)
	w.server.Stop()
	missed(w, database[1], due)
	w.serve()
	w.script("fermata worker --workdir . --allow-task-commands &")
	run := w.run("nightly-report", fermata.TaskDone)
	if run.Trigger != fermata.TriggerSchedule || !strings.Contains(string(run.Cause), due.UTC().Format(time.RFC3339)) {
		t.Errorf("it was started by %s %s, not at %s", run.Trigger, run.Cause, due)
	}
	q, err := w.admin.Question(t.Context(), w.step(run, "audience").QuestionID)
	w.OK(err)
	if q.Status != fermata.TimedOut || q.Resolution.DecidedBy != fermata.ActorTimeout || q.Resolution.AnsweredBy != nil {
		t.Errorf("the question is %s: %+v", q.Status, q.Resolution)
	}
	patience.Await(t, "the report is there", func() bool { return len(b.topic("reports")) == 1 })
	if all := b.topic("management"); len(all) != 0 {
		t.Errorf("management read %q", all)
	}
}

// missed sets the time at which the schedule is due, while no server runs.
func missed(w *world, folder string, due time.Time) {
	w.Helper()
	db, err := store.Open(context.Background(), store.Options{URL: filepath.Join(folder, "fermata.db")})
	w.OK(err)
	w.OK(db.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		rows, err := tx.Schedules("nightly-report")
		for _, row := range rows {
			tx.SetNextFire(row, due)
		}
		return err
	}))
	w.OK(db.Close())
}
