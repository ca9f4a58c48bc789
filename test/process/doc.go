// Package process runs the real program in tests. It builds the program once for each test binary, and starts, kills
// and stops servers and workers. It gives tests a client that survives these kills and restarts.
package process
