package github

import "github.com/fermata-hq/fermata/internal/notice"

// Write returns the comment for a notice.
func Write(n *notice.Notice) string { return write(n, "") }

// MarkOf says what the mark of a comment says.
func MarkOf(comment string) string {
	m, _ := readMark(comment)
	return m.delivery + " " + m.question + " " + m.state
}
