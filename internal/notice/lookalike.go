package notice

import "unicode"

// lookalikes are letters of other scripts that most fonts draw like a Latin
// letter, a digit or a sign of the command line.
const lookalikes = "" +
	// Cyrillic
	"аАВсСԁеЕЁёһНіІјЈКкӏМмоОрРԛԚѕЅТтуУүԜԝхХѵѴЗӡбҮ" +
	// Greek
	"αΑΒβϲϹΕΖηΗιΙΚκϳΜνΝοΟρΡσΤτυΥχΧγωϜ" +
	// Armenian, Cherokee, Lisu, Coptic
	"աԁցհոՕսՍԼղզքᎪᏴᏟᎠᎬᎻᎥᎫᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃꓐꓑꓒꓓꓔꓖꓗꓙꓚꓛꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴⲟⲣⲥⲭⲁⲞⲢⲤⲬ" +
	// Latin letters other than the plain ones
	"ıȷɑɡɩʀꜱᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢſƖǀǃƽ"

// signs are characters that look like signs with a meaning in a shell or a
// path.
const signs = "\u037e‐‑‒–—−―⁄∕⧸╱ꓸ․‥…‚；∶ː꞉։׃˸‘’ʹʼ“”ˈ‹›˂˃∗⁎‖∣⼁ǀ⋅"

var (
	fakeLetters = setOfRunes(lookalikes)
	fakeSigns   = setOfRunes(signs)
)

func setOfRunes(s string) map[rune]bool {
	set := map[rune]bool{}
	for _, r := range s {
		set[r] = true
	}
	return set
}

// looksLatin reports whether a character looks like a Latin letter or a digit.
func looksLatin(r rune) bool {
	return fakeLetters[r] ||
		r >= 0xff10 && r <= 0xff5a && (unicode.IsLetter(r) || unicode.IsDigit(r)) || // fullwidth
		r >= 0x1d400 && r <= 0x1d7ff || // mathematical
		r >= 0x2100 && r <= 0x214f && unicode.IsLetter(r) || // letterlike
		r >= 0x2160 && r <= 0x217f // Roman numerals
}

// findFakes returns the positions of the letters that pass for Latin ones. These
// are the look-alikes in a word with real Latin letters. If strict is set, they
// are also the look-alikes in a word of nothing else, and the signs that pass
// for signs of the command line.
func findFakes(s string, strict bool) map[int]bool {
	found := map[int]bool{}
	var word []int
	var latin, other bool
	end := func() {
		if latin || strict && !other {
			for _, i := range word {
				found[i] = true
			}
		}
		word, latin, other = nil, false, false
	}
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			latin = true
		case looksLatin(r):
			word = append(word, i)
		case unicode.IsLetter(r):
			// A letter that has no Latin look-alike shows that the word really
			// belongs to another script.
			other = other || !unicode.Is(unicode.Latin, r)
		case unicode.IsDigit(r), unicode.IsMark(r), IsHidden(r), r == '_':
		default:
			end()
			if strict && (fakeSigns[r] || r >= 0xff01 && r <= 0xff5e) {
				found[i] = true
			}
		}
	}
	end()
	return found
}
