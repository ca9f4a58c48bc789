// Package slack is a stand-in for Slack: its Web API with its limits, scopes,
// rate limits and error names, its signed requests and retries over HTTP, and
// its Socket Mode. It also plays people that see messages, press, pick and
// type.
package slack
