// Package agent runs real agent programs in tests, sealed off: each has its own home, dummy keys, and no network except
// loopback, where the scripted model replies.
//
// A package of such tests calls [Main] from its TestMain. scripts/setup-agents installs the programs. A test whose
// program is missing fails.
package agent
