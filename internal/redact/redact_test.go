package redact

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
)

const (
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	base62 = digits + upper + lower
	base32 = upper + "234567"
	hexits = digits + "abcdef"
)

// random returns a text of n characters with enough variety for a secret.
func random(t testing.TB, alphabet string, n int) string {
	t.Helper()
	for {
		out := make([]byte, n)
		for i := range out {
			k, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
			if err != nil {
				t.Fatal(err)
			}
			out[i] = alphabet[k.Int64()]
		}
		s := string(out)
		mixed := strings.ContainsAny(s, digits) && strings.ContainsAny(s, upper+lower) && (n < 20 || entropy(s) > 3.6 || len(alphabet) <= 16)
		if (mixed || len(alphabet) < 10) && !isKnownWord(s) {
			return s
		}
	}
}

func privateKey(t testing.TB) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC " + "PRIVATE KEY", Bytes: der}))
}

func jwt(t testing.TB) string {
	t.Helper()
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+random(t, digits+lower, 12)+`","name":"Ada"}`) + "." + random(t, base62, 43)
}

// secrets returns secrets of many kinds, which are new in every run.
func secrets(t testing.TB) map[string]string {
	t.Helper()
	r := func(alphabet string, n int) string { return random(t, alphabet, n) }
	return map[string]string{
		"AWS access key":             "AK" + "IA" + r(base32, 16),
		"GitHub personal token":      "gh" + "p_" + r(base62, 36),
		"GitHub fine-grained":        "github" + "_pat_" + r(base62, 82),
		"GitHub app":                 "gh" + "s_" + r(base62, 36),
		"GitLab":                     "gl" + "pat-" + r(base62, 20),
		"Slack bot":                  "xo" + "xb-" + r(digits[1:], 11) + "-" + r(digits[1:], 12) + "-" + r(base62, 24),
		"Slack app":                  "xa" + "pp-1-" + r(digits+upper, 11) + "-" + r(digits[1:], 13) + "-" + r(hexits, 64),
		"Stripe":                     "sk" + "_live_" + r(base62, 24),
		"Google":                     "AI" + "za" + r(base62, 35),
		"OpenAI":                     "sk-" + r(base62, 20) + "T3Blbk" + "FJ" + r(base62, 20),
		"Anthropic":                  "sk-" + "ant-api03-" + r(base62, 93) + "AA",
		"npm":                        "np" + "m_" + r(digits+lower, 36),
		"PyPI":                       "pypi-" + "AgEIcHlwaS5vcmc" + r(base62, 60),
		"SendGrid":                   "S" + "G." + r(base62, 22) + "." + r(base62, 43),
		"Twilio":                     "S" + "K" + r(hexits, 32),
		"DigitalOcean":               "dop" + "_v1_" + r(hexits, 64),
		"Telegram":                   "telegram bot token: " + r(digits[1:], 9) + ":A" + r(base62, 34),
		"Hugging Face":               "hf" + "_" + letters(t, 34),
		"JWT":                        jwt(t),
		"private key":                privateKey(t),
		"half a private key":         privateKey(t)[:120],
		"fermata token":              fermata.NewSecret(),
		"fermata session":            fermata.NewSecretWithPrefix(fermata.SessionPrefix),
		"database":                   "postgres://app:" + r(base62, 12) + "@db.example/shop",
		"header":                     "Authorization: Bearer " + r(base62, 30),
		"environment":                "API_KEY=" + r(base62, 32),
		"password":                   "password = '" + r(base62, 12) + "'",
		"Vault":                      "hv" + "s." + r(base62, 24),
		"long OpenAI":                "sk-" + "proj-" + r(base62, 160),
		"bare Telegram":              r(digits[1:], 10) + ":AA" + r(base62, 33),
		"cookie":                     "curl -H 'Cookie: session=" + r(base62, 24) + "'",
		"base64":                     base64.StdEncoding.EncodeToString([]byte("token gl" + "pat-" + r(base62, 20))),
		"cut by a space of no width": "gl" + "pat-" + r(base62, 10) + "\u200b" + r(base62, 10),
		"age":                        "AGE-SECRET-" + "KEY-1" + r("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
	}
}

// letters returns a text of letters only, with enough variety.
func letters(t testing.TB, n int) string {
	t.Helper()
	for {
		s := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return 'q' + r - '0'
			}
			return r
		}, random(t, base62, n))
		if !isKnownWord(s) {
			return s
		}
	}
}

// isKnownWord reports whether the rules treat a text as a well-known word.
func isKnownWord(s string) bool {
	set := loadRules()
	for _, r := range set.Rules {
		if r.ID == "generic-api-key" && slices.ContainsFunc(r.Allow, func(a allowance) bool { return len(a.Stopwords) > 0 && a.allows(s, s, s) }) {
			return true
		}
	}
	return set.Allow.allows(s, s, s)
}

// core returns the part of a secret that must not remain: its longest word.
func core(secret string) string {
	longest := ""
	for _, word := range strings.FieldsFunc(secret, func(r rune) bool { return !strings.ContainsRune(base62+"+/_.-", r) }) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}

func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	for range 20 {
		for kind, secret := range secrets(t) {
			in := "Deploy with this:\n" + secret + "\nand tell me."
			got, found := Text(in)
			lost := core(secret)
			if kind == "database" {
				lost, _, _ = strings.Cut(strings.TrimPrefix(secret, "postgres://app:"), "@")
			}
			if !found || strings.Contains(got, lost) || !strings.Contains(got, "[redacted: ") {
				t.Errorf("%s: %q became %q", kind, secret, got)
			}
			if !strings.HasPrefix(got, "Deploy with this:\n") || !strings.HasSuffix(got, "and tell me.") {
				t.Errorf("%s: the text around it became %q", kind, got)
			}
		}
	}
}

// Real keys are random, so some have few different characters.
func TestANamedSecretOfFewCharactersIsRedacted(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{
		"AK" + "IA" + "Y3N4K3NAVIAKYVII", "gl" + "pat-" + "aB3dE5aB3dE5aB3dE5aB", "gh" + "p_" + strings.Repeat("aB3dE5", 6),
		"AI" + "za" + strings.Repeat("Sy3dE5x", 5), "sm" + "_pat_" + "aB3dE5aB3dE5aB3d", "PM" + "AK-" + strings.Repeat("a1b2", 6) + "-" + strings.Repeat("c3", 17),
	} {
		if got, found := Text("use " + secret + " now"); !found || strings.Contains(got, secret) {
			t.Errorf("%q became %q", secret, got)
		}
	}
	for _, example := range []string{"AK" + "IA" + strings.Repeat("X", 16), "gh" + "p_" + strings.Repeat("x", 36)} {
		if got, found := Text("put " + example + " there"); found {
			t.Errorf("%q, which stands for a key, became %q", example, got)
		}
	}
}

// A terminal or a mail breaks a long line, and JSON writes the break as an escape.
func TestASecretOverTwoLinesIsRedacted(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\\\n", "\n    ", "\n> ", `\n`} {
		first, second := "gl"+"pat-"+random(t, base62, 10), random(t, base62, 10)
		in := "use " + first + end + second + " now"
		if got, found := Text(in); !found || strings.Contains(got, first) || strings.Contains(got, second) || !strings.HasSuffix(got, " now") {
			t.Errorf("%q became %q", in, got)
		}
	}
}

func TestOrdinaryTextSurvives(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("x"))
	for _, text := range []string{
		"", "Which format?", "Shall I rename the key to token and the access list to api?",
		"sha256 " + hex.EncodeToString(sum[:]), "commit " + hex.EncodeToString(sum[:20]), "id " + fermata.NewID(fermata.PrefixQuestion, time.Unix(1_800_000_000, 0)),
		"request 0190e3a1-7c1d-7d52-9c42-2a3f0e6f1a55", "https://fermata.example/q/q_01jd6zzzzz?x=1#top", "ada@example.com", "user@host:/srv/path",
		"password: required", "password = os.Getenv(\"DB_PASSWORD\")", "password: ${{ secrets.PASSWORD }}", "token := parser.Next()", "-token string   the token to use",
		"curl -H \"Authorization: Bearer $TOKEN\" https://example.com",
		"diff --git a/auth.go b/auth.go\nindex 83db48f..bf269f4 100644\n-func key(a int) int {\n+func key(a, b int) int {\n",
		"CREATE TABLE users (id BIGINT PRIMARY KEY, token TEXT NOT NULL)", "v1.2.3-rc.1+build.5", "DROP TABLE sessions;",
		"Keep the cookie: it has session=yes", base64.StdEncoding.EncodeToString([]byte("Which format shall the file have?")),
		"https://fermata.example/\nquestions/and/answers\nare here", "a\u200bb", "Zeile\u00adende", "👩\u200d💻 works", "12345678:30",
		"img sha256:" + hex.EncodeToString(sum[:]), "The deployment of 2026-11-21T12:00:00Z took 15m30s",
	} {
		if got, found := Text(text); found || got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestQuestionIsRedacted(t *testing.T) {
	t.Parallel()
	secret := "gh" + "p_" + random(t, base62, 36)
	action := json.RawMessage(`{"run": "push", "env": {"PASSWORD": "` + random(t, base62, 14) + `"}}`)
	q := &fermata.Question{
		ID: "q_1", Title: "a " + secret, TaskTitle: secret, IdempotencyKey: secret,
		Votes:      []fermata.Vote{{Comment: secret}},
		Resolution: &fermata.Resolution{Answer: secret, Answers: map[string]any{"answer": []string{secret}}, Comment: secret, LateAnswers: []fermata.LateAnswer{{Comment: secret}}},
		Asked: fermata.Asked{
			Body: "b " + secret, Action: action, ActionHash: "abc",
			State: json.RawMessage(`"` + secret + `"`), Metadata: map[string]string{"x": secret},
			Items: []fermata.Item{{
				Key: "answer", Prompt: secret, Header: secret, Default: []any{secret},
				Options: []fermata.Option{{Value: secret, Label: secret, Description: secret}},
			}},
			Context: &fermata.QuestionContext{Step: secret, Error: secret, Preview: &fermata.Preview{Kind: "text", Text: secret}},
		},
	}
	before := marshal(t, q)
	clean, decidable := Question(q)
	if decidable {
		t.Error("an action and an option that were redacted can be decided")
	}
	if got := marshal(t, clean); bytes.Contains(got, []byte(secret)) || bytes.Contains(got, action[32:44]) {
		t.Errorf("a secret is left in %s", got)
	}
	if !bytes.Equal(marshal(t, q), before) {
		t.Error("the question itself was changed")
	}
}

func TestPlainQuestionStaysDecidable(t *testing.T) {
	t.Parallel()
	q := &fermata.Question{
		Title: "Push?",
		Asked: fermata.Asked{
			Action: json.RawMessage(`{ "run":"git push" ,"n": 1.50}`), ActionHash: "abc",
			Items:   []fermata.Item{{Key: "answer", ResponseType: fermata.ResponseApproval}},
			Context: &fermata.QuestionContext{Step: "the last", Preview: &fermata.Preview{Kind: "diff", Text: "+a"}},
		},
	}
	clean, decidable := Question(q)
	if !decidable || string(clean.Action) != string(q.Action) || clean.ActionHash != "abc" {
		t.Errorf("got %v, %s", decidable, clean.Action)
	}
	if WithoutContext(clean).Context != nil || clean.Context == nil || clean.Context.Preview.Text != "+a" {
		t.Errorf("got %+v", clean.Context)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	secret := random(t, base62, 20)
	in := json.RawMessage(`{"n": 12345678901234567890, "password": "` + secret + `", "list": ["x", "again ` + secret + ` & <b>"]}`)
	got, changed := JSON(in)
	if !changed || bytes.Contains(got, []byte(secret)) || !json.Valid(got) || !bytes.Contains(got, []byte("12345678901234567890")) || !bytes.Contains(got, []byte("& <b>")) {
		t.Errorf("got %v %s", changed, got)
	}
	plain := json.RawMessage(`{"b": 1, "a" : "x"}`)
	if got, changed := JSON(plain); changed || string(got) != string(plain) {
		t.Errorf("got %s", got)
	}
}

// A secret is redacted whatever text is around it.
func FuzzText(f *testing.F) {
	f.Add("a ", " b")
	f.Add("\"", "\"")
	f.Fuzz(func(t *testing.T, before, after string) {
		secret := "gl" + "pat-" + random(t, base62, 20)
		got, _ := Text(before + " " + secret + " " + after)
		if strings.Contains(got, secret) {
			t.Errorf("%q between %q and %q stayed: %q", secret, before, after, got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	text := strings.Repeat("ordinary words of a diff with an api key, a token and sha 9f86d081884c7d65\n", 140)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
