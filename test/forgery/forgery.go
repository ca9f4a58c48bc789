// Package forgery creates texts that differ a little from a genuine one.
package forgery

import "iter"

// OneOff yields the text one byte off: at each place with another byte there, with two bytes swapped, with a byte missing,
// with a byte twice, and cut short. Each differs from the text.
func OneOff(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(text) {
			before, here, after := text[:i], text[i:i+1], text[i+1:]
			forged := []string{before + other(text[i]) + after, before + after, before + here + here + after, before}
			if after != "" {
				forged = append(forged, before+after[:1]+here+after[1:])
			}
			for _, f := range forged {
				if f != text && !yield(f) {
					return
				}
			}
		}
	}
}

// other returns a character that a token may contain and that is not b.
func other(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}
