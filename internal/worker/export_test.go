package worker

// LockCopy is the lock that a run holds on its working copy.
var LockCopy = lockFile
