package process

// IsMarked is isMarked.
var IsMarked = isMarked
