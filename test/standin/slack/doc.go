// Package slack is a stand-in for Slack. It has the Web API with its limits,
// scopes, rate limits and error names, signed requests and retries over HTTP,
// and Socket Mode. It also plays people who see messages, press, pick and type.
package slack
