package notice

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// questionWith returns a question with the items.
func questionWith(items ...fermata.Item) *fermata.Question {
	q := &fermata.Question{ID: "q_1", Type: fermata.Blocking, Title: "Which?", Asked: fermata.Asked{Items: items}}
	for i := range q.Items {
		if q.Items[i].Key == "" {
			q.Items[i].Key = "answer"
		}
		if q.Items[i].Prompt == "" {
			q.Items[i].Prompt = q.Title
		}
	}
	return q
}

func choice(values ...string) fermata.Item {
	return fermata.Item{ResponseType: fermata.ResponseChoice, Options: options(values...)}
}

func multiChoice(it fermata.Item) fermata.Item {
	it.ResponseType = fermata.ResponseMultiChoice
	return it
}

func withOther(it fermata.Item) fermata.Item {
	it.Other = new(true)
	return it
}

func withRisk(q *fermata.Question, risk fermata.Risk) *fermata.Question {
	q.Risk = risk
	return q
}

func withDanger(it fermata.Item) fermata.Item {
	it.Options[0].Danger = true
	return it
}

func optional(it fermata.Item) fermata.Item {
	no := false
	it.Required = &no
	return it
}

func itemOf(typ fermata.ResponseType) fermata.Item { return fermata.Item{ResponseType: typ} }

func TestParseReply(t *testing.T) {
	t.Parallel()
	formats := fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{
		{Value: "toml", Label: "TOML"}, {Value: "yaml", Label: "YAML, as before"}, {Value: "x:y", Label: "Keep: the old"},
	}}
	approval := questionWith(itemOf(fermata.ResponseApproval))
	approval.Type, approval.ActionHash = fermata.Approval, "abc"
	tests := []struct {
		name, in string
		q        *fermata.Question
		want     any // nil if the text is refused
		comment  string
	}{
		{"letter", "B", questionWith(formats), "yaml", ""},
		{"small letter", "b", questionWith(formats), "yaml", ""},
		{"letter with a parenthesis", "b)", questionWith(formats), "yaml", ""},
		{"number", " 1 ", questionWith(formats), "toml", ""},
		{"value", "toml", questionWith(formats), "toml", ""},
		{"label", "yaml, as before", questionWith(formats), "yaml", ""},
		{"label with a colon", "keep: the old", questionWith(formats), "x:y", ""},
		{"slash", "/answer B", questionWith(formats), "yaml", ""},
		{"comment", "B: it is what we have", questionWith(formats), "yaml", "it is what we have"},
		{"comment behind a label with a colon", "Keep: the old: because", questionWith(formats), "x:y", "because"},
		{"comment below", "B\n\nIt is what we have.\nReally.\n-- \nAda\n", questionWith(formats), "yaml", "It is what we have.\nReally."},
		{"quotation below", "B\r\n\r\n> Which?\r\n> A) toml", questionWith(formats), "yaml", ""},
		{"no option", "json", questionWith(formats), nil, ""},
		{"beyond", "D", questionWith(formats), nil, ""},
		{"zero", "0", questionWith(formats), nil, ""},
		{"option and words", "B please", questionWith(formats), nil, ""},
		{"empty", " \u200b\n", questionWith(formats), nil, ""},
		{"two", "A, B", questionWith(formats), nil, ""},
		{"letter that is another value", "A", questionWith(choice("B", "A")), nil, ""},
		{"letter that is its own value", "a", questionWith(choice("A", "B")), "A", ""},
		{"quoted value", `"A"`, questionWith(choice("B", "A")), "A", ""},
		{"number that is another value", "1", questionWith(choice("80", "2", "1")), nil, ""},
		{"number that is its own value", "2", questionWith(choice("80", "2", "1")), "2", ""},
		{"value that is a number", "80", questionWith(choice("80", "2", "1")), "80", ""},
		{"hash number", "#3", questionWith(choice("80", "2", "1")), "1", ""},
		{"same in another case", "Red", questionWith(choice("red", "Red")), "Red", ""},
		{"neither case", "RED", questionWith(choice("red", "Red")), nil, ""},
		{"a comment that makes an option", "keep: old", questionWith(choice("keep", "keep: old")), nil, ""},

		{"several", "1, 3", questionWith(multiChoice(formats)), []string{"toml", "x:y"}, ""},
		{"several by letter with a comment", "c,A: both, of course", questionWith(multiChoice(formats)), []string{"toml", "x:y"}, "both, of course"},
		{"label with a comma", "YAML, as before", questionWith(multiChoice(formats)), []string{"yaml"}, ""},
		{"quoted with a comma", `"YAML, as before", A`, questionWith(multiChoice(formats)), []string{"toml", "yaml"}, ""},
		{"none", "none", questionWith(optional(multiChoice(formats))), []string{}, ""},
		{"none where one is needed", "none", questionWith(multiChoice(formats)), nil, ""},
		{"one of several is wrong", "A, json", questionWith(multiChoice(formats)), nil, ""},

		{"own answer", "use redis\nwith a cache", questionWith(withOther(formats)), "use redis\nwith a cache", ""},
		{"own answer that says so", "Other: B please", questionWith(withOther(formats)), "B please", ""},
		{"own answer in quotation marks", `"D"`, questionWith(withOther(formats)), "D", ""},
		{"option of an open choice", "2", questionWith(withOther(formats)), "yaml", ""},
		{"own answer that begins as an option", "B please", questionWith(withOther(formats)), nil, ""},
		{"letter beyond an open choice", "D", questionWith(withOther(formats)), nil, ""},
		{"other is an option", "other: x", questionWith(withOther(choice("other", "this"))), nil, ""},
		{"own among several", "A, other: redis, or so", questionWith(multiChoice(withOther(formats))), []string{"toml", "redis, or so"}, ""},
		{"own with commas", "redis, or so", questionWith(multiChoice(withOther(formats))), nil, ""},

		{"own words at high risk", "use redis", withRisk(questionWith(withOther(formats)), fermata.RiskHigh), nil, ""},
		{"own words at high risk that say so", "other: use redis", withRisk(questionWith(withOther(formats)), fermata.RiskHigh), "use redis", ""},
		{"own words at medium risk", "use redis", withRisk(questionWith(withOther(formats)), fermata.RiskMedium), "use redis", ""},
		{"own words beside a danger", "use redis", questionWith(withOther(withDanger(choice("drop", "keep")))), nil, ""},
		{"own words in quotation marks beside a danger", `"use redis"`, questionWith(withOther(withDanger(choice("drop", "keep")))), nil, ""},

		{"yes", "Yes.", questionWith(itemOf(fermata.ResponseBoolean)), true, ""},
		{"ja", "ja: passt", questionWith(itemOf(fermata.ResponseBoolean)), true, "passt"},
		{"nein", "NEIN", questionWith(itemOf(fermata.ResponseBoolean)), false, ""},
		{"one is no yes", "1", questionWith(itemOf(fermata.ResponseBoolean)), nil, ""},
		{"maybe", "maybe", questionWith(itemOf(fermata.ResponseBoolean)), nil, ""},
		{"yes and no", "yes and no", questionWith(itemOf(fermata.ResponseBoolean)), nil, ""},

		{"approve", "Approve", approval, fermata.Approve, ""},
		{"reject with a reason", "reject: not on a Friday: really", approval, fermata.Reject, "not on a Friday: really"},
		{"slash reject", "/reject not on a Friday\nplease", approval, fermata.Reject, "not on a Friday\nplease"},
		{"genehmigt", "genehmigt", approval, fermata.Approve, ""},
		{"approve with words", "approve if green", approval, nil, ""},
		{"not approve", "do not approve", approval, nil, ""},

		{"number value", "5.5: enough", questionWith(itemOf(fermata.ResponseNumber)), 5.5, "enough"},
		{"comma", "5,5", questionWith(itemOf(fermata.ResponseNumber)), nil, ""},
		{"no number", "five", questionWith(itemOf(fermata.ResponseNumber)), nil, ""},
		{"infinite", "Inf", questionWith(itemOf(fermata.ResponseNumber)), nil, ""},
		{"date", "2027-01-31\nat last", questionWith(itemOf(fermata.ResponseDate)), "2027-01-31", "at last"},
		{"date of a place", "31.1.2027", questionWith(itemOf(fermata.ResponseDate)), nil, ""},
		{"text", "Use B: it is\n\nbetter.\n", questionWith(itemOf(fermata.ResponseText)), "Use B: it is\n\nbetter.", ""},
		{"slash text", "/answer use it", questionWith(itemOf(fermata.ResponseText)), "use it", ""},
		{"another slash", "/answering machine", questionWith(itemOf(fermata.ResponseText)), "/answering machine", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseReply(tt.q, tt.in)
			if (err != nil) != (tt.want == nil) || err == nil && (!reflect.DeepEqual(got.Answer, tt.want) || got.Comment != tt.comment) {
				t.Errorf("%q: got %#v with %q, %v; want %#v with %q", tt.in, got.Answer, got.Comment, err, tt.want, tt.comment)
			}
			if err == nil && got.ActionHash != tt.q.ActionHash {
				t.Errorf("got the hash %q", got.ActionHash)
			}
			if err != nil && (fermata.CodeOf(err) != fermata.CodeInvalidRequest || !strings.Contains(hint(t, err), "Reply with")) {
				t.Errorf("got %v without a way to write it", err)
			}
		})
	}
}

func hint(t *testing.T, err error) string {
	t.Helper()
	//nolint:errorlint // it is returned as it is
	refused, ok := err.(*fermata.Error)
	if !ok {
		t.Fatalf("got %T", err)
	}
	return refused.Hint
}

func TestParseReplyToSeveralItems(t *testing.T) {
	t.Parallel()
	text := itemOf(fermata.ResponseText)
	text.Key = "why"
	db := withOther(choice("postgres", "sqlite"))
	db.Key = "db"
	port := optional(itemOf(fermata.ResponseNumber))
	port.Key = "port"
	q := questionWith(db, port, text)
	tests := []struct {
		name, in string
		want     map[string]any
		comment  string
	}{
		{"all", "db: A\nport: 5432\nwhy: it is\nbest: really\n\nDB: really", nil, ""},
		{"lines of a text", "DB: a\n\nwhy: it is\nthe best\n\nof all\ncomment: thanks", map[string]any{"db": "postgres", "why": "it is\nthe best\n\nof all"}, "thanks"},
		{"own answer", "db: redis\nport: -\nwhy: x\n> db: A", map[string]any{"db": "redis", "why": "x"}, ""},
		{"own answer with its word", "why: x\ndb: other: A or B", map[string]any{"db": "A or B", "why": "x"}, ""},
		{"required", "db: A", nil, ""},
		{"without keys", "A\n5\nx", nil, ""},
		{"unknown key", "db: A\nhost: x\nwhy: x", nil, ""},
		{"no comment within", "db: A: fast\nwhy: x", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseReply(q, tt.in)
			if (err != nil) != (tt.want == nil) || err == nil && (!reflect.DeepEqual(got.Answers, tt.want) || got.Comment != tt.comment) {
				t.Errorf("got %#v with %q, %v; want %#v with %q", got.Answers, got.Comment, err, tt.want, tt.comment)
			}
		})
	}
}

func TestLeavingOut(t *testing.T) {
	t.Parallel()
	for _, typ := range fermata.ResponseTypes {
		it := itemOf(typ)
		if typ == fermata.ResponseChoice || typ == fermata.ResponseMultiChoice {
			it.Options = options("a", "b")
		}
		got, err := ParseReply(questionWith(optional(it)), "-")
		if err != nil || got.Answer != nil || got.Answers == nil || len(got.Answers) != 0 {
			t.Errorf("%s: got %#v, %v", typ, got, err)
		}
		if got, err := ParseReply(questionWith(it), "-"); typ != fermata.ResponseText && err == nil {
			t.Errorf("%s: got %#v for what is required", typ, got)
		}
	}
}
