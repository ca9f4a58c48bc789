package email

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fermata-hq/fermata/internal/notice"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, settings, want string }{
		{"least", `{"smtp":"smtp://mail.example.com","from":"f@example.com"}`, ""},
		{"as serve has it", `{"smtp":"smtp://user:pass@mail.example.com:25","from":"Fermata <f@example.com>"}`, ""},
		{"user with an @", `{"smtp":"smtps://f@example.com@mail.example.com","password":"x y/#?","from":"f@example.com","imap":"imaps://f@example.com@mail.example.com"}`, ""},
		{"unknown", `{"smtp":"smtp://x","from":"f@example.com","host":"x"}`, "host"},
		{"no server", `{"from":"f@example.com"}`, "smtp"},
		{"other scheme", `{"smtp":"http://secretpass@x","from":"f@example.com"}`, "smtp"},
		{"path", `{"smtp":"smtp://u:secretpass@x/y","from":"f@example.com"}`, "smtp"},
		{"bad port", `{"smtp":"smtp://u:secretpass@x:y","from":"f@example.com"}`, "smtp"},
		{"no sender", `{"smtp":"smtp://x"}`, "from"},
		{"bad sender", `{"smtp":"smtp://x","from":"f"}`, "from"},
		{"mailbox without a password", `{"smtp":"smtp://x","from":"f@example.com","imap":"imaps://f@x"}`, "imap"},
		{"mailbox without a user", `{"smtp":"smtp://x","from":"f@example.com","password":"p","imap":"imaps://x"}`, "imap"},
		{"replies without a mailbox", `{"smtp":"smtp://x","from":"f@example.com","reply_to":"a+{token}@example.com"}`, "imap"},
		{"bad reply address", `{"smtp":"smtp://x","from":"f@example.com","password":"p","imap":"imaps://f@x","reply_to":"a+{tok}@example.com"}`, "reply_to"},
		{"two places", `{"smtp":"smtp://x","from":"f@example.com","password":"p","imap":"imaps://f@x","reply_to":"{token}{token}@example.com"}`, "reply_to"},
		{"poll", `{"smtp":"smtp://x","from":"f@example.com","poll":"1ms"}`, "poll"},
		{"authority", `{"smtp":"smtp://x","from":"f@example.com","ca":"x"}`, "ca"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(json.RawMessage(tt.settings), notice.Env{})
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want one about %s", err, tt.want)
			case err != nil && strings.Contains(err.Error(), "secretpass"):
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// TestTheSchemaHasEverySetting compares the JSON Schema with the fields of
// settings.
func TestTheSchemaHasEverySetting(t *testing.T) {
	t.Parallel()
	var have struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(Schema(), &have); err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	for name := range have.Properties {
		all[name] = ""
	}
	raw, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readSettings(raw); err == nil || strings.Contains(err.Error(), "unknown field") {
		t.Errorf("the schema names what is no setting: %v", err)
	}
	var known map[string]any
	raw, err = json.Marshal(settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &known); err != nil {
		t.Fatal(err)
	}
	for name := range known {
		if have.Properties[name] == nil {
			t.Errorf("the schema lacks %s", name)
		}
	}
	for _, name := range Secrets() {
		if have.Properties[name] == nil {
			t.Errorf("the secret %s is no setting", name)
		}
	}
}

func TestReplyAddresses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 70)
	tests := []struct{ replyTo, token, want, found string }{
		{"answers+{token}@example.com", "aB-9_", "answers+aB-9_@example.com", "aB-9_"},
		{"{token}@in.example.com", "t", "t@in.example.com", "t"},
		{"answers+{token}@example.com", "", "answers@example.com", ""},
		{"answers+{token}@example.com", long, "answers@example.com", ""},
		{"answers@example.com", "t", "answers@example.com", ""},
	}
	for _, tt := range tests {
		c := &config{replyTo: tt.replyTo}
		got := c.replyAddress(tt.token)
		if got != tt.want || c.tokenOf(strings.Replace(got, "example", "EXAMPLE", 1)) != tt.found {
			t.Errorf("%s with %q is %s, which names %q", tt.replyTo, tt.token, got, c.tokenOf(got))
		}
	}
	if got := formatToken("bad token>", true); got != "" {
		t.Errorf("a token that fits no address became %q", got)
	}
}
