// Package posting reads questions in the forms that agents and workflows write,
// and converts them to [fermata.Ask].
package posting
