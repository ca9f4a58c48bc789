//go:build !linux

package worker

import "log/slog"

// registerWorker does nothing: only Linux shows which programs a killed worker had started.
func (cs *copyManager) registerWorker() (unregister func(), err error) { return func() {}, nil }

func (cs *copyManager) cleanUpKilledWorkers(*slog.Logger) {}
