package notice

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fermata-hq/fermata"
)

// backquoted matches text that can be typed as shown.
var backquoted = regexp.MustCompile("`([^`]*)`")

// words are values and labels that could be taken for something else.
var words = []string{
	"A", "B", "C", "a", "1", "2", "3", "#1", "##2", "80", "yes", "no", "none", "other", "other: your text", "approve", "reject: x", "-",
	"A, B", "1, 2", "#1, #2", "A: because …", "x: y", `"A"`, `"1"`, "toml", "the new one", "B please", "line\nbreak", "rm\u202e", "Ä", "b)", "C.", "0", "[\"a\"]",
}

func anyItem(t *rapid.T, key string) fermata.Item {
	it := fermata.Item{
		Key: key, Prompt: "Which?", ResponseType: rapid.SampledFrom(fermata.ResponseTypes).Draw(t, "type"),
		Other: new(rapid.Bool().Draw(t, "other")),
	}
	required := rapid.Bool().Draw(t, "required")
	it.Required = &required
	switch it.ResponseType {
	case fermata.ResponseChoice, fermata.ResponseMultiChoice:
		values := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 30, rapid.ID[string]).Draw(t, "values")
		for _, v := range values {
			it.Options = append(it.Options, fermata.Option{Value: v, Label: rapid.SampledFrom(append(words, "", "", "")).Draw(t, "label")})
		}
		if it.ResponseType == fermata.ResponseMultiChoice && rapid.Bool().Draw(t, "limited") {
			least := float64(rapid.IntRange(0, len(values)).Draw(t, "min"))
			it.Min = &least
		}
	case fermata.ResponseNumber:
		if rapid.Bool().Draw(t, "limited") {
			least := rapid.Float64Range(-1e6, 1e6).Draw(t, "min")
			most := least + rapid.Float64Range(0, 1e6).Draw(t, "more")
			it.Min, it.Max = &least, &most
		}
	default:
	}
	return it
}

func TestHowToAnswerCanBeTyped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		it := anyItem(t, "answer")
		q := questionWith(it)
		if it.ResponseType == fermata.ResponseApproval {
			q.Type, q.ActionHash = fermata.Approval, "abc"
		}
		told := HowToAnswer(q)
		typed := backquoted.FindAllStringSubmatch(told, -1)
		if len(typed) == 0 && it.ResponseType != fermata.ResponseText && it.ResponseType != fermata.ResponseNumber {
			t.Fatalf("nothing can be typed: %s", told)
		}
		for _, sample := range typed {
			if isSingleOfSeveral(&it, sample[1]) {
				continue
			}
			if _, err := ParseReply(q, sample[1]); err != nil {
				t.Fatalf("%q of %q: %v", sample[1], told, err)
			}
		}
		checkSamplesExact(t, q)
	})
}

// isSingleOfSeveral reports whether the text is one mark but the item needs more.
func isSingleOfSeveral(it *fermata.Item, typed string) bool {
	return it.ResponseType == fermata.ResponseMultiChoice && it.Min != nil && *it.Min > 1 && !strings.Contains(typed, ",")
}

// checkSamplesExact checks that each suggested reply is read as the value that it is
// suggested for.
func checkSamplesExact(t *rapid.T, q *fermata.Question) {
	it := &q.Items[0]
	wants := map[string]any{}
	switch it.ResponseType {
	case fermata.ResponseChoice:
		for i, mark := range Marks(it) {
			wants[mark] = it.Options[i].Value
		}
	case fermata.ResponseMultiChoice:
		marks, all := Marks(it), make([]string, 0, len(it.Options))
		for i, o := range it.Options {
			all = append(all, o.Value)
			if it.Min == nil || *it.Min <= 1 {
				wants[marks[i]] = []string{o.Value}
			}
		}
		wants[strings.Join(marks, ", ")] = all
	case fermata.ResponseBoolean:
		wants["yes"], wants["no"] = true, false
	case fermata.ResponseApproval:
		wants["approve"], wants["reject: because"] = fermata.Approve, fermata.Reject
	default:
	}
	for typed, want := range wants {
		got, err := ParseReply(q, typed)
		if err != nil || !reflect.DeepEqual(got.Answer, want) {
			t.Fatalf("%q: got %#v, %v, want %#v", typed, got.Answer, err, want)
		}
	}
}

func TestHowToAnswerSeveralCanBeTyped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"q1", "q2", "db", "DB", "comment", "a.b"}), 2, 6, rapid.ID[string]).Draw(t, "keys")
		q := questionWith()
		for _, key := range keys {
			q.Items = append(q.Items, anyItem(t, key))
		}
		var sample []string
		for line := range strings.SplitSeq(HowToAnswer(q), "\n") {
			if typed, ok := strings.CutPrefix(line, "    "); ok {
				sample = append(sample, typed)
			}
		}
		if sample == nil {
			t.Fatalf("nothing can be typed:\n%s", HowToAnswer(q))
		}
		got, err := ParseReply(q, strings.Join(sample, "\n"))
		if err != nil || len(got.Answers) != len(q.Items) {
			t.Fatalf("%q: got %v, %v", sample, got.Answers, err)
		}
		for i := range q.Items {
			it := &q.Items[i]
			if it.ResponseType == fermata.ResponseChoice && got.Answers[it.Key] != it.Options[0].Value {
				t.Fatalf("%q: got %v", sample, got.Answers)
			}
		}
	})
}

// A person's text is either refused, or an answer that the item accepts.
func FuzzParseReply(f *testing.F) {
	for _, w := range words {
		f.Add(w, w, "toml", true)
	}
	f.Add("A, other: x", "b: c", "d", false)
	f.Fuzz(func(t *testing.T, text, one, two string, other bool) {
		no := false
		for _, typ := range fermata.ResponseTypes {
			it := fermata.Item{Key: "answer", Prompt: "Which?", ResponseType: typ, Other: &other}
			if typ == fermata.ResponseChoice || typ == fermata.ResponseMultiChoice {
				it.Options = options(one, two)
			}
			second := it
			second.Key, second.Required = "second", &no
			checkReadValues(t, questionWith(it), text)
			checkReadValues(t, questionWith(it, second), text)
		}
	})
}

func checkReadValues(t *testing.T, q *fermata.Question, text string) {
	t.Helper()
	got, err := ParseReply(q, text)
	if err != nil {
		if fermata.CodeOf(err) != fermata.CodeInvalidRequest {
			t.Errorf("%q: %v", text, err)
		}
		return
	}
	given := got.Answers
	if got.Answer != nil {
		given = map[string]any{q.Items[0].Key: got.Answer}
	}
	for key, v := range given {
		again, err := q.Item(key).Normalize(v)
		if err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%q: got %#v, which is no answer: %v", text, v, err)
		}
	}
}
