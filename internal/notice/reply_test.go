package notice

import (
	"reflect"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// asks returns a question with the items.
func asks(items ...fermata.Item) *fermata.Question {
	q := &fermata.Question{ID: "q_1", Type: fermata.Blocking, Title: "Which?", Items: items}
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

func several(it fermata.Item) fermata.Item {
	it.ResponseType = fermata.ResponseMultiChoice
	return it
}

func orOther(it fermata.Item) fermata.Item {
	it.Other = new(true)
	return it
}

func risky(q *fermata.Question, risk fermata.Risk) *fermata.Question {
	q.Risk = risk
	return q
}

func dangerous(it fermata.Item) fermata.Item {
	it.Options[0].Danger = true
	return it
}

func maybe(it fermata.Item) fermata.Item {
	no := false
	it.Required = &no
	return it
}

func of(typ fermata.ResponseType) fermata.Item { return fermata.Item{ResponseType: typ} }

func TestParseReply(t *testing.T) {
	t.Parallel()
	formats := fermata.Item{ResponseType: fermata.ResponseChoice, Options: []fermata.Option{
		{Value: "toml", Label: "TOML"}, {Value: "yaml", Label: "YAML, as before"}, {Value: "x:y", Label: "Keep: the old"},
	}}
	approval := asks(of(fermata.ResponseApproval))
	approval.Type, approval.ActionHash = fermata.Approval, "abc"
	tests := []struct {
		name, in string
		q        *fermata.Question
		want     any // nil if the text is refused
		comment  string
	}{
		{"letter", "B", asks(formats), "yaml", ""},
		{"small letter", "b", asks(formats), "yaml", ""},
		{"letter with a parenthesis", "b)", asks(formats), "yaml", ""},
		{"number", " 1 ", asks(formats), "toml", ""},
		{"value", "toml", asks(formats), "toml", ""},
		{"label", "yaml, as before", asks(formats), "yaml", ""},
		{"label with a colon", "keep: the old", asks(formats), "x:y", ""},
		{"slash", "/answer B", asks(formats), "yaml", ""},
		{"comment", "B: it is what we have", asks(formats), "yaml", "it is what we have"},
		{"comment behind a label with a colon", "Keep: the old: because", asks(formats), "x:y", "because"},
		{"comment below", "B\n\nIt is what we have.\nReally.\n-- \nAda\n", asks(formats), "yaml", "It is what we have.\nReally."},
		{"quotation below", "B\r\n\r\n> Which?\r\n> A) toml", asks(formats), "yaml", ""},
		{"no option", "json", asks(formats), nil, ""},
		{"beyond", "D", asks(formats), nil, ""},
		{"zero", "0", asks(formats), nil, ""},
		{"option and words", "B please", asks(formats), nil, ""},
		{"empty", " \u200b\n", asks(formats), nil, ""},
		{"two", "A, B", asks(formats), nil, ""},
		{"letter that is another value", "A", asks(choice("B", "A")), nil, ""},
		{"letter that is its own value", "a", asks(choice("A", "B")), "A", ""},
		{"quoted value", `"A"`, asks(choice("B", "A")), "A", ""},
		{"number that is another value", "1", asks(choice("80", "2", "1")), nil, ""},
		{"number that is its own value", "2", asks(choice("80", "2", "1")), "2", ""},
		{"value that is a number", "80", asks(choice("80", "2", "1")), "80", ""},
		{"hash number", "#3", asks(choice("80", "2", "1")), "1", ""},
		{"same in another case", "Red", asks(choice("red", "Red")), "Red", ""},
		{"neither case", "RED", asks(choice("red", "Red")), nil, ""},
		{"a comment that makes an option", "keep: old", asks(choice("keep", "keep: old")), nil, ""},

		{"several", "1, 3", asks(several(formats)), []string{"toml", "x:y"}, ""},
		{"several by letter with a comment", "c,A: both, of course", asks(several(formats)), []string{"toml", "x:y"}, "both, of course"},
		{"label with a comma", "YAML, as before", asks(several(formats)), []string{"yaml"}, ""},
		{"quoted with a comma", `"YAML, as before", A`, asks(several(formats)), []string{"toml", "yaml"}, ""},
		{"none", "none", asks(maybe(several(formats))), []string{}, ""},
		{"none where one is needed", "none", asks(several(formats)), nil, ""},
		{"one of several is wrong", "A, json", asks(several(formats)), nil, ""},

		{"own answer", "use redis\nwith a cache", asks(orOther(formats)), "use redis\nwith a cache", ""},
		{"own answer that says so", "Other: B please", asks(orOther(formats)), "B please", ""},
		{"own answer in quotation marks", `"D"`, asks(orOther(formats)), "D", ""},
		{"option of an open choice", "2", asks(orOther(formats)), "yaml", ""},
		{"own answer that begins as an option", "B please", asks(orOther(formats)), nil, ""},
		{"letter beyond an open choice", "D", asks(orOther(formats)), nil, ""},
		{"other is an option", "other: x", asks(orOther(choice("other", "this"))), nil, ""},
		{"own among several", "A, other: redis, or so", asks(several(orOther(formats))), []string{"toml", "redis, or so"}, ""},
		{"own with commas", "redis, or so", asks(several(orOther(formats))), nil, ""},

		{"own words at high risk", "use redis", risky(asks(orOther(formats)), fermata.RiskHigh), nil, ""},
		{"own words at high risk that say so", "other: use redis", risky(asks(orOther(formats)), fermata.RiskHigh), "use redis", ""},
		{"own words at medium risk", "use redis", risky(asks(orOther(formats)), fermata.RiskMedium), "use redis", ""},
		{"own words beside a danger", "use redis", asks(orOther(dangerous(choice("drop", "keep")))), nil, ""},
		{"own words in quotation marks beside a danger", `"use redis"`, asks(orOther(dangerous(choice("drop", "keep")))), nil, ""},

		{"yes", "Yes.", asks(of(fermata.ResponseBoolean)), true, ""},
		{"ja", "ja: passt", asks(of(fermata.ResponseBoolean)), true, "passt"},
		{"nein", "NEIN", asks(of(fermata.ResponseBoolean)), false, ""},
		{"one is no yes", "1", asks(of(fermata.ResponseBoolean)), nil, ""},
		{"maybe", "maybe", asks(of(fermata.ResponseBoolean)), nil, ""},
		{"yes and no", "yes and no", asks(of(fermata.ResponseBoolean)), nil, ""},

		{"approve", "Approve", approval, fermata.Approve, ""},
		{"reject with a reason", "reject: not on a Friday: really", approval, fermata.Reject, "not on a Friday: really"},
		{"slash reject", "/reject not on a Friday\nplease", approval, fermata.Reject, "not on a Friday\nplease"},
		{"genehmigt", "genehmigt", approval, fermata.Approve, ""},
		{"approve with words", "approve if green", approval, nil, ""},
		{"not approve", "do not approve", approval, nil, ""},

		{"number value", "5.5: enough", asks(of(fermata.ResponseNumber)), 5.5, "enough"},
		{"comma", "5,5", asks(of(fermata.ResponseNumber)), nil, ""},
		{"no number", "five", asks(of(fermata.ResponseNumber)), nil, ""},
		{"infinite", "Inf", asks(of(fermata.ResponseNumber)), nil, ""},
		{"date", "2027-01-31\nat last", asks(of(fermata.ResponseDate)), "2027-01-31", "at last"},
		{"date of a place", "31.1.2027", asks(of(fermata.ResponseDate)), nil, ""},
		{"text", "Use B: it is\n\nbetter.\n", asks(of(fermata.ResponseText)), "Use B: it is\n\nbetter.", ""},
		{"slash text", "/answer use it", asks(of(fermata.ResponseText)), "use it", ""},
		{"another slash", "/answering machine", asks(of(fermata.ResponseText)), "/answering machine", ""},
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
	text := of(fermata.ResponseText)
	text.Key = "why"
	db := orOther(choice("postgres", "sqlite"))
	db.Key = "db"
	port := maybe(of(fermata.ResponseNumber))
	port.Key = "port"
	q := asks(db, port, text)
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
		it := of(typ)
		if typ == fermata.ResponseChoice || typ == fermata.ResponseMultiChoice {
			it.Options = options("a", "b")
		}
		got, err := ParseReply(asks(maybe(it)), "-")
		if err != nil || got.Answer != nil || got.Answers == nil || len(got.Answers) != 0 {
			t.Errorf("%s: got %#v, %v", typ, got, err)
		}
		if got, err := ParseReply(asks(it), "-"); typ != fermata.ResponseText && err == nil {
			t.Errorf("%s: got %#v for what is required", typ, got)
		}
	}
}
