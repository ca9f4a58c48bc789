package notice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fermata-hq/fermata"
)

// HowToAnswer returns a text that explains to a person how to write an answer
// that [ParseReply] understands. Text that can be typed as shown is in
// backquotes, or on indented lines if it has several lines.
func HowToAnswer(q *fermata.Question) string {
	if len(q.Items) != 1 {
		return howToAnswerItems(q)
	}
	it := &q.Items[0]
	samples := Samples(q)
	instruction := "Reply with " + describeForm(it)
	if with := sampleWithComment(it, samples); with != "" {
		instruction += "; say why behind a colon: `" + with + "`"
	}
	instruction += "."
	if it.TakesOther() && it.ResponseType != fermata.ResponseText && slices.Contains(samples, otherSample) {
		instruction += " For an answer of your own write `" + otherSample + "`."
	}
	if !it.IsRequired() {
		instruction += " To leave it out write `-`."
	}
	return instruction
}

// howToAnswerItems is HowToAnswer for a question with several items.
func howToAnswerItems(q *fermata.Question) string {
	var b strings.Builder
	b.WriteString("Reply with one line for each")
	if samples := Samples(q); len(samples) > 0 {
		b.WriteString(", such as\n")
		for line := range strings.SplitSeq(samples[0], "\n") {
			b.WriteString("\n    " + line)
		}
		b.WriteString("\n")
	} else {
		b.WriteString(".\n")
	}
	for i := range q.Items {
		it := &q.Items[i]
		fmt.Fprintf(&b, "\n- %s: %s", it.Key, describeForm(it))
		if !it.IsRequired() {
			b.WriteString("; may be left out")
		}
	}
	if q.Item(commentKey) == nil {
		b.WriteString("\n- comment: what you want to say along with it")
	}
	return b.String()
}

const otherSample = "other: your text"

// describeForm returns a phrase for the form of answer that an item takes.
func describeForm(it *fermata.Item) string {
	switch it.ResponseType {
	case fermata.ResponseChoice:
		return oneOf(Marks(it))
	case fermata.ResponseMultiChoice:
		return "one or more of " + listMarks(Marks(it)) + ", with commas between them" + sampleOf(it)
	case fermata.ResponseBoolean:
		return "`yes` or `no`"
	case fermata.ResponseApproval:
		return "`approve` or `reject`"
	case fermata.ResponseNumber:
		return "a number" + numberLimits(it) + sampleOf(it)
	case fermata.ResponseDate:
		return "a date" + sampleOf(it)
	default:
		if textLimits := Limits(it); textLimits != "" {
			return "your answer as text: " + textLimits
		}
		return "your answer as text"
	}
}

// Limits says which numbers or texts an item accepts. It is empty if the item
// has no limits.
func Limits(it *fermata.Item) string {
	if it.ResponseType == fermata.ResponseNumber {
		return strings.TrimSpace(numberLimits(it))
	}
	var parts []string
	if it.MinLength != nil && *it.MinLength > 1 {
		parts = append(parts, fmt.Sprintf("at least %d characters", *it.MinLength))
	}
	if it.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("at most %d characters", *it.MaxLength))
	}
	if it.Pattern != "" {
		parts = append(parts, "matching "+OneLine(it.Pattern))
	}
	return strings.Join(parts, ", ")
}

func sampleOf(it *fermata.Item) string {
	if s := sampleValues(it); len(s) > 0 {
		return ", such as `" + s[0] + "`"
	}
	return ""
}

func numberLimits(it *fermata.Item) string {
	switch {
	case it.Min != nil && it.Max != nil:
		return " from " + answerText(*it.Min) + " to " + answerText(*it.Max)
	case it.Min != nil:
		return " of at least " + answerText(*it.Min)
	case it.Max != nil:
		return " of at most " + answerText(*it.Max)
	}
	return ""
}

// maxMarksNamed is how many marks are listed one by one.
const maxMarksNamed = 6

func oneOf(marks []string) string {
	switch {
	case len(marks) == 1:
		return "`" + marks[0] + "`"
	case len(marks) > maxMarksNamed:
		return "one of " + listMarks(marks)
	}
	return "`" + strings.Join(marks[:len(marks)-1], "`, `") + "` or `" + marks[len(marks)-1] + "`"
}

func listMarks(marks []string) string {
	if len(marks) <= maxMarksNamed {
		return "`" + strings.Join(marks, "`, `") + "`"
	}
	return "`" + marks[0] + "` to `" + marks[len(marks)-1] + "`"
}

// sampleWithComment returns the first sample that has a comment, or "".
func sampleWithComment(it *fermata.Item, samples []string) string {
	if it.ResponseType == fermata.ResponseText {
		return ""
	}
	i := slices.IndexFunc(samples, func(s string) bool { return strings.HasSuffix(s, sampleReason) })
	if i < 0 {
		return ""
	}
	return samples[i]
}

const sampleReason = ": because …"

// Samples returns replies as a person can type them. [ParseReply] accepts each
// of them for this question.
func Samples(q *fermata.Question) []string {
	var samples []string
	if len(q.Items) == 1 {
		samples = itemSamples(&q.Items[0])
	} else {
		lines := make([]string, 0, len(q.Items))
		for i := range q.Items {
			it := &q.Items[i]
			switch list := sampleValues(it); {
			case len(list) > 0:
				lines = append(lines, it.Key+": "+list[0])
			case it.ResponseType == fermata.ResponseText:
				lines = append(lines, it.Key+": your text")
			}
		}
		samples = []string{strings.Join(lines, "\n")}
	}
	return slices.DeleteFunc(samples, func(s string) bool {
		_, err := parseReply(q, s)
		return err != nil
	})
}

func itemSamples(it *fermata.Item) []string {
	samples := sampleValues(it)
	if len(samples) > 0 {
		withReason := samples[0] + sampleReason
		if it.ResponseType == fermata.ResponseApproval {
			withReason = fermata.Reject + sampleReason
		}
		samples = append(samples, withReason)
	}
	if it.TakesOther() {
		samples = append(samples, otherSample)
	}
	if !it.IsRequired() {
		samples = append(samples, "-")
	}
	return samples
}

// sampleValues returns the texts that can be typed for an item, or nothing if the
// item takes free text.
func sampleValues(it *fermata.Item) []string {
	switch it.ResponseType {
	case fermata.ResponseChoice:
		return Marks(it)
	case fermata.ResponseMultiChoice:
		return []string{someMarks(it)}
	case fermata.ResponseBoolean:
		return []string{"yes", "no"}
	case fermata.ResponseApproval:
		return []string{fermata.Approve, fermata.Reject}
	case fermata.ResponseNumber:
		return []string{someNumber(it)}
	case fermata.ResponseDate:
		return []string{"2027-01-31"}
	default:
		return nil
	}
}

// someMarks returns sample marks for an item of several choices: two if the
// limits of the item allow it.
func someMarks(it *fermata.Item) string {
	n := 2
	if it.Min != nil {
		n = max(n, int(*it.Min))
	}
	if it.Max != nil {
		n = min(n, int(*it.Max))
	}
	marks := Marks(it)
	return strings.Join(marks[:max(0, min(n, len(marks)))], ", ")
}

// someNumber returns a number within the limits of the item.
func someNumber(it *fermata.Item) string {
	n := 5.0
	if it.Min != nil {
		n = max(n, *it.Min)
	}
	if it.Max != nil {
		n = min(n, *it.Max)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
