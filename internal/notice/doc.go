// Package notice is the language between the delivery of questions and the
// channels that carry them: what is to be shown to whom, what came back, and
// what became of it. A channel translates it and knows nothing else of Fermata.
package notice
