package session

import (
	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/cli/terminal"
)

// problem is an error as --json prints it: the problem of the API, and the exit
// code of the program.
type problem struct {
	Code     fermata.Code      `json:"code"`
	Detail   string            `json:"detail"`
	Hint     string            `json:"hint,omitempty"`
	Problems []fermata.Problem `json:"problems,omitempty"`
	// Question is the question that was already closed, with its resolution.
	Question   *fermata.Question `json:"question,omitempty"`
	RetryAfter float64           `json:"retry_after,omitempty"`
	ExitCode   int               `json:"exit_code"`
}

// printProblem writes an error as a document on the last line of standard error, so
// that standard output holds only data.
func (s *Session) printProblem(err error) error {
	p := problem{Code: fermata.CodeOf(err), Detail: err.Error(), ExitCode: ExitCode(fermata.CodeOf(err))}
	if e, ok := AsError(err); ok {
		p.Hint, p.Problems, p.Question, p.RetryAfter = s.Hint(e), e.Problems, e.Question, e.RetryAfter.Seconds()
	}
	data, err := terminal.EncodeJSON(map[string]problem{"error": p}, "")
	if err != nil {
		return err
	}
	_, err = s.Err.Write(data)
	return err
}
