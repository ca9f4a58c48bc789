package api

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
	"github.com/fermata-hq/fermata/internal/notice"
	"github.com/fermata-hq/fermata/internal/redact"
)

// formField is one item of a question in the form.
type formField struct {
	ID, Name, Prompt string
	// Type is the type of the input: textarea, number or date. It is empty for
	// choices.
	Type, Value, Limits string
	Required            bool
	Choices             []choiceField
	Own                 *formField
	Problem             *problemText
}

// choiceField is an option that a person can pick.
type choiceField struct {
	Type, Name, Value, Label, Description string
	Recommended, Danger, Picked           bool
}

// The names of form fields. itemField and ownField are prefixes for an item and
// for its answer in the person's own words. pageField binds the form to its
// page. confirmField confirms an answer.
const (
	itemField    = "item."
	ownField     = "own."
	pageField    = "form"
	confirmField = "confirm"
)

func fieldsOf(q *fermata.Question, p *answerPage) []formField {
	fields := make([]formField, 0, len(q.Items))
	for i := range q.Items {
		fields = append(fields, fieldOf(&q.Items[i], p))
	}
	return fields
}

func fieldOf(it *fermata.Item, p *answerPage) formField {
	f := formField{ID: "f-" + it.Key, Name: itemField + it.Key, Prompt: notice.Clean(it.Prompt), Required: it.IsRequired()}
	if text := p.problems[it.Key]; text != "" {
		f.Problem = &problemText{f.ID, text}
	}
	typed := func(name string) []string {
		if p.typedValues == nil {
			return nil
		}
		return p.typedValues(name)
	}
	if list := typed(f.Name); len(list) > 0 {
		f.Value = list[0]
	}
	switch it.ResponseType {
	case fermata.ResponseChoice, fermata.ResponseMultiChoice:
		f.Choices = optionFields(it, f.Name, typed(f.Name))
		if it.TakesOther() {
			f.Own = &formField{ID: "own-" + it.Key, Name: ownField + it.Key}
			if list := typed(f.Own.Name); len(list) > 0 {
				f.Own.Value = list[0]
			}
		}
	case fermata.ResponseBoolean:
		f.Choices = wordFields(f.Name, typed(f.Name), "yes", "no")
	case fermata.ResponseApproval:
		f.Choices = wordFields(f.Name, typed(f.Name), fermata.Approve, fermata.Reject)
	case fermata.ResponseNumber:
		f.Type, f.Limits = "number", upperFirst(notice.Limits(it))
	case fermata.ResponseDate:
		f.Type = "date"
	default:
		f.Type, f.Limits = "textarea", upperFirst(notice.Limits(it))
	}
	return f
}

// optionFields returns the choices of an item. Only the options in picked are
// picked.
func optionFields(it *fermata.Item, name string, picked []string) []choiceField {
	kind := "radio"
	if it.ResponseType == fermata.ResponseMultiChoice {
		kind = "checkbox"
	}
	list := make([]choiceField, 0, len(it.Options))
	for _, o := range it.Options {
		list = append(list, choiceField{
			Type: kind, Name: name, Value: o.Value, Label: notice.OneLine(o.Text()), Description: notice.Clean(o.Description),
			Recommended: o.Recommended, Danger: o.Danger, Picked: slices.Contains(picked, o.Value),
		})
	}
	return list
}

func wordFields(name string, picked []string, words ...string) []choiceField {
	list := make([]choiceField, 0, len(words))
	for _, w := range words {
		list = append(list, choiceField{Type: "radio", Name: name, Value: w, Label: upperFirst(w), Picked: slices.Contains(picked, w)})
	}
	return list
}

// sendAnswerPage handles the submitted form of a link's page.
func (s *Server) sendAnswerPage(w http.ResponseWriter, r *http.Request) {
	v, p := s.openLink(r)
	if p == nil {
		p = s.submitAnswer(r, v)
	}
	if p == nil {
		protectPage(w.Header())
		w.Header().Set("Location", answerPath+url.PathEscape(r.PathValue("token")))
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	p.Role = "alert"
	s.writePage(w, r, p)
}

// submitAnswer answers the question with the submitted form. It returns the
// page to show if the answer was not accepted, or nil.
func (s *Server) submitAnswer(r *http.Request, v *engine.Visit) *answerPage {
	p := answerPageOf(v, r.URL.Path)
	if err := checkForm(r, v); err != nil {
		p.status, p.Notices = http.StatusForbidden, append([]string{sentenceOf(err)}, p.Notices...)
		return p
	}
	if p.status != http.StatusOK {
		return p
	}
	values, problems := formValues(v.Question, r.PostForm)
	if len(problems) > 0 {
		return retryPage(p, v, r.PostForm, problems)
	}
	if err := v.CheckConfirmation(r.PostForm.Get(confirmField), answerText(r.PostForm)); err != nil {
		return confirmPage(p, v, r.PostForm, values)
	}
	a := fermata.Answer{Answers: values, Comment: normalizeLineEnds(r.PostForm.Get("comment"))}
	if v.Question.Type == fermata.Approval {
		a.ActionHash = v.Question.ActionHash
	}
	_, err := s.Engine.AnswerByLink(r.Context(), r.PathValue("token"), a)
	return s.refusedPage(r, v, err)
}

// refusedPage returns the page that says why an answer was not accepted, or nil
// if it was accepted.
func (s *Server) refusedPage(r *http.Request, v *engine.Visit, err error) *answerPage {
	if err == nil {
		return nil
	}
	var refused *fermata.Error
	currentVisit, failedPage := s.openLink(r)
	switch {
	case failedPage != nil:
		return failedPage
	case !errors.As(err, &refused) || refused.Code == fermata.CodeInternal || refused.Code == fermata.CodeUnavailable:
		s.Log.ErrorContext(r.Context(), "answer by a link", "error", err)
		p := deadPage(http.StatusServiceUnavailable, "Something went wrong", "It is not known whether your answer was taken. Open the link again to see.")
		return p
	case refused.Code == fermata.CodeInvalidRequest:
		p := answerPageOf(v, r.URL.Path)
		return retryPage(p, v, r.PostForm, problemsOf(refused))
	}
	p := answerPageOf(currentVisit, r.URL.Path)
	p.status = statusOf(refused.Code)
	if refused.Code == fermata.CodeQuestionClosed {
		p.Notices = append([]string{"Your answer does not count: somebody was first."}, p.Notices...)
	} else {
		p.Notices = []string{sentenceOf(refused)}
	}
	p.Fields = nil
	return p
}

func statusOf(code fermata.Code) int {
	if code == fermata.CodeQuestionClosed {
		return http.StatusConflict
	}
	return http.StatusForbidden
}

// checkForm makes sure that a person pressed the button of exactly this page.
func checkForm(r *http.Request, v *engine.Visit) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return fermata.Errorf(fermata.CodeForbidden, "nothing was sent").WithHint("fill in the form and press its button")
	}
	if err := checkOwnPage(r); err != nil {
		return fermata.Errorf(fermata.CodeForbidden, "nothing was sent: the browser does not say that this page sends it").
			WithHint("open the link in a browser and press the button there")
	}
	if err := r.ParseForm(); err != nil {
		return fermata.Errorf(fermata.CodeForbidden, "nothing was sent: the form is too long or damaged")
	}
	if !v.IsOwnForm(r.PostForm.Get(pageField)) {
		return fermata.Errorf(fermata.CodeForbidden, "nothing was sent: the page was not this one").WithHint("look at the question again and press the button")
	}
	return nil
}

// retryPage shows the form again, with the typed values and their problems.
func retryPage(p *answerPage, v *engine.Visit, form url.Values, problems map[string]string) *answerPage {
	if p.Fields == nil {
		return p
	}
	p.status = http.StatusUnprocessableEntity
	p.Notices = []string{"Nothing was sent yet. Look at what is marked below."}
	if text := problems[""]; text != "" {
		p.Notices = append(p.Notices, upperFirst(text)+".")
	}
	p.problems, p.typedValues = problems, func(name string) []string { return form[name] }
	p.Comment = normalizeLineEnds(form.Get("comment"))
	shown, _ := redact.Question(v.Question)
	p.Fields = fieldsOf(shown, p)
	return p
}

// confirmPage shows the answer and asks the person to confirm it. The
// confirmation counts only after a pause, because programs that fill in and
// send forms do not wait. A confirmation that comes too early begins the pause
// again.
func confirmPage(p *answerPage, v *engine.Visit, form url.Values, values map[string]any) *answerPage {
	if p.Fields == nil {
		return addTooLate(p, v.Question.Resolution, v.Member.ID)
	}
	p.Fields, p.Body, p.Context = nil, "", nil
	answerWords := notice.AnswerWords(v.Question, values)
	if p.Danger = v.Question.PicksDangerousOption(values); p.Danger {
		p.Notices = []string{"This is dangerous: " + answerWords + ". Nothing was sent yet. Is it meant so?"}
	} else {
		p.Notices = []string{"Your answer: " + answerWords + ". Nothing was sent yet."}
	}
	if form.Has(confirmField) {
		p.Notices = append(p.Notices, "That was quicker than a person reads, or the page was open for too long. Press the button once more.")
	}
	for name, list := range form {
		if name == pageField || name == confirmField {
			continue
		}
		for _, text := range list {
			p.Confirm = append(p.Confirm, hiddenField{name, text})
		}
	}
	slices.SortStableFunc(p.Confirm, func(a, b hiddenField) int { return strings.Compare(a.Name, b.Name) })
	p.Confirm = append(p.Confirm, hiddenField{confirmField, v.ConfirmationToken(answerText(form))})
	return p
}

// addTooLate adds a notice to the page of a closed question: the answer does
// not count, because another person's answer, or a rule, closed the question.
func addTooLate(p *answerPage, r *fermata.Resolution, memberID string) *answerPage {
	if r != nil && (r.AnsweredBy == nil || r.AnsweredBy.ID != memberID) {
		p.status = http.StatusConflict
		p.Notices = append([]string{"Your answer does not count: somebody was first."}, p.Notices...)
	}
	return p
}

// answerText returns the whole answer of a form as one text, in a fixed order.
func answerText(form url.Values) string {
	sentValues := url.Values{}
	for name, list := range form {
		if name == pageField || name == confirmField {
			continue
		}
		for _, text := range list {
			sentValues.Add(name, normalizeLineEnds(text))
		}
	}
	return sentValues.Encode()
}

// formValues returns the values of the items in the form, and the problems by
// item.
func formValues(q *fermata.Question, form url.Values) (map[string]any, map[string]string) {
	values, problems := map[string]any{}, map[string]string{}
	for i := range q.Items {
		it := &q.Items[i]
		v, err := formValue(it, form)
		if err == nil && v != nil {
			v, err = it.Normalize(v)
		}
		switch {
		case err != nil:
			problems[it.Key] = upperFirst(err.Error()) + "."
		case v != nil:
			values[it.Key] = v
		case it.IsRequired():
			problems[it.Key] = "An answer is needed here."
		}
	}
	return values, problems
}

// formValue returns the value of one item, or nil if none was given.
func formValue(it *fermata.Item, form url.Values) (any, error) {
	list := form[itemField+it.Key]
	own := normalizeLineEnds(form.Get(ownField + it.Key))
	if it.ResponseType == fermata.ResponseMultiChoice {
		if own != "" {
			list = append(slices.Clone(list), own)
		}
		if len(list) == 0 && !it.IsRequired() {
			return nil, nil
		}
		return list, nil
	}
	if len(list) > 1 || len(list) == 1 && own != "" {
		return nil, fermata.Errorf(fermata.CodeInvalidRequest, "pick one, or write an answer of your own")
	}
	text := own
	if len(list) == 1 {
		text = normalizeLineEnds(list[0])
	}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	switch it.ResponseType {
	case fermata.ResponseBoolean:
		if text != "yes" && text != "no" {
			return nil, fermata.Errorf(fermata.CodeInvalidRequest, "must be yes or no")
		}
		return text == "yes", nil
	case fermata.ResponseNumber:
		return notice.ParseUnchecked(it, text)
	default:
		return text, nil
	}
}

// normalizeLineEnds replaces CR LF, which forms send as line ends, by LF.
func normalizeLineEnds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// problemsOf returns the problems by item. A problem that belongs to no item
// has the key "".
func problemsOf(e *fermata.Error) map[string]string {
	problems := map[string]string{}
	for _, p := range e.Problems {
		key, ok := strings.CutPrefix(p.Field, "answers.")
		if !ok {
			key = ""
		}
		problems[key] = p.Message
	}
	if len(problems) == 0 {
		problems[""] = e.Message
	}
	return problems
}

// sentenceOf returns a text that says what is wrong, and what to do instead.
func sentenceOf(err error) string {
	text := upperFirst(err.Error()) + "."
	var e *fermata.Error
	if errors.As(err, &e) && e.Hint != "" {
		text += " " + upperFirst(e.Hint) + "."
	}
	return text
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
