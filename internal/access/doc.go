// Package access speaks the protocols by which people show who they are: links
// by mail, an identity provider (OpenID Connect), passkeys (WebAuthn). What
// comes of it, a session, is the engine's.
package access
