package email

import (
	"context"
	"encoding/base64"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// Some mail programs do not mark what they quote, so the end of the person's
// words is not marked either. Fermata recognizes its own text by the words: for
// each mail it stores the hashes of every three words in a row.

const (
	// runLength is how many words in a row form one piece.
	runLength = 3
	hashBytes = 3
	// sentKey is the prefix of the key. The id of the delivery follows it.
	sentKey = "sent."
)

var links = lazyregexp.New(`(?i)<?\b(https?://|mailto:|www\.)[^\s<>]*>?`)

// wordSet holds the hashes of the pieces of mails that Fermata sent.
type wordSet map[uint32]bool

// wordsOf returns the words of a text without its links, because programs add
// and remove links.
func wordsOf(text string) []string {
	text = links().ReplaceAllString(strings.ToLower(text), " ")
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// pieces returns the hash of every runLength words in a row.
func pieces(words []string) []uint32 {
	var all []uint32
	for i := 0; i+runLength <= len(words); i++ {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Join(words[i:i+runLength], " ")))
		all = append(all, h.Sum32()&(1<<(8*hashBytes)-1))
	}
	return all
}

// has reports whether every word of a text belongs to a run of words that
// Fermata sent. For a text without words, it is true unless the text has a
// symbol that may be an answer, such as 👎.
func (s wordSet) has(text string) bool {
	words := wordsOf(text)
	if len(words) == 0 {
		return strings.TrimSpace(strings.Map(dropPlainSigns, text)) == ""
	}
	covered := 0 // all words before this position are covered
	for i, piece := range pieces(words) {
		if s[piece] && i <= covered {
			covered = i + runLength
		}
	}
	return covered == len(words)
}

// dropPlainSigns keeps the symbols that may be an answer, such as 👎, and drops
// all other characters.
func dropPlainSigns(r rune) rune {
	if unicode.Is(unicode.So, r) {
		return r
	}
	return -1
}

// add adds the pieces of a text, and reports whether one of them is new.
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

// readWordSet reads a set. A text that cannot be read gives an empty set.
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

// storeWords stores the pieces of a mail before it is sent, so that its words
// are recognized in a reply.
func (c *Channel) storeWords(ctx context.Context, l *letter) error {
	if c.imap == nil || c.env.Store == nil || l.Delivery == "" || l.Question == "" {
		return nil
	}
	sent, err := c.sentWords(ctx, l.Delivery)
	if err != nil {
		return err
	}
	changed := sent.add(l.Subject + "\n" + l.Text)
	if sent.add(allText(l.HTML)) || changed {
		return c.env.Store(ctx, sentKey+l.Delivery, sent.String())
	}
	return nil
}

// allText returns all the text of Fermata's own HTML.
func allText(s string) string {
	doc, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return ""
	}
	w := htmlWriter{all: true}
	w.writeNode(doc)
	return w.b.String()
}
