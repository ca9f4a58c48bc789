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
		key, err := w.e.AddPasskey(w.Context(), first.Caller, "laptop", "credential", "{}")
		w.ok(err)

		for _, who := range []fermata.Caller{first.Caller, admin} {
			keys, err := w.e.PasskeysOf(w.Context(), who, "alice")
			w.ok(err)
			w.equal(key.ID, keys[0].ID)
			sessions, err := w.e.SessionsOf(w.Context(), who, w.alice.MemberID)
			w.ok(err)
			w.equal(2, len(sessions))
		}
		for _, who := range []fermata.Caller{w.person("bob"), w.agent} {
			_, err = w.e.PasskeysOf(w.Context(), who, "alice")
			w.checkRefused(err, fermata.CodeForbidden)
			_, err = w.e.SessionsOf(w.Context(), who, "alice")
			w.checkRefused(err, fermata.CodeForbidden)
			_, err = w.e.EndSessionsOf(w.Context(), who, "alice")
			w.checkRefused(err, fermata.CodeForbidden)
		}
		// A person who lost the passkey cannot remove it; an admin can.
		w.checkRefused(w.e.RemovePasskey(w.Context(), first.Caller, key.ID), fermata.CodeForbidden)
		w.ok(w.e.RemovePasskey(w.Context(), admin, key.ID))
		keys, err := w.e.PasskeysOf(w.Context(), admin, "alice")
		w.ok(err)
		w.equal(0, len(keys))

		n, err := w.e.EndSessionsOf(w.Context(), admin, "alice")
		w.ok(err)
		w.equal(2, n)
		_, err = w.e.AuthenticateSession(w.Context(), first.Secret)
		w.checkRefused(err, fermata.CodeUnauthenticated)
		_, err = w.e.SessionsOf(w.Context(), admin, "nobody")
		w.checkRefused(err, fermata.CodeNotFound)
	})
}
