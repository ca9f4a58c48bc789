// Package hook holds the commands that agent programs call before they use a tool. A hook that cannot decide denies: the
// gate fails closed.
package hook
