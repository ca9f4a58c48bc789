package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// quantile returns the value below which the given share of the samples lies.
func quantile[T cmp.Ordered](samples []T, share float64) T {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func median[T cmp.Ordered](samples []T) T { return quantile(samples, 0.5) }

// ms returns a duration in milliseconds, as text.
func ms(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// mb returns bytes in megabytes, as text.
func mb(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
