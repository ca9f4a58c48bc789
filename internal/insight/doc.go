// Package insight computes the metrics for operators and the analytics of
// questions.
package insight
