// Package rendertest holds golden files, questions and forged texts for the tests of all packages that show something to
// people.
package rendertest
