// Package notice is the language between the delivery of questions and the
// channels that carry them. It says what to show to which recipient, what came
// back, and what became of it. A channel translates this language and knows
// nothing else of Fermata.
package notice
