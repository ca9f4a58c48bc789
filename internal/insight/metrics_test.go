package insight_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/insight"
	"github.com/fermata-hq/fermata/internal/store"
)

func event(typ fermata.EventType, data string) *fermata.Event {
	return &fermata.Event{Type: typ, Data: json.RawMessage(data)}
}

func ended(runner string, state fermata.TaskState) *fermata.Event {
	move := &fermata.TaskMove{From: fermata.TaskInProgress, To: state, Kind: fermata.TaskKind{Runner: runner}}
	return &fermata.Event{Type: fermata.EventTaskEnded, Data: json.RawMessage(`{}`), Move: move}
}

// scrape returns the status and the text that Prometheus reads.
func scrape(m *insight.Metrics) (int, string) {
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(m.Registry(), promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return rec.Code, rec.Body.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no line %q", line)
		}
	}
}

func TestCountersFollowTheEvents(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	m.Observe([]*fermata.Event{
		event(fermata.EventTaskCreated, `{}`),
		event(fermata.EventQuestionAsked, `{"type":"blocking","project":"p"}`),
		event(fermata.EventQuestionAsked, `{"type":"blocking","project":"p"}`),
		event(fermata.EventQuestionAnswered, `{"type":"blocking","project":"p","decided_by":"human","seconds":42}`),
		event(fermata.EventQuestionAnswered, `{"type":"blocking","project":"p","decided_by":"policy","seconds":0}`),
		event(fermata.EventQuestionTimedOut, `{"type":"approval","project":"p","outcome":"fail"}`),
		event(fermata.EventQuestionCancelled, `{"type":"blocking","project":"p"}`),
	})
	_, text := scrape(m)
	wantLines(
		t, text,
		`fermata_questions_asked_total{project="p",type="blocking"} 2`,
		`fermata_questions_answered_total{decided_by="human",project="p",type="blocking"} 1`,
		`fermata_questions_answered_total{decided_by="policy",project="p",type="blocking"} 1`,
		`fermata_questions_timed_out_total{outcome="fail",project="p",type="approval"} 1`,
		`fermata_questions_cancelled_total{project="p",type="blocking"} 1`,
		`fermata_answer_latency_seconds_bucket{type="blocking",le="30"} 0`,
		`fermata_answer_latency_seconds_bucket{type="blocking",le="60"} 1`,
		`fermata_answer_latency_seconds_count{type="blocking"} 1`,
	)
}

func TestRunsOfWorkflowsAreCounted(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	m.Observe([]*fermata.Event{
		event(fermata.EventWorkflowTriggered, `{"workflow":"build","trigger":"manual"}`),
		event(fermata.EventStepFinished, `{"workflow":"build","step":"ask","tool":"post_question","state":"done","attempt":1,"seconds":1200}`),
		event(fermata.EventStepFinished, `{"workflow":"build","step":"get","tool":"http","state":"failed","attempt":3,"seconds":31}`),
		event(fermata.EventStepFinished, `{"workflow":"build","step":"get","tool":"http","state":"done","attempt":1,"seconds":1,"item":0}`),
		ended(fermata.RunnerWorkflow, fermata.TaskFailed),
		ended("", fermata.TaskDone),
	})
	_, text := scrape(m)
	wantLines(
		t, text,
		`fermata_workflow_runs_started_total{trigger="manual",workflow="build"} 1`,
		`fermata_workflow_runs_ended_total{state="failed"} 1`,
		`fermata_workflow_steps_total{state="done",tool="post_question"} 1`,
		`fermata_workflow_steps_total{state="failed",tool="http"} 1`,
		`fermata_workflow_step_retries_total{tool="http"} 2`,
		`fermata_workflow_step_seconds_bucket{tool="post_question",le="3600"} 1`,
	)
	if strings.Contains(text, `ended_total{state="done"}`) {
		t.Error("a task that is no run is counted")
	}
}

func TestProjectsAreBounded(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	for i := range 300 {
		m.Observe([]*fermata.Event{event(fermata.EventQuestionAsked, fmt.Sprintf(`{"type":"blocking","project":"p%d"}`, i))})
	}
	_, text := scrape(m)
	if n := strings.Count(text, "\nfermata_questions_asked_total{"); n != 201 {
		t.Errorf("%d series", n)
	}
	wantLines(t, text, `fermata_questions_asked_total{project="other",type="blocking"} 100`)
}

func TestGaugesAreReadOnceForManyLooks(t *testing.T) {
	t.Parallel()
	m, looks := insight.NewMetrics(), 0
	m.AddGauges(func(context.Context) (insight.Stats, error) {
		looks++
		return insight.Stats{OldestPendingSeconds: 7}, nil
	})
	for range 3 {
		_, text := scrape(m)
		wantLines(t, text, "fermata_oldest_pending_seconds 7")
	}
	if looks != 1 {
		t.Errorf("the database was read %d times", looks)
	}
}

func TestFailingGaugesAreReported(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	m.AddGauges(func(context.Context) (insight.Stats, error) { return insight.Stats{}, errors.New("down") })
	if code, text := scrape(m); code != http.StatusInternalServerError || !strings.Contains(text, "down") {
		t.Errorf("got %d %s", code, text)
	}
}

// The page about monitoring lists every metric with its labels.
func TestThePageListsEveryMetric(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operate/monitor.md")
	if err != nil {
		t.Fatal(err)
	}
	m := insight.NewMetrics()
	m.AddGauges(nil)
	m.AddHealthGauges(func() insight.Health { return insight.Health{} })
	m.AddStandbyCounters(func() store.StandbyReads { return store.StandbyReads{} })
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		m.Registry().Describe(descriptions)
	}()
	found := 0
	for d := range descriptions {
		parts := regexp.MustCompile(`fqName: "(fermata_\w+)".*variableLabels: \{(.*)\}\}`).FindStringSubmatch(d.String())
		if parts == nil {
			continue // a metric of the Go runtime or of the process
		}
		found++
		name := parts[1]
		if parts[2] != "" {
			name += "{" + parts[2] + "}"
		}
		if !bytes.Contains(page, []byte("`"+name+"`")) {
			t.Errorf("docs/operate/monitor.md does not list %s", name)
		}
	}
	if found < 10 {
		t.Errorf("only %d metrics were found", found)
	}
}

func TestHealthIsAGauge(t *testing.T) {
	t.Parallel()
	m := insight.NewMetrics()
	m.AddHealthGauges(func() insight.Health { return insight.Health{Malformed: true} })
	families, err := m.Registry().Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "fermata_database_") {
			found[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	if want := (map[string]float64{"fermata_database_writable": 0, "fermata_database_malformed": 1}); !maps.Equal(found, want) {
		t.Errorf("the gauges are %v, want %v", found, want)
	}
}
