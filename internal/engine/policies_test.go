package engine

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

func TestAPolicyThatWasReadBeforeItChangedIsNotKept(t *testing.T) {
	t.Parallel()
	pc := newPolicyCache()
	_, _, cleared := pc.get("ws")
	pc.forget("ws")
	pc.put("ws", fermata.Policy{}, cleared)
	if _, ok, _ := pc.get("ws"); ok {
		t.Error("the policy of before is kept")
	}
	_, _, cleared = pc.get("ws")
	pc.put("ws", fermata.Policy{}, cleared)
	if _, ok, _ := pc.get("ws"); !ok {
		t.Error("the policy of now is not kept")
	}
}
