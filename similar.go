package fermata

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// PastAnswer is an answer that people gave to similar questions. It is only a
// suggestion: nothing applies it automatically.
type PastAnswer struct {
	Answer  any            `json:"answer,omitempty" doc:"the value, where there is one item"`
	Answers map[string]any `json:"answers"`
	Text    string         `json:"text" doc:"the answer as a person reads it"`
	Count   int            `json:"count"`
	By      []AnswerCount  `json:"by" doc:"who gave it, the most frequent first"`
	LastAt  time.Time      `json:"last_at"`
	// QuestionID and Title belong to the newest question with this answer.
	QuestionID string `json:"question_id"`
	Title      string `json:"title"`
}

// AnswerCount says how often one person gave an answer.
type AnswerCount struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// minSimilarity is the lowest similarity at which two questions count as similar.
const minSimilarity = 0.6

// Similarity returns how similar two questions are, from 0 to 1. It is 0 for
// questions with different forms of answer.
func (q *Question) Similarity(other *Question) float64 {
	if q.Type != other.Type || len(q.Items) != len(other.Items) {
		return 0
	}
	for i := range q.Items {
		if q.Items[i].Key != other.Items[i].Key || q.Items[i].ResponseType != other.Items[i].ResponseType {
			return 0
		}
	}
	if q.DedupeKey != "" && q.DedupeKey == other.DedupeKey {
		return 1
	}
	a, b := q.wordSet(), other.wordSet()
	both := 0
	for word := range a {
		if b[word] {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// wordSet returns the words of the question's title and prompts, each once. All words with a digit count as one word,
// because builds, versions and issue numbers differ from question to question.
func (q *Question) wordSet() map[string]bool {
	text := q.Title
	for i := range q.Items {
		text += " " + q.Items[i].Prompt
	}
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			word = "0"
		}
		words[word] = true
	}
	return words
}

// acceptsAnswers reports whether the answers would be valid for the question.
func (q *Question) acceptsAnswers(answers map[string]any) bool {
	_, err := q.normalize(Answer{Answers: answers})
	return err == nil
}

// Similar returns people's answers to questions that are similar to q, the most
// frequent first. It leaves out answers that q does not allow, and decisions by
// a deadline or a policy.
func (q *Question) Similar(past []*Question) []PastAnswer {
	byText := map[string]*PastAnswer{}
	for _, other := range past {
		r := other.Resolution
		if other.ID == q.ID || r == nil || r.Status != Answered || r.DecidedBy != ActorHuman || r.AnsweredBy == nil {
			continue
		}
		if q.Similarity(other) < minSimilarity || !q.acceptsAnswers(r.Answers) {
			continue
		}
		text := r.AnswerText()
		p := byText[text]
		if p == nil {
			p = &PastAnswer{Answer: r.Answer, Answers: r.Answers, Text: text}
			byText[text] = p
		}
		p.add(other)
	}
	found := make([]PastAnswer, 0, len(byText))
	for _, p := range byText {
		slices.SortFunc(p.By, func(a, b AnswerCount) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
		})
		found = append(found, *p)
	}
	slices.SortFunc(found, func(a, b PastAnswer) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.LastAt.Compare(a.LastAt), cmp.Compare(a.Text, b.Text))
	})
	return found
}

// add counts one question with this answer.
func (p *PastAnswer) add(q *Question) {
	p.Count++
	if !q.Resolution.At.Before(p.LastAt) {
		p.LastAt, p.QuestionID, p.Title = q.Resolution.At, q.ID, q.Title
	}
	by := q.Resolution.AnsweredBy
	i := slices.IndexFunc(p.By, func(c AnswerCount) bool { return c.ID == by.ID })
	if i < 0 {
		p.By = append(p.By, AnswerCount{ID: by.ID, Name: by.Name, Count: 1})
		return
	}
	p.By[i].Count++
}
