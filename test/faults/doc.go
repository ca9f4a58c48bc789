// Package faults runs real servers on disks that fill up and on files that are truncated. A server that cannot keep its
// promises reports that and refuses writes. An acknowledged write is there after a restart, or the server reports that it
// is lost.
package faults
