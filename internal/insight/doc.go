// Package insight tells operators how Fermata fares.
package insight
