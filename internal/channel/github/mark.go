package github

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/lazyregexp"
	"github.com/fermata-hq/fermata/internal/notice"
)

// mark is the hidden data at the end of every comment that the channel writes.
// It is trusted only in comments of the channel's own account.
type mark struct {
	// delivery and question identify what a comment asks.
	delivery, question string
	// state is open, page (open, but answered only on its page) or closed.
	state string
	// undecided reports whether the question closed without a person's
	// decision.
	undecided bool
	// action is the hash of the action that the comment shows completely.
	action string
	// words are digests of the words with which an answer can begin.
	words []string
	// reply is the id of the comment that this one replies to. person is the id of its author. note identifies another
	// kind of comment that must not be written twice.
	reply, person int64
	note          string
}

const (
	stateOpen   = "open"
	statePage   = "page"
	stateClosed = "closed"

	endUndecided = "undecided"
)

var (
	markLine = lazyregexp.New(`<!-- fermata ([a-zA-Z0-9_=.: -]*) -->\s*$`)
	unsafeID = lazyregexp.New(`[^a-zA-Z0-9_]`)
)

// String writes the mark as an HTML comment, which readers do not see.
func (m mark) String() string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+"="+value)
		}
	}
	add("delivery", unsafeID().ReplaceAllString(m.delivery, "_"))
	add("question", unsafeID().ReplaceAllString(m.question, "_"))
	add("state", m.state)
	if m.undecided {
		add("end", endUndecided)
	}
	add("action", unsafeID().ReplaceAllString(m.action, "_"))
	add("words", strings.Join(m.words, "."))
	if m.reply != 0 {
		add("reply", strconv.FormatInt(m.reply, 10))
		add("to", strconv.FormatInt(m.person, 10))
	}
	add("note", unsafeID().ReplaceAllString(m.note, "_"))
	return "<!-- fermata " + strings.Join(parts, " ") + " -->"
}

// readMark reads the mark of a comment. Only a mark at the end counts, because
// the text above it may come from other people.
func readMark(body string) (mark, bool) {
	found := markLine().FindStringSubmatch(body)
	if found == nil {
		return mark{}, false
	}
	var m mark
	for part := range strings.SplitSeq(found[1], " ") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "delivery":
			m.delivery = value
		case "question":
			m.question = value
		case "state":
			m.state = value
		case "end":
			m.undecided = value == endUndecided
		case "action":
			m.action = value
		case "words":
			m.words = strings.Split(value, ".")
		case "reply":
			m.reply, _ = strconv.ParseInt(value, 10, 64)
		case "to":
			m.person, _ = strconv.ParseInt(value, 10, 64)
		case "note":
			m.note = value
		}
	}
	return m, true
}

// wordsOf returns digests of all words with which an answer to the question can begin. With them, the channel can
// distinguish answers from other comments even after a restart.
func wordsOf(q *fermata.Question) []string {
	var words []string
	add := func(list ...string) {
		for _, w := range list {
			if d := digest(w); w != "" && !slices.Contains(words, d) {
				words = append(words, d)
			}
		}
	}
	if notice.TakesPlainYesNo(q) {
		add(anyYesNo)
	}
	for i := range q.Items {
		it := &q.Items[i]
		if len(q.Items) > 1 {
			add(it.Key)
			continue
		}
		switch it.ResponseType {
		case fermata.ResponseBoolean:
			add("yes", "y", "true", "ja", "j", "no", "n", "false", "nein")
		case fermata.ResponseApproval:
			add("approve", "approved", "yes", "y", "ja", "j", "genehmigen", "genehmigt", "/approve")
			add("reject", "rejected", "no", "n", "nein", "ablehnen", "abgelehnt", "/reject")
		case fermata.ResponseNumber:
			add(anyNumber)
		case fermata.ResponseDate:
			add(anyDate)
		default: // a text begins with any word, so it needs the command; options follow
		}
		add(notice.Marks(it)...)
		for j, o := range it.Options {
			add(o.Value, o.Label, notice.OneLine(o.Text()), strconv.Itoa(j+1))
		}
		if it.TakesOther() {
			add("other")
		}
	}
	return words
}

// anyNumber, anyDate and anyYesNo represent any number, any date and any plain yes
// or no in the list of words.
const (
	anyNumber = "\x00number"
	anyDate   = "\x00date"
	anyYesNo  = "\x00natural"
)

var (
	numberLine = lazyregexp.New(`^[+-]?[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	dateLine   = lazyregexp.New(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*| [0-9].*| *:.*)?$`)
)

func digest(word string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(word)))
	return fmt.Sprintf("%08x", h.Sum32())
}

// beginsAnswer reports whether the line begins like an answer: with one of the words. The line must end after the word,
// or a sign such as a colon must follow it.
func (m mark) beginsAnswer(line string) bool {
	line = strings.TrimSpace(strings.TrimLeft(line, `"“„«`))
	head, _, _ := strings.Cut(line, ":")
	head = strings.TrimSpace(head)
	if numberLine().MatchString(head) && m.hasWord(anyNumber) || dateLine().MatchString(line) && m.hasWord(anyDate) {
		return true
	}
	if _, plain := notice.ParsePlainYesNo(head); plain && m.hasWord(anyYesNo) {
		return true
	}
	for i := range line {
		if i > 0 && isWordEnd(line[i:]) && m.hasWord(line[:i]) {
			return true
		}
	}
	return line != "" && m.hasWord(line)
}

func (m mark) hasWord(word string) bool { return slices.Contains(m.words, digest(word)) }

// isWordEnd reports whether a word ends where the rest of the line begins.
func isWordEnd(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	if strings.ContainsRune(`,:;.!)"”“»`, r) {
		return true
	}
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	return next != rest && strings.ContainsAny(next[:min(1, len(next))], ":-") || next != rest && (strings.HasPrefix(next, "–") || strings.HasPrefix(next, "—"))
}
