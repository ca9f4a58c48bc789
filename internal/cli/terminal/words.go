package terminal

import (
	"fmt"

	"github.com/fermata-hq/fermata"
)

// ShortID returns the ending of an id that tables show. Every command accepts
// it.
func ShortID(id string) string {
	return id[max(0, len(id)-fermata.MinIDSuffix):]
}

// ShortHash returns the beginning of a definition's hash, as people see it.
func ShortHash(hash string) string { return hash[:min(len(hash), 8)] }

// CountText returns the number with the noun, in the singular for one.
func CountText[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
