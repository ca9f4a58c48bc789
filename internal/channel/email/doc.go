// Package email carries questions by mail. It sends them over SMTP, one mail to
// each person, and reads the replies from a mailbox over IMAP.
package email
