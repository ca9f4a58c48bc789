package insight

import "github.com/prometheus/client_golang/prometheus"

// Health is the state of the database, as operators see it.
type Health struct {
	// Writable reports whether the database takes writes. Malformed reports whether it does not hold what was written.
	Writable, Malformed bool
}

// AddHealthGauges adds gauges of the database's health. Reading them causes no query.
func (m *Metrics) AddHealthGauges(health func() Health) {
	gauge := func(name, help string, value func(Health) bool) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if value(health()) {
				return 1
			}
			return 0
		}))
	}
	gauge("fermata_database_writable", "1 while the database takes writes.", func(h Health) bool { return h.Writable })
	gauge("fermata_database_malformed", "1 when the database does not hold what was written: restore a backup.", func(h Health) bool { return h.Malformed })
}
