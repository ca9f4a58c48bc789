package fermata

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// items converts the three forms of a request to one list of items.
func (a Ask) items(ps *problems, typ QuestionType) []Item {
	forms := 0
	for _, used := range []bool{len(a.Items) > 0, a.Question != "", len(a.Questions) > 0} {
		if used {
			forms++
		}
	}
	if forms > 1 {
		ps.add("items", "give either items, or question, or questions")
		return nil
	}
	if len(a.Items) > MaxItems {
		ps.add("items", "has %d items, may have at most %d", len(a.Items), MaxItems)
		return nil
	}
	if len(a.Questions) > MaxItems {
		ps.add("questions", "has %d questions, may have at most %d", len(a.Questions), MaxItems)
		return nil
	}
	shortFields := a.ResponseType != "" || len(a.Options) > 0
	items, form := slices.Clone(a.Items), itemsForm
	switch {
	case len(a.Questions) > 0:
		items, form = itemsFromUserQuestions(a.Questions, a.Other), questionsForm
	case len(items) == 0:
		prompt := a.Question
		if prompt == "" {
			prompt = a.Title
		}
		if strings.TrimSpace(prompt) == "" {
			ps.add("question", "must not be empty: say what you ask")
			return nil
		}
		form = shortForm
		items = []Item{{Prompt: prompt, ResponseType: a.ResponseType, Options: a.Options}}
	}
	if forms == 1 && a.Question == "" && shortFields {
		ps.add("items", "a request with items has response_type and options inside the items")
	}
	fillItems(items, typ)
	a.spreadOther(items)
	a.spreadDefault(ps, items)
	checkItems(ps, items, form, typ)
	return items
}

// askForm is one of the three forms of a request. It names where the items are
// and what their fields are called there, so that errors use the asker's own
// field names.
type askForm struct{ pathFormat, prompt, value string }

// itemPrefix returns the prefix of the field names of item i.
func (f askForm) itemPrefix(i int) string {
	return strings.Replace(f.pathFormat, "%d", strconv.Itoa(i), 1)
}

// fillItems sets the key and the response type of every item that leaves them out.
func fillItems(items []Item, typ QuestionType) {
	for i := range items {
		it := &items[i]
		if it.Key == "" {
			it.Key = "answer"
			if len(items) > 1 {
				it.Key = fmt.Sprintf("q%d", i+1)
			}
		}
		switch {
		case it.ResponseType != "":
		case typ == Approval:
			it.ResponseType = ResponseApproval
		case len(it.Options) > 0:
			it.ResponseType = ResponseChoice
		default:
			it.ResponseType = ResponseText
		}
	}
}

// WithOwnAnswers returns the request of an agent: people may answer in their
// own words unless the request forbids it. The request of a script must allow
// such answers itself, because a script expects one of its options.
func (a Ask) WithOwnAnswers() Ask {
	if a.Other == nil {
		a.Other = new(true)
	}
	return a
}

// spreadOther applies the request's Other to the choice items that do not set their own. Afterwards, Other is true or
// nil in a choice item, and nil in any other item.
func (a Ask) spreadOther(items []Item) {
	for i := range items {
		it := &items[i]
		choice := it.ResponseType == ResponseChoice || it.ResponseType == ResponseMultiChoice
		if it.Other == nil && choice {
			it.Other = a.Other
		}
		if !it.TakesOther() || !choice {
			it.Other = nil
		}
	}
}

func (a Ask) spreadDefault(ps *problems, items []Item) {
	if a.Default == nil {
		return
	}
	if len(items) == 1 {
		if items[0].Default != nil {
			ps.add("default", "is given twice: for the question and for its item")
		}
		items[0].Default = a.Default
		return
	}
	byKey, ok := a.Default.(map[string]any)
	if !ok {
		ps.add("default", "must be an object with a value for each item's key")
		return
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		i := slices.IndexFunc(items, func(it Item) bool { return it.Key == key })
		if i < 0 {
			ps.add("default."+key, "names no item")
			continue
		}
		if items[i].Default != nil {
			ps.add("default."+key, "is given twice: for the question and for its item")
		}
		items[i].Default = byKey[key]
	}
}

func checkItems(ps *problems, items []Item, form askForm, typ QuestionType) {
	seen := map[string]bool{}
	for i := range items {
		prefix := form.itemPrefix(i)
		items[i].check(ps, prefix, form)
		if seen[items[i].Key] {
			ps.add(prefix+"key", "%q stands twice", items[i].Key)
		}
		seen[items[i].Key] = true
	}
	if typ == Approval && (len(items) != 1 || items[0].ResponseType != ResponseApproval) {
		ps.add("items", "an approval has one item, of response type approval")
	}
	if typ == Approval && len(items) == 1 && !items[0].IsRequired() {
		ps.add(form.itemPrefix(0)+"required", "must not be false: an approval is given or refused")
	}
	if typ != Approval && slices.ContainsFunc(items, func(it Item) bool { return it.ResponseType == ResponseApproval }) {
		ps.add("items", "the response type approval belongs to a question of type approval")
	}
}

var (
	itemsForm     = askForm{"items[%d].", "prompt", "value"}
	questionsForm = askForm{"questions[%d].", "question", "label"}
	shortForm     = askForm{"", "question", "value"}
)
