// Package slack tries the Slack channel against the test server of Slack's
// client library, and the real program against the stand-in while it is killed.
// The library's server leaves goroutines behind. The tests of the channel's own
// package would report them as leaks.
package slack
