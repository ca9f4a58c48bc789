package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/redact"
)

// answerPath is the path below which people answer without signing in, through
// a link in a message. Opening the page changes nothing; only its button does.
const answerPath = "/a/"

var (
	//go:embed answer_page.html
	answerHTML string
	//go:embed answer_page.css
	answerCSS string

	answerTemplate = template.Must(template.New("answer").Parse(answerHTML))
	answerCSP      = "default-src 'none'; style-src 'sha256-" + styleHash() + "'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

func styleHash() string {
	sum := sha256.Sum256([]byte(answerCSS))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// answerPage is the data of the page.
type answerPage struct {
	Style          template.CSS
	Title, Heading string
	// Notices state the outcome, or why the question cannot be answered here.
	// Role is the ARIA role that tells screen readers how to announce them.
	Notices     []string
	Role        string
	Facts, Body string
	Context     []namedText
	Action      []notice.ActionPart
	ActionHash  string
	// ActionBytes are the bytes whose hash is ActionHash.
	ActionBytes string
	Fields      []formField
	Comment     string
	Deadline    string
	Self, Form  string
	Confirm     []hiddenField
	// Danger reports whether the answer to be confirmed is dangerous.
	Danger      bool
	SignIn, For string
	status      int
	problems    map[string]string
	typedValues func(name string) []string
}

type namedText struct{ Name, Text string }

type hiddenField struct{ Name, Value string }

// problemText is the problem of a field.
type problemText struct{ ID, Text string }

// ProblemID returns the id of the element that shows a field's problem.
func (answerPage) ProblemID(p *problemText) string { return p.ID + "-problem" }

func (s *Server) registerAnswerPages() {
	s.mux.HandleFunc("GET "+answerPath+"{token}", s.showAnswerPage)
	s.mux.HandleFunc("POST "+answerPath+"{token}", s.sendAnswerPage)
}

// showAnswerPage shows the question of a link. It changes nothing, because
// programs open every link of a mail before a person does.
func (s *Server) showAnswerPage(w http.ResponseWriter, r *http.Request) {
	v, p := s.openLink(r)
	if p == nil {
		p = answerPageOf(v, r.URL.Path)
	}
	s.writePage(w, r, p)
}

// openLink opens the link of a request, or returns the page that says why the
// link cannot be opened.
func (s *Server) openLink(r *http.Request) (*engine.Visit, *answerPage) {
	v, err := s.Engine.OpenAnswerLink(r.Context(), r.PathValue("token"))
	if err == nil {
		c := v.Member.LinkCaller(v.Link.Workspace, v.Question)
		err = s.limits.limitToken(&c)
	}
	switch fermata.CodeOf(err) {
	case "":
		return v, nil
	case fermata.CodeNotFound:
		return nil, deadPage(http.StatusNotFound, "This link is not valid", "It was not copied whole, or it was revoked.", "Open the newest message, or sign in.")
	case fermata.CodeRateLimited:
		return nil, deadPage(http.StatusTooManyRequests, "Too many requests", "Wait a moment and try again.")
	default:
		s.Log.ErrorContext(r.Context(), "the page of a link", "error", err)
		return nil, deadPage(http.StatusInternalServerError, "Something went wrong", "Nothing was sent. Try again, or sign in.")
	}
}

// deadPage returns a page on which nothing can be answered.
func deadPage(status int, heading string, words ...string) *answerPage {
	return &answerPage{status: status, Heading: heading, Notices: words, SignIn: "/"}
}

// answerPageOf returns the page that the holder of a link sees.
func answerPageOf(v *engine.Visit, self string) *answerPage {
	if v.Member.DisabledAt != nil {
		return deadPage(http.StatusForbidden, "You may not answer any more", "Your account was disabled. Ask an admin.")
	}
	q, decidable := redact.Question(v.Question)
	title := notice.OneLine(q.Title)
	p := &answerPage{
		status: http.StatusOK, Title: title, Heading: title, Self: self, SignIn: "/questions/" + q.ID,
		For: "This link is " + recipientText(v.Member) + ". It answers this question alone, in that name. Do not pass it on.",
	}
	switch sentence := statusSentence(v, q); {
	case sentence != "":
		p.Notices = []string{sentence}
	case v.Expired:
		p.status, p.Notices = http.StatusGone, []string{"This link is over. Sign in to answer."}
	case v.Question.IsOverdue(v.Now):
		p.Notices = []string{"The deadline has passed."}
	case v.Refusal != nil:
		p.status, p.Notices = http.StatusForbidden, []string{sentenceOf(v.Refusal)}
	case !decidable:
		p.status = http.StatusForbidden
		p.Notices = []string{"What is decided here holds a secret that is shown only to who is signed in."}
	default:
		p.showQuestion(v, q)
	}
	return p
}

// showQuestion puts the whole question and its form on the page.
func (p *answerPage) showQuestion(v *engine.Visit, q *fermata.Question) {
	p.SignIn, p.Form = "", v.FormToken()
	p.Facts = notice.OneLine(string(q.Type) + " · risk " + string(q.Risk) + " · asked by " + q.AskedBy.Name + " · " + redactText(v.TaskTitle) + " · " + q.Project)
	p.Body = notice.Clean(q.Body)
	if c := q.Context; c != nil {
		p.addContext("Context", c.Text)
		p.addContext("Step", c.Step)
		p.addContext("Error", c.Error)
		if c.Preview != nil {
			p.addContext("Preview ("+notice.OneLine(c.Preview.Kind)+")", c.Preview.Text)
		}
	}
	if len(q.Action) > 0 {
		p.Action, p.ActionHash, p.ActionBytes = notice.ActionParts(q.Action), q.ActionHash, notice.CleanStrictly(string(q.Action))
	}
	p.Deadline = notice.Deadline(&notice.Notice{Question: q, At: v.Now})
	p.Fields = fieldsOf(q, p)
}

func redactText(s string) string {
	clean, _ := redact.Text(s)
	return clean
}

func (p *answerPage) addContext(name, text string) {
	if text != "" {
		p.Context = append(p.Context, namedText{name, notice.Clean(text)})
	}
}

// statusSentence returns how the question ended, or how the person has answered or
// voted. It returns "" while the question awaits an answer.
func statusSentence(v *engine.Visit, q *fermata.Question) string {
	if q.Resolution != nil {
		sentence := upperFirst(notice.OutcomeWords(q)) + "."
		if h := v.Question.Resolution.OvertakenAnswer; h != nil && h.By.ID == v.Member.ID {
			sentence += " It was closed while you could still undo your answer, so your answer did not count."
		}
		for _, late := range q.Resolution.LateAnswers {
			if late.By.ID == v.Member.ID {
				sentence += " Your answer came too late and was kept."
			}
		}
		return sentence
	}
	if h := v.Question.HeldAnswer; h != nil {
		return "An answer was given and will count in a moment."
	}
	for _, vote := range q.Votes {
		if vote.By.ID == v.Member.ID && q.Approvals != nil {
			return "Your vote counts: " + vote.Value + ". " + strconv.Itoa(len(q.Votes)) + " of " + strconv.Itoa(q.Approvals.Required) + " people have voted."
		}
	}
	return ""
}

// recipientText returns a text that names the person for whom a link is.
func recipientText(m *fermata.Member) string {
	name := m.Name
	if name == "" {
		name = m.Handle
	}
	return "for " + notice.OneLine(name)
}

// writePage sends the page with headers that forbid caching, framing and
// indexing, and that keep its address from other sites.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, p *answerPage) {
	p.Style = template.CSS(answerCSS) //nolint:gosec // it is a file of our own
	if p.Role == "" {
		p.Role = "status"
	}
	var out bytes.Buffer
	if err := answerTemplate.Execute(&out, p); err != nil {
		s.writeProblem(w, r, fermata.Internal("write the page of a link", err))
		return
	}
	protectPage(w.Header())
	w.WriteHeader(p.status)
	_, _ = w.Write(out.Bytes())
}

func protectPage(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", answerCSP)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	// The address is sent to no other site. With no-referrer, browsers would
	// also hide that a form comes from this page.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()")
}
