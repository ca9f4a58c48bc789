// Package slack carries questions to people in Slack and their answers back:
// Block Kit messages and forms, a slash command and replies in threads, over
// HTTP or Socket Mode. It shows and hears; what counts is decided elsewhere.
package slack
