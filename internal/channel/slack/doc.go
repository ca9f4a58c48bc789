// Package slack carries questions to people in Slack and their answers back,
// over HTTP or Socket Mode. It uses Block Kit messages and forms, a slash
// command and replies in threads. It shows questions and passes answers on. The
// server decides what counts.
package slack
