package api

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests and measures their time. A route is a pattern of the
// mux, never a path, so that the number of series is bounded.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "fermata_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "fermata_http_request_seconds", Help: "Time to answer a request, waiting included.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30, 60},
		}, []string{"route"}),
	}
	registry.MustRegister(m.requests, m.seconds)
	return m
}

func (m *metrics) observe(pattern string, code int, took time.Duration) {
	m.requests.WithLabelValues(pattern, strconv.Itoa(code)).Inc()
	m.seconds.WithLabelValues(pattern).Observe(took.Seconds())
}
