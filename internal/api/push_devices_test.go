package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/store"
)

// addDevice adds a browser for push messages. The headers identify the person who adds it.
func (w *world) addDevice(token, name string, headers ...string) string {
	w.Helper()
	r := w.call(token, "POST /v1/me/devices", quoted(map[string]any{"name": name, "subscription": map[string]any{
		"endpoint": "https://push.example.com/" + name,
		"keys": map[string]string{
			"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg",
		},
	}}), headers...)
	if r.status != http.StatusCreated {
		w.Fatalf("%s: %d %s", name, r.status, r.body)
	}
	var d fermata.Device
	r.read(w.T, &d)
	return d.ID
}

// devicesOf lists the names of a person's devices, as an admin sees them.
func (w *world) devicesOf(handle string) string {
	w.Helper()
	var list struct{ Items []*fermata.Device }
	w.must(http.StatusOK, w.admin, "GET /v1/members/"+handle+"/devices", "", &list)
	names := []string{}
	for _, d := range list.Items {
		names = append(names, d.Name)
	}
	return fmt.Sprint(names)
}

// TestDevicesEndWithTheSignIn checks that no message is pushed to a browser that was signed out in any way. A device
// that a token added ends with this token.
func TestDevicesEndWithTheSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDelivery()
	browser := func(name string) (cookie, session string) {
		cookie = w.signIn("ann")
		w.addDevice("", name, append([]string{"Cookie", cookie}, page...)...)
		var me struct {
			SessionID string `json:"session_id"`
		}
		w.call("", "GET /v1/whoami", "", "Cookie", cookie).read(t, &me)
		return cookie, me.SessionID
	}
	var token fermata.Token
	w.must(http.StatusCreated, w.admin, "POST /v1/tokens", `{"name":"script","kind":"human","member":"ann","scopes":["answer"]}`, &token)
	w.addDevice(token.Secret, "script")
	kept, _ := browser("kept")
	check := func(after, want string) {
		t.Helper()
		if got := w.devicesOf("ann"); got != want {
			t.Errorf("%s: %s, want %s", after, got, want)
		}
	}
	check("added", "[script kept]")
	_, session := browser("phone")
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/sessions/"+session, "", nil)
	check("an admin ends the session", "[script kept]")
	laptop, _ := browser("laptop")
	if r := w.call("", "POST /v1/sign-out", "{}", append([]string{"Cookie", laptop}, page...)...); r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	check("sign-out", "[script kept]")
	if r := w.redeem(w.link("ann"), "Cookie", kept); r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	check("the same person signs in again in that browser", "[script kept]")
	shared, _ := browser("shared")
	if r := w.redeem(w.link("bob"), "Cookie", shared); r.status >= 300 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	check("somebody else signs in in that browser", "[script kept]")
	w.must(http.StatusOK, w.admin, "DELETE /v1/members/ann/sessions", "", nil)
	check("all sessions end", "[script]")
	w.must(http.StatusOK, w.admin, "DELETE /v1/tokens/"+token.ID, "", nil)
	check("the token is revoked", "[]")
	browser("late")
	w.Clock.Advance(fermata.SessionLifetime + time.Hour)
	check("the session's time is over", "[]")
	browser("again")
	for _, disabled := range []string{"true", "false"} {
		w.must(http.StatusOK, w.admin, "PATCH /v1/members/ann", `{"disabled":`+disabled+`}`, nil)
	}
	check("disabled and enabled", "[]")
}

// TestDevicesOfAPersonAreThePersons checks that an admin can list and remove a person's devices, and that another
// person cannot.
func TestDevicesOfAPersonAreThePersons(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDelivery()
	id := w.addDevice("", "phone", append([]string{"Cookie", w.signIn("ann")}, page...)...)
	bob := append([]string{"Cookie", w.signIn("bob")}, page...)
	if r := w.call("", "GET /v1/members/ann/devices", "", bob...); r.status != http.StatusForbidden {
		t.Errorf("bob lists them: %d %s", r.status, r.body)
	}
	if r := w.call("", "DELETE /v1/me/devices/"+id, "", bob...); r.status != http.StatusNotFound {
		t.Errorf("bob removes it: %d %s", r.status, r.body)
	}
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/me/devices/"+id, "", nil)
	if got := w.devicesOf("ann"); got != "[]" {
		t.Errorf("left: %s", got)
	}
}

// TestEarlierDevicesEndWithAllSessions checks devices that an earlier version added, whose session is unknown. Such a
// device stays when one session ends. It ends when all sessions end, and when its person is disabled.
func TestEarlierDevicesEndWithAllSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addDelivery()
	ann := w.member("ann").ID
	earlier := func() {
		w.insert(&fermata.Device{
			ID: fermata.NewID(fermata.PrefixDevice, w.Clock.Now()), MemberID: ann, Name: "earlier", AddedAt: w.Clock.Now(),
			Subscription: fermata.PushSubscription{Endpoint: "https://push.example.com/earlier"},
		})
	}
	check := func(after, want string) {
		t.Helper()
		if got := w.devicesOf("ann"); got != want {
			t.Errorf("%s: %s, want %s", after, got, want)
		}
	}
	earlier()
	var me struct {
		SessionID string `json:"session_id"`
	}
	w.call("", "GET /v1/whoami", "", "Cookie", w.signIn("ann")).read(t, &me)
	w.must(http.StatusNoContent, w.admin, "DELETE /v1/sessions/"+me.SessionID, "", nil)
	check("one session ends", "[earlier]")
	w.must(http.StatusOK, w.admin, "DELETE /v1/members/ann/sessions", "", nil)
	check("all sessions end", "[]")
	earlier()
	w.must(http.StatusOK, w.admin, "PATCH /v1/members/ann", `{"disabled":true}`, nil)
	check("disabled", "[]")
}

// insert adds a device directly to the database.
func (w *world) insert(d *fermata.Device) {
	w.Helper()
	err := w.DB.Write(w.Context(), store.DefaultWorkspace, func(tx *store.Tx) error {
		tx.InsertDevice(d)
		return nil
	})
	w.OK(err)
}
