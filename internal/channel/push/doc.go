// Package push carries questions to browsers by the Web Push protocol (RFC
// 8030, 8291 and 8292). Its messages are short enough for a lock screen: the
// title, the kind of question and the deadline. A press opens the rest.
package push
