// Command gate decides whether the tree is right: it prepares what the tests need, checks the sources and runs all
// tests in groups, strictly one after another, so that nothing runs beside the browser and the real agents. Every
// group runs, also when an earlier one was red.
//
// Usage: scripts/gate (which builds it first; `make test` calls that)
//
// Variables of the environment:
//
//	GROUP       run this group only: static, rooms, processes, truth, agents or journeys (prepare always runs)
//	PACKAGE     in a group of tests, only these packages: ./internal/engine ./internal/store
//	RUN         only the tests that match, as in go test -run
//	TEST_FLAGS  more flags for every go test
//	GATE_ROW    append a row about the run to this table (scripts/gate-soak), with what GATE_BESIDE says ran beside it
//
// A test that failed is run once more, alone, where a repeat may count (see judge). The last line is one of four
// verdicts, and the exit status says the same:
//
//	green           0
//	green, but ...  0  some tests passed only when repeated
//	red             1
//	infrastructure  2  a package or a registry could not be had, or there is no room on the disk: nothing is proven
//
// An interrupted gate ends every process that it started, and exits with 130.
package main
