package email

import (
	"errors"

	gomail "github.com/wneessen/go-mail"

	"github.com/fermata-hq/fermata/internal/notice"
)

// verdict tells a refusal of the recipient for good from trouble that may end.
// Trouble with signing in is of the second kind: operators mend it. SMTP has no
// word for how long to wait.
func verdict(err error) error {
	var refused *gomail.SendError
	if !errors.As(err, &refused) || refused.IsTemp() || refused.ErrorCode() < 500 {
		return err
	}
	switch refused.Reason {
	case gomail.ErrSMTPRcptTo, gomail.ErrSMTPDataClose, gomail.ErrGetRcpts:
		return notice.Hopeless(err)
	default:
		return err
	}
}

func isPermanent(err error) bool {
	var f *notice.SendError
	return errors.As(err, &f) && f.Final
}
