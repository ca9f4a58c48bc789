package api

import (
	"context"

	"github.com/fermata-hq/fermata"
)

// endedSessions is the number of browser sessions that were ended.
type endedSessions struct {
	Ended int `json:"ended"`
}

// registerDevices registers the calls about a person's devices. A single passkey
// or session is removed by its own id.
func (s *Server) registerDevices() {
	e := s.Engine
	addOperation(s, operation("GET /members/{id}/passkeys", "list-member-passkeys", "List a person's passkeys: your own, or as an admin anybody's"),
		func(ctx context.Context, c fermata.Caller, in *MemberInput) (*reply[page[*fermata.Passkey]], error) {
			return listOf(e.PasskeysOf(ctx, c, in.ID))
		})
	addOperation(s, operation("GET /members/{id}/sessions", "list-member-sessions", "List where a person is signed in: you, or as an admin anybody"),
		func(ctx context.Context, c fermata.Caller, in *MemberInput) (*reply[page[*fermata.BrowserSession]], error) {
			return listOf(e.SessionsOf(ctx, c, in.ID))
		})
	addOperation(s, operation("DELETE /members/{id}/sessions", "end-member-sessions", "Sign a person out of every browser"),
		func(ctx context.Context, c fermata.Caller, in *MemberInput) (*reply[endedSessions], error) {
			n, err := e.EndSessionsOf(ctx, c, in.ID)
			return replyOf(endedSessions{n}, err)
		})
}
