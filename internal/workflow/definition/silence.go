package definition

import (
	"fmt"
	"slices"
	"strings"
)

// silence is what happens to the question of a step when nobody answers in time.
type silence string

// Values of silence. silenceIsUnknown means that only the run knows it.
const (
	silenceSkips        silence = "skip"
	silenceFails        silence = "fail"
	silenceTakesDefault silence = "default"
	silenceTakesOrFails silence = "default or fail"
	silenceIsImpossible silence = "never"
	silenceIsUnknown    silence = ""
)

// silenceOf returns what happens when nobody answers the question of a step in time, as the engine decides it: what the
// last level of escalation says, else the timeout action. Without both, the question takes its default, or fails if it has
// none.
func silenceOf(s *Step, input *tree) silence {
	levels := input.get("escalation")
	switch action := input.get(timeoutActionField(input)); {
	case input.mapping() == nil:
		return silenceIsUnknown
	case input.get("timeout").text() == "never":
		return silenceIsImpossible
	case len(levels.list()) > 0:
		return fixedSilence(levels.list()[len(levels.list())-1].get("on_timeout"))
	case action != nil:
		return fixedSilence(action)
	case levels != nil:
		return silenceIsUnknown
	case s.Tool != postQuestion:
		return silenceFails
	case input.get("items") != nil, input.get("questions") != nil:
		return silenceTakesOrFails
	case input.get("default") == nil && input.get("defaultAnswer") == nil:
		return silenceFails
	case s.MayBeApproval():
		return silenceTakesOrFails
	}
	return silenceTakesDefault
}

// timeoutActionField returns the name that the input of a question uses for its timeout action.
func timeoutActionField(input *tree) string {
	if input.get("timeoutAction") == nil && input.get("on_timeout") != nil {
		return "on_timeout"
	}
	return "timeoutAction"
}

// fixedSilence returns what a timeout action does. It is unknown if the value has a template, or is none that a question
// ends with.
func fixedSilence(action *tree) silence {
	known := []silence{silenceSkips, silenceFails, silenceTakesDefault}
	if i := slices.Index(known, silence(action.text())); i >= 0 {
		return known[i]
	}
	return silenceIsUnknown
}

// mayBeSkipped reports whether silence may skip the question of a step, so that on_timeout happens.
func (s *Step) mayBeSkipped() bool {
	return s.silence == silenceSkips || s.silence == silenceIsUnknown
}

// checkSilence refuses an on_timeout that never happens, because silence never skips the question of the step.
func (l *loader) checkSilence(s *Step, t *tree, path string) {
	if t.get("on_timeout") == nil || !s.Suspend || s.Foreach != nil || s.mayBeSkipped() || l.known.WasChecked {
		return
	}
	l.addAt(t.key("on_timeout"), path+".on_timeout", skipRemedy(s, t.get("input")), "on_timeout never happens: %s", silenceTexts[s.silence])
}

// silenceTexts say what happens to a question instead of being skipped.
var silenceTexts = map[silence]string{
	silenceFails:        "when nobody answers in time, the step fails",
	silenceTakesDefault: "when nobody answers in time, the question takes its default",
	silenceTakesOrFails: "when nobody answers in time, the question takes its default, or the step fails",
	silenceIsImpossible: "the question has no deadline",
}

// skipRemedy returns the hint how silence skips the question of a step.
func skipRemedy(s *Step, input *tree) string {
	name := timeoutActionField(input)
	switch {
	case s.silence == silenceIsImpossible:
		return fmt.Sprintf("write a timeout, such as timeout: 1h, and %s: skip beside it, or remove on_timeout", name)
	case len(input.get("escalation").list()) > 0:
		return "write on_timeout: skip in the last level of escalation"
	case input.get(name) != nil:
		return fmt.Sprintf("write %s: skip in the input", name)
	}
	return fmt.Sprintf("add %s: skip to the input", name)
}

// warnOfSilence warns of an on_timeout of the workflow that never happens.
func (l *loader) warnOfSilence() {
	if l.root.get("on_timeout").mapping() == nil {
		return
	}
	suspends := false
	for i := range l.w.Steps {
		s := &l.w.Steps[i]
		suspends = suspends || s.Suspend
		if s.Suspend && s.Phase == MainPhase && s.mayBeSkipped() && l.steps[i].get("on_timeout") == nil {
			return
		}
	}
	if suspends {
		l.warn(l.root.key("on_timeout"), "on_timeout", "add timeoutAction: skip to the input of a question, or remove on_timeout",
			"on_timeout never happens: silence skips no question of a step without its own on_timeout")
	}
}

// unapprovedHint returns the hint for an approval whose on_error is continue: the settings that the step still needs so
// that the run goes on without an approval.
func (l *loader) unapprovedHint(s *Step, t *tree) string {
	var hints []string
	if r := t.get("on_reject"); r == nil || r.text() == "fail" {
		hints = append(hints, "say on_reject: skip")
	}
	way := ""
	if t.get("on_timeout") == nil && (s.Phase != MainPhase || l.root.get("on_timeout") == nil) {
		way = "say where to go: on_timeout: {goto: …}"
	}
	if !s.mayBeSkipped() && s.silence != silenceIsImpossible {
		way = strings.TrimSuffix(skipRemedy(s, t.get("input"))+", and "+way, ", and ")
	}
	if way != "" && s.silence != silenceIsImpossible {
		hints = append(hints, way)
	}
	if len(hints) == 0 {
		return "remove it"
	}
	return strings.Join(hints, "; for silence, ")
}
