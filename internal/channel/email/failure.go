package email

import (
	"errors"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// failure is an error of which trying again cannot help.
type failure struct{ error }

func failed(err error) error { return &failure{err} }

// Unwrap returns what went wrong.
func (f *failure) Unwrap() error { return f.error }

// RetryAfter says nothing: SMTP has no word for it.
func (f *failure) RetryAfter() time.Duration { return 0 }

// Permanent reports that trying again cannot help.
func (f *failure) Permanent() bool { return true }

// verdict tells a refusal of the recipient for good from trouble that may end.
// Trouble with signing in is of the second kind: operators mend it.
func verdict(err error) error {
	var refused *gomail.SendError
	if !errors.As(err, &refused) || refused.IsTemp() || refused.ErrorCode() < 500 {
		return err
	}
	switch refused.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPDataClose, gomail.ErrGetRcpts:
		return failed(err)
	default:
		return err
	}
}

func isPermanent(err error) bool {
	var f *failure
	return errors.As(err, &f)
}
