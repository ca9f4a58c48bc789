package slack

import (
	"time"

	"github.com/jellydator/ttlcache/v3"
)

// cache keeps values by a text. If it is full, it drops the value that was not used for the longest time. Reading a
// value does not extend its time.
type cache[V any] = ttlcache.Cache[string, V]

// newCache returns a cache for at most size values. Each is kept for retention, or without a limit if retention is 0.
func newCache[V any](size uint64, retention time.Duration) *cache[V] {
	return ttlcache.New(ttlcache.WithCapacity[string, V](size), ttlcache.WithTTL[string, V](retention), ttlcache.WithDisableTouchOnHit[string, V]())
}
