//go:build lab

package ha

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/test/ha/cluster"
	"github.com/fermata-hq/fermata/test/patience"
)

// Without a synchronous standby, a failover may lose what was acknowledged last. No replica serves then, and each says
// what is missing, until an operator accepts the loss.
func TestAsynchronousLossIsNoticed(t *testing.T) {
	w := begin(t, func(o *cluster.Options) { o.Asynchronous = true })
	admin := w.front.Client(t, w.FirstToken)
	kept := w.createTask("kept")
	w.awaitHealthy()

	old := w.leader()
	var standbys []*cluster.Machine
	for _, m := range w.Databases {
		if m != old {
			standbys = append(standbys, m)
			if !m.FreezeReceiver() {
				t.Fatalf("%s receives nothing from the leader", m.Name)
			}
		}
	}
	var lost []string
	for n := range 12 {
		lost = append(lost, w.createTask(fmt.Sprintf("lost %d", n)))
	}
	old.Kill()
	for _, m := range standbys {
		m.KillPostgres()
	}
	w.awaitPromotion(old)

	for _, m := range w.Applications {
		patience.Await(t, m.Name+" says what is missing", func() bool {
			text := w.readiness(m)
			return strings.Contains(text, "behind what was acknowledged")
		})
		t.Logf("%s: %s", m.Name, w.readiness(m))
	}
	for _, m := range w.Applications {
		if err := m.Process("fermata").Stop(); err != nil {
			t.Error(err)
		}
	}
	for _, m := range w.Applications {
		text, err := m.RunFermata(patience.Context(t), "accept-loss", "--yes")
		if err != nil {
			t.Fatalf("accept-loss on %s: %v\n%s", m.Name, err, text)
		}
		t.Logf("accept-loss on %s: %s", m.Name, text)
	}
	for _, m := range w.Applications {
		w.start(m)
	}
	w.start(old)
	w.awaitHealthy()
	if _, err := admin.Task(t.Context(), kept); err != nil {
		t.Errorf("a task that a standby had: %v", err)
	}
	missing := 0
	for _, id := range lost {
		if _, err := admin.Task(t.Context(), id); fermata.CodeOf(err) == fermata.CodeNotFound {
			missing++
		}
	}
	if missing == 0 {
		t.Error("nothing was lost, so this test shows nothing")
	}
	report, err := admin.VerifyAudit(t.Context())
	if err != nil || !report.OK {
		t.Errorf("the audit chain after the loss: %+v, %v", report, err)
	}
	t.Logf("%d of %d tasks were lost", missing, len(lost))
}

func (w *world) createTask(title string) string {
	w.Helper()
	task, err := w.front.Client(w, w.FirstToken).CreateTask(w.Context(), fermata.NewTask{Title: title})
	if err != nil {
		w.Fatal(err)
	}
	return task.ID
}

// readiness returns the text of a replica's /readyz.
func (w *world) readiness(m *cluster.Machine) string {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://"+m.Address+":7433/readyz", nil)
	if err != nil {
		w.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	text, _ := io.ReadAll(res.Body)
	return string(text)
}
