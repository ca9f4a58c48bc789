package fermata

// Readiness is the reply of a server at /readyz.
type Readiness struct {
	Status string `json:"status"`
	// Warnings are problems that an operator should look at, although the server works.
	Warnings []string `json:"warnings,omitempty"`
	// Clock is the state of the database's clock. It is nil if the server does not report it.
	Clock *ClockReadiness `json:"clock,omitempty"`
}

// ClockReadiness says whether the database's clock can be trusted. Deadlines and leases follow this clock.
type ClockReadiness struct {
	// JumpSeconds is the size of a jump of the clock that is not confirmed yet. It is positive if the clock is ahead
	// of the expected time. Nothing times out until the jump is confirmed. It is 0 for a clock that runs as expected,
	// and again after a jump is confirmed.
	JumpSeconds float64 `json:"jump_seconds"`
	// SkewSeconds is how far the clock of the server's machine is ahead of the database's clock.
	SkewSeconds float64 `json:"skew_seconds"`
	// Warnings are those of the server's warnings that concern the clock.
	Warnings []string `json:"warnings,omitempty"`
}
