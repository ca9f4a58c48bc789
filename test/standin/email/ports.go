package email

// services are the ports of the servers.
type services struct{ smtp, smtps, imap, imaps, lmtp int }

// servicesFrom assigns the ports of a block to the servers.
func servicesFrom(first int) services {
	return services{smtp: first, smtps: first + 1, imap: first + 2, imaps: first + 3, lmtp: first + 4}
}
