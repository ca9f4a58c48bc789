// Package drawing draws trees of tasks and steps with symbols, once or live. A drawing reads its state from the server
// and is drawn again after every change.
package drawing
