// Package workflows runs the examples of workflows as people do: a server, a
// worker in a git repository, the commands of each example's README, and the
// systems that it speaks with.
package workflows
