package engine

// ReadShell is what Gate reads command lines with.
var ReadShell = readShell
