// Command gate decides whether the tree is right. It prepares the requirements of the tests, checks the sources and
// runs all tests in groups, strictly one after another, so that nothing runs beside the browser and the real agents.
// Every group runs, even if an earlier one was red.
//
// Usage: scripts/gate (which builds it first; `make test` calls that)
//
// Variables of the environment:
//
//	GROUP       run this group only: static, rooms, processes, truth, agents or journeys (prepare always runs)
//	PACKAGE     in a group of tests, only these packages: ./internal/engine ./internal/store
//	RUN         only the tests that match, as in go test -run
//	TEST_FLAGS  more flags for every go test
//	GATE_ROW    append a row about the run to this table (scripts/gate-soak); GATE_BESIDE says what ran beside it
//
// A failed test is repeated once, and the repeat counts unless a rule forbids it (see judge). The last line is one of
// four verdicts, and the exit status says the same:
//
//	green           0
//	green, but ...  0  some tests passed only when repeated
//	red             1
//	infrastructure  2  a package or a registry was not available, or the disk is full: nothing is proven
//
// An interrupted gate ends every process that it started, and exits with 130.
package main
