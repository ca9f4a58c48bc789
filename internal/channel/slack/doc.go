// Package slack carries questions to people in Slack and their answers back:
// with Block Kit messages and forms, a slash command and replies in threads,
// over HTTP or Socket Mode. It shows questions and passes answers on. The
// server decides what counts.
package slack
