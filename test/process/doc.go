// Package process runs the real program in tests: it builds it once for each
// test binary, starts, kills and stops servers and workers, and gives tests a
// client that survives what they do to them.
package process
