// Package email brings real mail servers to the tests of the channel e-mail:
// Exim takes and sends mails, Dovecot keeps the mailboxes. On top of them stand
// people who read what came and reply as mail programs do, and a scanner that
// does to every mail what the scanners of mail providers do.
package email
