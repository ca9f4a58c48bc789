// Package slack tries the Slack channel against the test server of Slack's
// client library, and the real program against the stand-in while it is killed.
// The library's server never ends what it started, which the tests of the
// channel's own room would report.
package slack
