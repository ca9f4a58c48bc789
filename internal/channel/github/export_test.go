package github

import "github.com/fermata-hq/fermata/internal/notice"

// Write returns the comment for a notice.
func Write(n *notice.Notice) string { return renderComment(n, "") }

// MarkOf returns the delivery, the question and the state in the mark of a
// comment.
func MarkOf(comment string) string {
	m, _ := readMark(comment)
	return m.delivery + " " + m.question + " " + m.state
}
