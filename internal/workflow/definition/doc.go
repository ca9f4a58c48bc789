// Package definition reads the files that workflows are written in. It finds
// everything that can be wrong with one before a run starts, with the line, the
// column and a remedy, and it gives the parts that an engine steps through:
// triggers, steps, templates, conditions and the next time of a schedule. It
// runs nothing and stores nothing.
package definition
