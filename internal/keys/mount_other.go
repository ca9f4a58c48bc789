//go:build !unix

package keys

// isMount returns false, because a volume of Windows has a letter and is not mounted on a folder.
func isMount(string) bool { return false }
