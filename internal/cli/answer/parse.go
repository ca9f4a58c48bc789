package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/session"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
	"github.com/fermata-hq/fermata/internal/notice"
)

// Parse reads the answer on a command line: words for a single item, a
// word for each item or for each required item, or key=value pairs. It returns
// nil if the command line gives no answer.
func Parse(q *fermata.Question, words, pairs []string) (map[string]any, error) {
	texts, err := answerTexts(q, words, pairs)
	if err != nil || texts == nil {
		return nil, err
	}
	return ParseTexts(q, texts)
}

func answerTexts(q *fermata.Question, words, pairs []string) (map[string]string, error) {
	texts := map[string]string{}
	for _, pair := range pairs {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || q.Item(key) == nil {
			return nil, session.InputErrorf("--answer %s: write key=value with one of the keys %s", pair, strings.Join(itemKeys(q), ", "))
		}
		if _, twice := texts[key]; twice {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "--answer %s is given twice", key).WithHint("say it once")
		}
		texts[key] = text
	}
	switch {
	case len(words) == 0 && len(pairs) == 0:
		return nil, nil
	case len(words) > 0 && len(pairs) > 0:
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the answer stands in words and in --answer").WithHint("say it in one of the two ways")
	case len(words) == 0:
	case len(q.Items) == 1:
		glue := " "
		if q.Items[0].ResponseType == fermata.ResponseMultiChoice {
			glue = ","
		}
		texts[q.Items[0].Key] = strings.Join(words, glue)
	default:
		items := itemsFor(q, len(words))
		if items == nil {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "the question has %s, the command line answers %d of them", terminal.CountText(len(q.Items), "item"), len(words)).
				WithHint("give one for each, or one for each that is required, in order; or use --answer key=value for %s", strings.Join(itemKeys(q), ", "))
		}
		for i, it := range items {
			texts[it.Key] = words[i]
		}
	}
	return texts, nil
}

// itemsFor returns the items that the words answer in order: all items, or the
// required ones. It returns nil if neither has that number of items.
func itemsFor(q *fermata.Question, wordCount int) []fermata.Item {
	required := slices.DeleteFunc(slices.Clone(q.Items), func(it fermata.Item) bool { return !it.IsRequired() })
	for _, items := range [][]fermata.Item{q.Items, required} {
		if len(items) == wordCount {
			return items
		}
	}
	return nil
}

// ParseTexts reads the texts as values of the items. Its error lists every text
// that does not fit.
func ParseTexts(q *fermata.Question, texts map[string]string) (map[string]any, error) {
	values := make(map[string]any, len(texts))
	var problems []fermata.Problem
	strict := false
	for i := range q.Items {
		it := &q.Items[i]
		text, given := texts[it.Key]
		if !given {
			if it.IsRequired() {
				problems = append(problems, fermata.Problem{Field: it.Key, Message: "is required"})
			}
			continue
		}
		v, err := notice.ParseValue(it, text)
		if err != nil {
			problems = append(problems, fermata.Problem{Field: it.Key, Message: err.Error()})
			strict = strict || it.IsStrict()
			continue
		}
		values[it.Key] = v
	}
	switch {
	case len(problems) == 0:
		return values, nil
	case strict:
		return nil, fermata.Invalid(problems...).WithHint("%s", q.OwnWordsHint())
	default:
		return nil, fermata.Invalid(problems...)
	}
}

// New returns the answer that sends the values.
func New(q *fermata.Question, values map[string]any) fermata.Answer {
	a := fermata.Answer{Channel: "cli"}
	if len(q.Items) == 1 {
		a.Answer = values[q.Items[0].Key]
	} else {
		a.Answers = values
	}
	if q.Type == fermata.Approval {
		a.ActionHash = q.ActionHash
	}
	return a
}

// DangerousOptions returns the chosen options that are marked as dangerous.
func DangerousOptions(q *fermata.Question, values map[string]any) []string {
	var picked []string
	for i := range q.Items {
		it := &q.Items[i]
		for _, o := range it.Options {
			if !o.Danger {
				continue
			}
			list, _ := values[it.Key].([]string)
			if values[it.Key] == any(o.Value) || slices.Contains(list, o.Value) {
				picked = append(picked, o.Text())
			}
		}
	}
	return picked
}

func itemKeys(q *fermata.Question) []string {
	list := make([]string, 0, len(q.Items))
	for _, it := range q.Items {
		list = append(list, it.Key)
	}
	return list
}

// promptOf returns the prompt for an item.
func promptOf(q *fermata.Question, it *fermata.Item) string {
	if len(q.Items) == 1 {
		return "answer"
	}
	return fmt.Sprintf("%s (%s)", terminal.OneLine(it.Prompt), terminal.OneLine(it.Key))
}
