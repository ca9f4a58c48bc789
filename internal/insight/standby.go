package insight

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/fermata-hq/fermata/internal/store"
)

// standbyCounters collects how many long reads the standby served, and why the others used the primary.
type standbyCounters struct {
	reads func() store.StandbyReads
	total *prometheus.Desc
}

// AddStandbyCounters adds the counters of long reads with a standby. Reading them causes no query.
func (m *Metrics) AddStandbyCounters(reads func() store.StandbyReads) {
	m.registry.MustRegister(&standbyCounters{reads, prometheus.NewDesc("fermata_standby_reads_total",
		"Long reads of a server with a standby. Only those with the outcome done did not use the primary.", []string{"outcome"}, nil)})
}

// Describe sends the description of the counters.
func (c *standbyCounters) Describe(descs chan<- *prometheus.Desc) { descs <- c.total }

// Collect sends the counters.
func (c *standbyCounters) Collect(metrics chan<- prometheus.Metric) {
	r := c.reads()
	for outcome, n := range map[string]int64{"done": r.Done, "behind": r.Behind, "repeated": r.Repeated, "unavailable": r.Unavailable} {
		metrics <- prometheus.MustNewConstMetric(c.total, prometheus.CounterValue, float64(n), outcome)
	}
}
