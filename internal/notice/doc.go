// Package notice is the language between the delivery of questions and the
// channels that carry them. It describes the messages to send, the replies that
// come back, and what became of each reply. A channel translates this language
// and knows nothing else of Fermata.
package notice
