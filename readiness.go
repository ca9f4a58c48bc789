package fermata

// Readiness is what a server says of itself at /readyz.
type Readiness struct {
	Status string `json:"status"`
	// Warnings are what an operator should look at though the server serves.
	Warnings []string `json:"warnings,omitempty"`
	// Clock is what the server knows of the database's clock; nil where it does not tell.
	Clock *ClockReadiness `json:"clock,omitempty"`
}

// ClockReadiness says whether the clock of the database, by which deadlines and leases go, can be trusted.
type ClockReadiness struct {
	// JumpSeconds is by how much the clock jumped; positive when it is ahead of what it should show. Nothing times out
	// meanwhile. It is 0 for a clock that runs as it should, and again for a jump that counts.
	JumpSeconds float64 `json:"jump_seconds"`
	// SkewSeconds is how far the clock of the server's machine is ahead of the database's.
	SkewSeconds float64 `json:"skew_seconds"`
	// Warnings are those of the server's warnings that are about the clock.
	Warnings []string `json:"warnings,omitempty"`
}
