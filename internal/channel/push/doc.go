// Package push carries questions to browsers by the Web Push protocol
// (RFC 8030, 8291 and 8292). What it sends is for a lock screen: the title,
// what kind of question it is and until when; the rest is behind a press.
package push
