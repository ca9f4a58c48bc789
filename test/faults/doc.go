// Package faults runs real servers on disks that fill up and on files that are cut. A server that cannot keep its
// promises says so, and stops; what was acknowledged is there, or its absence is told.
package faults
