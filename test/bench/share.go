package main

import (
	"sync"
	"sync/atomic"
)

// doConcurrently calls do n times, from the given number of concurrent workers. A worker stops at its first error.
// doConcurrently returns the first error of all.
func doConcurrently(workers, n int, do func(worker, i int) error) error {
	var wg sync.WaitGroup
	var next atomic.Int64
	failed := make(chan error, workers)
	for k := range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(k, int(i)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
