package api_test

import (
	"maps"
	"net/http"
	"net/url"
	"testing"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/api"
	"github.com/fermata-hq/fermata/test/forgery"
)

// An answer link with one wrong character shows nothing and decides nothing. The page of the correct link contains
// proofs of what it showed, and when. If one character of them is wrong, it decides nothing either.
func TestAnAnswerLinkOneCharacterOffDecidesNothing(t *testing.T) {
	t.Parallel()
	// Many requests from one address are refused.
	w := newWorld(t, func(c *api.Config) { c.Limits.Failed = api.Rate{PerSecond: -1} })
	q := w.ask(lowChoice)
	genuine := w.answerLink(q, "ann")
	form := w.form(genuine, "item.it", "toml")
	confirm := w.confirmation(w.press(genuine, form))
	w.Clock.Advance(fermata.MinConfirmDelay)
	head, tried := w.Head(), 0
	decides := func(address string, form url.Values) {
		t.Helper()
		tried++
		if got := w.press(address, form); got.status == http.StatusSeeOther || w.Head() != head {
			t.Fatalf("%s with %v decides: %d %.200s", address, form, got.status, got.body)
		}
	}
	for token := range forgery.OneOff(genuine[len("/a/"):]) {
		address := "/a/" + url.PathEscape(token)
		if got := w.call("", "GET "+address, ""); got.status < http.StatusBadRequest {
			t.Fatalf("%s shows %d %.200s", address, got.status, got.body)
		}
		decides(address, confirm)
	}
	for _, name := range []string{"form", "confirm"} {
		for value := range forgery.OneOff(confirm.Get(name)) {
			forged := maps.Clone(confirm)
			forged.Set(name, value)
			decides(genuine, forged)
		}
	}
	if w.now(q.ID).Status != fermata.Pending || tried < 500 {
		t.Errorf("after %d forgeries the question is %s", tried, w.now(q.ID).Status)
	}
	if got := w.press(genuine, confirm); got.status != http.StatusSeeOther || w.now(q.ID).Status == fermata.Pending {
		t.Errorf("the genuine one decides nothing: %d %.200s", got.status, got.body)
	}
}
