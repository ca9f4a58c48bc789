// Package definition reads the files that define workflows. It finds every
// problem of a file before a run starts, each with its line, its column and a
// hint. It returns the parts that an engine needs: triggers, steps, templates,
// conditions and the next time of a schedule. It runs nothing and stores
// nothing.
package definition
