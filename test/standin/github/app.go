package github

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// isSignedByApp reports whether the token is a valid token of the App. It checks
// as GitHub does: the signature, the App's id, and a lifetime of ten minutes at
// most.
func (s *Server) isSignedByApp(token string) bool {
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return &s.key.PublicKey, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithIssuer(strconv.Itoa(AppID)), jwt.WithIssuedAt(), jwt.WithExpirationRequired(), jwt.WithTimeFunc(s.now))
	return err == nil && claims.IssuedAt != nil && claims.ExpiresAt.Sub(s.now()) <= 10*time.Minute
}

func (s *Server) getApp(*call) (int, any) {
	return http.StatusOK, map[string]any{"id": AppID, "slug": AppSlug}
}

func (s *Server) getInstallation(c *call) (int, any) {
	if c.PathValue("installation") != strconv.Itoa(Installation) {
		return http.StatusNotFound, message("Not Found")
	}
	in := map[string]any{"id": Installation, "permissions": s.permissions, "events": s.events}
	if s.suspended {
		in["suspended_at"] = s.now().UTC().Format(time.RFC3339)
	}
	return http.StatusOK, in
}

// postToken creates a token of the installation. The token is valid for one hour.
func (s *Server) postToken(c *call) (int, any) {
	if c.PathValue("installation") != strconv.Itoa(Installation) {
		return http.StatusNotFound, message("Not Found")
	}
	if s.suspended {
		return http.StatusForbidden, message("This installation has been suspended")
	}
	s.lastID++
	token, expires := fmt.Sprintf("ghs_%d", s.lastID), s.now().Add(time.Hour).UTC().Truncate(time.Second)
	s.tokens[token] = &access{user: s.users[AppSlug+"[bot]"], app: true, expires: expires}
	return http.StatusCreated, map[string]any{"token": token, "expires_at": expires.Format(time.RFC3339), "permissions": s.permissions}
}
