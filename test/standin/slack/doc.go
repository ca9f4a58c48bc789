// Package slack stands in for Slack: its Web API with its limits, scopes, rate
// limits and error names, its signed requests and retries over HTTP, its
// Socket Mode, and people who see messages, press, pick and type.
package slack
