package expression

import "strings"

// Nearest returns the name that was probably meant, or "" if no name is similar. Two names without a common letter, such
// as a and b, are not similar.
func Nearest(name string, names []string) string {
	best, least := "", 1+max(1, len(name)/3)
	for _, candidate := range names {
		if strings.EqualFold(strings.ReplaceAll(candidate, "_", ""), strings.ReplaceAll(name, "_", "")) && candidate != name {
			return candidate
		}
		if d := distance(name, candidate); d < least && d < max(len(name), len(candidate)) && candidate != name {
			best, least = candidate, d
		}
	}
	return best
}

// distance returns the number of bytes to insert, delete, replace or swap to
// turn a into b. It returns 100 for long names.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return 100
	}
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	var twoBefore []int
	for i := range len(a) {
		twoBefore, before, row = before, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(before[j]+change, before[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoBefore[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
