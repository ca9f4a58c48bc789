// Package access implements the protocols by which people sign in: links by
// mail, an identity provider (OpenID Connect), and passkeys (WebAuthn). The
// engine creates the session that follows.
package access
