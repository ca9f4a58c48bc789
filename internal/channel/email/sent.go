package email

import (
	"context"
	"encoding/base64"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// Mail programs that do not mark what they quote leave it to the reader to see
// where the person's words end. What we sent is recognised by its words: from
// each mail, the hashes of all three words in a row are kept.

const (
	// run is how many words in a row make a piece.
	run       = 3
	hashBytes = 3
	// sentKey precedes the id of a delivery.
	sentKey = "sent."
)

var links = regexp.MustCompile(`(?i)<?\b(https?://|mailto:|www\.)[^\s<>]*>?`)

// wordSet holds the pieces of mails that we sent.
type wordSet map[uint32]bool

// wordsOf returns the words of a text, without links: programs add and drop them.
func wordsOf(text string) []string {
	text = links.ReplaceAllString(strings.ToLower(text), " ")
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// pieces returns the hash of each run of words.
func pieces(words []string) []uint32 {
	var all []uint32
	for i := 0; i+run <= len(words); i++ {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Join(words[i:i+run], " ")))
		all = append(all, h.Sum32()&(1<<(8*hashBytes)-1))
	}
	return all
}

// has reports whether every word of a text stands in a run of words that we
// sent. A text without words is always there.
func (s wordSet) has(text string) bool {
	words := wordsOf(text)
	if len(words) == 0 {
		return strings.TrimSpace(strings.Map(dropPlainSigns, text)) == ""
	}
	covered := 0 // words before it are
	for i, piece := range pieces(words) {
		if s[piece] && i <= covered {
			covered = i + run
		}
	}
	return covered == len(words)
}

// dropPlainSigns leaves signs that may say something, such as 👎.
func dropPlainSigns(r rune) rune {
	if unicode.Is(unicode.So, r) {
		return r
	}
	return -1
}

// add puts in the pieces of a text, and reports whether one is new.
func (s wordSet) add(text string) bool {
	before := len(s)
	for _, piece := range pieces(wordsOf(text)) {
		s[piece] = true
	}
	return len(s) > before
}

func (s wordSet) String() string {
	all := make([]uint32, 0, len(s))
	for piece := range s {
		all = append(all, piece)
	}
	slices.Sort(all)
	raw := make([]byte, 0, hashBytes*len(all))
	for _, piece := range all {
		raw = append(raw, byte(piece>>16), byte(piece>>8), byte(piece))
	}
	return base64.RawStdEncoding.EncodeToString(raw)
}

// readWordSet reads a set; what cannot be read holds nothing.
func readWordSet(text string) wordSet {
	s := wordSet{}
	raw, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return s
	}
	for ; len(raw) >= hashBytes; raw = raw[hashBytes:] {
		s[uint32(raw[0])<<16|uint32(raw[1])<<8|uint32(raw[2])] = true
	}
	return s
}

// sentWords returns the pieces of the mails of a delivery.
func (c *Channel) sentWords(ctx context.Context, delivery string) (wordSet, error) {
	if delivery == "" || c.env.Load == nil {
		return wordSet{}, nil
	}
	text, err := c.env.Load(ctx, sentKey+delivery)
	return readWordSet(text), err
}

// keepWords keeps the pieces of a mail before it is sent, so that a reply to it
// is understood.
func (c *Channel) keepWords(ctx context.Context, l *letter) error {
	if c.imap == nil || c.env.Store == nil || l.Delivery == "" || l.Question == "" {
		return nil
	}
	sent, err := c.sentWords(ctx, l.Delivery)
	if err != nil {
		return err
	}
	news := sent.add(l.Subject + "\n" + l.Text)
	if sent.add(allText(l.HTML)) || news {
		return c.env.Store(ctx, sentKey+l.Delivery, sent.String())
	}
	return nil
}

// allText returns all text of our own HTML.
func allText(s string) string {
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return ""
	}
	w := htmlWriter{all: true}
	w.node(doc)
	return w.b.String()
}
