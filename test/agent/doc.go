// Package agent runs real agent programs in tests, sealed off: each has a home
// of its own, dummy keys, and no network but loopback, where the scripted model
// replies.
//
// A package of such tests calls [Main] from its TestMain. The programs are
// installed by scripts/setup-agents; a test whose program is missing fails.
package agent
