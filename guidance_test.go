package fermata_test

import (
	"strings"
	"testing"

	"github.com/fermata-hq/fermata"
)

// TestGuidanceByPlace checks that the guidance says what happens to the agent while its question waits: only a worker
// stops and resumes the agent.
func TestGuidanceByPlace(t *testing.T) {
	t.Parallel()
	for place, tt := range map[fermata.AgentHost]struct{ says, doesNotSay []string }{
		fermata.HostWorker:  {[]string{"STOP", "You will be resumed"}, []string{"wait_seconds: 300", "check_answer when this"}},
		fermata.HostDesk:    {[]string{"wait_seconds", "check_answer when this conversation goes on"}, []string{"STOP", "resumed"}},
		fermata.HostUnknown: {[]string{"wait_seconds", "check_answer"}, []string{"STOP", "You will be resumed"}},
	} {
		for _, text := range []string{fermata.AgentGuidance(place), fermata.PendingAdvice(place)} {
			for _, want := range tt.says {
				if !strings.Contains(text, want) {
					t.Errorf("place %d is not told %q: %s", place, want, text)
				}
			}
			for _, never := range tt.doesNotSay {
				if strings.Contains(text, never) {
					t.Errorf("place %d is told %q: %s", place, never, text)
				}
			}
		}
	}
}
