package render

import (
	"testing"

	"github.com/fermata-hq/fermata"
)

// An event about a step of a workflow names the step and its state.
func TestEventsOfStepsNameThem(t *testing.T) {
	t.Parallel()
	got := EventText(&fermata.Event{
		Type: fermata.EventStepFinished, Actor: fermata.SystemActor,
		Data: []byte(`{"workflow":"release","step":"build","occurrence":1,"tool":"shell","state":"failed","error":"no rule"}`),
	})
	if want := "system  workflow=release  step=build  state=failed  error=no rule"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
