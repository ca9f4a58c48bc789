// Package email carries questions by mail: it sends them over SMTP, one mail to
// each person, and reads what people reply from a mailbox over IMAP.
package email
