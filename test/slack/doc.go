// Package slack tries the Slack channel against the test server of Slack's
// client library. That server never ends what it started, which the tests of
// the channel's own room would report.
package slack
