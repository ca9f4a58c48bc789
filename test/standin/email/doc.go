// Package email provides real mail servers for the tests of the channel email:
// Exim accepts and sends mails, and Dovecot stores the mailboxes. It also plays
// people who read their mail and reply as mail programs do. Its scanner treats
// every mail as the scanners of mail providers do.
package email
