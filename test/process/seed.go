package process

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// SeedEnv names the variable with the seed of a test's random choices.
const SeedEnv = "FERMATA_SEED"

// Random makes a test's random choices. It is safe for concurrent use. A seed repeats the choices, but not the order in
// which processes run.
type Random struct {
	mu sync.Mutex
	r  *rand.Rand
}

// NewRandom returns the choices of a seed: the seed in FERMATA_SEED, or a new one. It prints the seed.
func NewRandom(tb testing.TB) *Random {
	tb.Helper()
	seed := rand.Uint64() //nolint:gosec // a test's choices are no secret
	if text := os.Getenv(SeedEnv); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			tb.Fatalf("%s: %v", SeedEnv, err)
		}
	}
	tb.Logf("%s=%d", SeedEnv, seed)
	return &Random{r: rand.New(rand.NewPCG(seed, seed))} //nolint:gosec // a test's choices are no secret
}

// N returns a number from 0 to n-1.
func (r *Random) N(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.r.IntN(n)
}

// Chance returns true with the given probability, in percent.
func (r *Random) Chance(percent int) bool { return r.N(100) < percent }
