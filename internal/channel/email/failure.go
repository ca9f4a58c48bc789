package email

import (
	"errors"

	gomail "github.com/wneessen/go-mail"

	"github.com/fermata-hq/fermata/internal/notice"
)

// classifySendError makes an error final if the server refuses the recipient or the mail for good. Other errors may go
// away, so they are retried. That includes a failed sign-in, because operators can repair it. A server cannot say how
// long to wait, because SMTP has no way for it.
func classifySendError(err error) error {
	var refused *gomail.SendError
	if !errors.As(err, &refused) || refused.IsTemp() || refused.ErrorCode() < 500 {
		return err
	}
	switch refused.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPDataClose, gomail.ErrGetRcpts:
		return notice.Permanent(err)
	default:
		return err
	}
}

func isPermanent(err error) bool {
	var f *notice.SendError
	return errors.As(err, &f) && f.Final
}
