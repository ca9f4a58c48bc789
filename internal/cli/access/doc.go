// Package access holds the commands about people, tokens and policies: who may sign in, how people are reached, and what
// agents may ask for.
package access
