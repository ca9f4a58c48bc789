package insight

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/fermata-hq/fermata/internal/engine"
)

// Stats are the numbers of pending questions and of tasks by state.
type Stats = engine.Stats

const (
	// statsTTL is how long one read of the database serves all requests for
	// metrics.
	statsTTL = 5 * time.Second
	// statsTimeout is the time limit for that read.
	statsTimeout = 5 * time.Second
)

// gauges collects the present values of gauges.
type gauges struct {
	stats   StatsFunc
	pending *prometheus.Desc
	oldest  *prometheus.Desc
	tasks   *prometheus.Desc

	mu     sync.Mutex
	cached Stats
	readAt time.Time
}

func newGauges(stats StatsFunc) *gauges {
	return &gauges{
		stats:   stats,
		pending: prometheus.NewDesc("fermata_questions_pending", "Questions that wait for an answer.", []string{"type"}, nil),
		oldest:  prometheus.NewDesc("fermata_oldest_pending_seconds", "Age of the oldest pending question.", nil, nil),
		tasks:   prometheus.NewDesc("fermata_tasks", "Tasks by state.", []string{"state"}, nil),
	}
}

// Describe sends the descriptions of the gauges.
func (g *gauges) Describe(descs chan<- *prometheus.Desc) {
	descs <- g.pending
	descs <- g.oldest
	descs <- g.tasks
}

// Collect sends the gauges. It reads the database at most once in statsTTL.
func (g *gauges) Collect(metrics chan<- prometheus.Metric) {
	s, err := g.read()
	if err != nil {
		metrics <- prometheus.NewInvalidMetric(g.pending, err)
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for typ, n := range s.Pending {
		gauge(g.pending, float64(n), string(typ))
	}
	for state, n := range s.Tasks {
		gauge(g.tasks, float64(n), string(state))
	}
	gauge(g.oldest, s.OldestPendingSeconds)
}

func (g *gauges) read() (Stats, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.readAt) < statsTTL {
		return g.cached, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	s, err := g.stats(ctx)
	if err != nil {
		return Stats{}, err
	}
	g.cached, g.readAt = s, time.Now()
	return s, nil
}
