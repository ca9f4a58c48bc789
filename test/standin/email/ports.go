package email

// serverPorts are the ports of the servers.
type serverPorts struct{ smtp, smtps, imap, imaps, lmtp int }

// portsFrom assigns the ports of a block to the servers.
func portsFrom(first int) serverPorts {
	return serverPorts{smtp: first, smtps: first + 1, imap: first + 2, imaps: first + 3, lmtp: first + 4}
}
