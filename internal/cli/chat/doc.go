// Package chat holds the commands that write into the thread of a task and show it live.
package chat
