package hook

// For the tests outside the package.

const ExitBlocked = exitBlocked
