package cli

import (
	"github.com/fermata-hq/fermata"
)

// problem is an error as --json prints it: what the API says of one, and the
// exit code of the program.
type problem struct {
	Code     fermata.Code      `json:"code"`
	Detail   string            `json:"detail"`
	Hint     string            `json:"hint,omitempty"`
	Problems []fermata.Problem `json:"problems,omitempty"`
	// Question is the one that was closed already, with who decided.
	Question   *fermata.Question `json:"question,omitempty"`
	RetryAfter float64           `json:"retry_after,omitempty"`
	ExitCode   int               `json:"exit_code"`
}

// problem writes an error as the last line of standard error, a document on
// one line, so that standard output holds data only.
func (s *session) problem(err error) error {
	p := problem{Code: fermata.CodeOf(err), Detail: err.Error(), ExitCode: exitCode(fermata.CodeOf(err))}
	if e, ok := asError(err); ok {
		p.Hint, p.Problems, p.Question, p.RetryAfter = s.hint(e), e.Problems, e.Question, e.RetryAfter.Seconds()
	}
	data, err := encode(map[string]problem{"error": p}, "")
	if err != nil {
		return err
	}
	_, err = s.err.Write(data)
	return err
}
