package insight

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/fermata-hq/fermata"
)

// maxLabelValues is the largest number of values of one label, because agents choose the names of projects. Further names
// are counted together as "other".
const maxLabelValues = 200

// Metrics counts what happened to questions and workflow runs. Each process counts only the events that it committed
// itself, so the sum over all replicas is right.
type Metrics struct {
	registry        *prometheus.Registry
	asked           *prometheus.CounterVec
	answered        *prometheus.CounterVec
	timedOut        *prometheus.CounterVec
	cancelled       *prometheus.CounterVec
	answerLatency   *prometheus.HistogramVec
	delivered       *prometheus.CounterVec
	deliveryLatency *prometheus.HistogramVec

	runsStarted *prometheus.CounterVec
	runsEnded   *prometheus.CounterVec
	steps       *prometheus.CounterVec
	retries     *prometheus.CounterVec
	duration    *prometheus.HistogramVec

	projects, workflows, tools labelValues
}

// labelValues are the values of one label that were seen. The first [maxLabelValues] of them have series of their own.
type labelValues struct {
	mu   sync.Mutex
	seen map[string]bool
}

// label returns the name, or "other" if there are too many names.
func (v *labelValues) label(name string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.seen[name] && len(v.seen) >= maxLabelValues {
		return "other"
	}
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	v.seen[name] = true
	return name
}

// NewMetrics returns metrics in a registry of their own, together with those of
// the Go runtime and the process.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		asked:     counter("fermata_questions_asked_total", "Questions opened.", "type", "project"),
		answered:  counter("fermata_questions_answered_total", "Questions answered, by people or by rules.", "type", "decided_by", "project"),
		timedOut:  counter("fermata_questions_timed_out_total", "Questions closed by their deadline.", "type", "outcome", "project"),
		cancelled: counter("fermata_questions_cancelled_total", "Questions withdrawn.", "type", "project"),
		answerLatency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fermata_answer_latency_seconds", Help: "Time from asking to a person's answer.",
			Buckets: []float64{1, 5, 15, 30, 60, 300, 900, 1800, 3600, 4 * 3600, 24 * 3600, 7 * 24 * 3600},
		}, []string{"type"}),
		runsStarted: counter("fermata_workflow_runs_started_total", "Runs of workflows that began.", "workflow", "trigger"),
		runsEnded:   counter("fermata_workflow_runs_ended_total", "Runs of workflows that ended, by how.", "state"),
		steps:       counter("fermata_workflow_steps_total", "Steps of workflows that ended, by how.", "tool", "state"),
		retries:     counter("fermata_workflow_step_retries_total", "Attempts of steps after the first one.", "tool"),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fermata_workflow_step_seconds", Help: "Time from the beginning of a step to its end, waiting included. That of a question is how long its run was suspended.",
			Buckets: []float64{.1, 1, 10, 60, 600, 3600, 24 * 3600, 7 * 24 * 3600},
		}, []string{"tool"}),
		delivered: counter("fermata_deliveries_total", "Messages to people and machines, by what became of each attempt.", "channel", "outcome"),
		deliveryLatency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fermata_delivery_latency_seconds", Help: "Time from the instant at which a message was due to the attempt to send it.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}, []string{"channel"}),
	}
	m.registry.MustRegister(m.asked, m.answered, m.timedOut, m.cancelled, m.answerLatency, m.delivered, m.deliveryLatency,
		m.runsStarted, m.runsEnded, m.steps, m.retries, m.duration,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Registry returns the registry to serve at /metrics.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// AddGauges adds gauges that are read from the database when the metrics are requested.
func (m *Metrics) AddGauges(stats StatsFunc) { m.registry.MustRegister(newGauges(stats)) }

// questionData is the data of question events.
type questionData struct {
	Type      string  `json:"type"`
	Project   string  `json:"project"`
	DecidedBy string  `json:"decided_by"`
	Outcome   string  `json:"outcome"`
	Seconds   float64 `json:"seconds"`
}

// Observe counts events that this process committed.
func (m *Metrics) Observe(events []*fermata.Event) {
	for _, e := range events {
		switch e.Type {
		case fermata.EventQuestionAsked, fermata.EventQuestionAnswered,
			fermata.EventQuestionTimedOut, fermata.EventQuestionCancelled:
			m.countQuestion(e)
		case fermata.EventWorkflowTriggered, fermata.EventTaskEnded, fermata.EventStepFinished:
			m.countWork(e)
		default:
		}
	}
}

// workData is the data of the events of workflow runs and their steps.
type workData struct {
	Workflow string  `json:"workflow"`
	Trigger  string  `json:"trigger"`
	Tool     string  `json:"tool"`
	State    string  `json:"state"`
	Attempt  int     `json:"attempt"`
	Seconds  float64 `json:"seconds"`
	// Item is set for one item of a foreach. Such an event is not counted, because the whole step has an event of its
	// own.
	Item *int `json:"item"`
}

func (m *Metrics) countWork(e *fermata.Event) {
	var d workData
	if json.Unmarshal(e.Data, &d) != nil {
		return
	}
	switch {
	case e.Type == fermata.EventWorkflowTriggered:
		m.runsStarted.WithLabelValues(m.workflows.label(d.Workflow), d.Trigger).Inc()
	case e.Type == fermata.EventTaskEnded && e.Move != nil && e.Move.Kind.Runner == fermata.RunnerWorkflow:
		m.runsEnded.WithLabelValues(string(e.Move.To)).Inc()
	case e.Type == fermata.EventStepFinished && d.Item == nil:
		tool := m.tools.label(d.Tool)
		m.steps.WithLabelValues(tool, d.State).Inc()
		m.retries.WithLabelValues(tool).Add(float64(max(d.Attempt-1, 0)))
		m.duration.WithLabelValues(tool).Observe(d.Seconds)
	}
}

func (m *Metrics) countQuestion(e *fermata.Event) {
	var d questionData
	if json.Unmarshal(e.Data, &d) != nil {
		// An event without readable data still counts, under empty labels.
		d = questionData{}
	}
	project := m.projects.label(d.Project)
	switch e.Type {
	case fermata.EventQuestionAsked:
		m.asked.WithLabelValues(d.Type, project).Inc()
	case fermata.EventQuestionAnswered:
		m.answered.WithLabelValues(d.Type, d.DecidedBy, project).Inc()
		if d.DecidedBy == string(fermata.ActorHuman) {
			m.answerLatency.WithLabelValues(d.Type).Observe(d.Seconds)
		}
	case fermata.EventQuestionTimedOut:
		m.timedOut.WithLabelValues(d.Type, d.Outcome, project).Inc()
	default:
		m.cancelled.WithLabelValues(d.Type, project).Inc()
	}
}

// ObserveDelivery counts an attempt to send a message over a kind of channel.
// If it succeeded, it also records how late it was.
func (m *Metrics) ObserveDelivery(kind, outcome string, late time.Duration) {
	m.delivered.WithLabelValues(kind, outcome).Inc()
	if outcome == "sent" || outcome == "updated" {
		m.deliveryLatency.WithLabelValues(kind).Observe(late.Seconds())
	}
}

// StatsFunc reads the values of the gauges.
type StatsFunc func(context.Context) (Stats, error)
