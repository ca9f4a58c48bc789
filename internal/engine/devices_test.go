package engine_test

import (
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/engine"
)

// TestDevicesOfAPerson: members see and end their own sessions and devices,
// admins those of all members, and no other caller learns of them.
func TestDevicesOfAPerson(t *testing.T) {
	each(t, func(w *world) {
		first := w.signIn("alice", engine.Browser{UserAgent: "one"})
		w.signIn("alice", engine.Browser{UserAgent: "two"})
		key, err := w.Engine.AddPasskey(w.Context(), first.Caller, "laptop", "credential", "{}")
		w.OK(err)

		for _, who := range []fermata.Caller{first.Caller, admin} {
			keys, err := w.Engine.PasskeysOf(w.Context(), who, "alice")
			w.OK(err)
			w.Equal(key.ID, keys[0].ID)
			sessions, err := w.Engine.SessionsOf(w.Context(), who, w.alice.MemberID)
			w.OK(err)
			w.Equal(2, len(sessions))
		}
		for _, who := range []fermata.Caller{w.Person("bob"), w.agent} {
			_, err = w.Engine.PasskeysOf(w.Context(), who, "alice")
			w.CheckRefused(err, fermata.CodeForbidden)
			_, err = w.Engine.SessionsOf(w.Context(), who, "alice")
			w.CheckRefused(err, fermata.CodeForbidden)
			_, err = w.Engine.EndSessionsOf(w.Context(), who, "alice")
			w.CheckRefused(err, fermata.CodeForbidden)
		}
		// A person who lost the passkey cannot remove it; an admin can.
		w.CheckRefused(w.Engine.RemovePasskey(w.Context(), first.Caller, key.ID), fermata.CodeForbidden)
		w.OK(w.Engine.RemovePasskey(w.Context(), admin, key.ID))
		keys, err := w.Engine.PasskeysOf(w.Context(), admin, "alice")
		w.OK(err)
		w.Equal(0, len(keys))

		n, err := w.Engine.EndSessionsOf(w.Context(), admin, "alice")
		w.OK(err)
		w.Equal(2, n)
		_, err = w.Engine.AuthenticateSession(w.Context(), first.Secret)
		w.CheckRefused(err, fermata.CodeUnauthenticated)
		_, err = w.Engine.SessionsOf(w.Context(), admin, "nobody")
		w.CheckRefused(err, fermata.CodeNotFound)
	})
}
