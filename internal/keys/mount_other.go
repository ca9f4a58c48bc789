//go:build !unix

package keys

// isMount reports false: volumes are told by their letters here.
func isMount(string) bool { return false }
