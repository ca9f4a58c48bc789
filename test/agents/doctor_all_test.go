//go:build agents

package agents

import "testing"

func TestDoctorTriesTheOthers(t *testing.T) {
	t.Parallel()
	testDoctor(t, map[string]string{"gemini": "skip", "opencode": "skip"})
}
