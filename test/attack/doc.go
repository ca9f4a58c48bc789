// Package attack runs the real program against hostile callers and agents. They
// try to get access, data and effects that nobody granted.
package attack
