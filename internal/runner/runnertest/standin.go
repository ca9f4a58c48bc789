//go:build unix

package runnertest

import (
	"path/filepath"
	"testing"

	"github.com/fermata-hq/fermata/test/script"
)

// agentScripts are the suite's agents as shell scripts. They use functions that a prelude defines: begin, say TEXT, plan
// (one of two steps is done, "half way" comes next), ask, fail REASON, end, and resumed. The function resumed succeeds
// when the session s-1 is resumed.
var agentScripts = map[Behaviour]string{
	HandsBack: `begin
prompt=$(cat)
title=$(printf '%s\n' "$prompt" | sed -n 's/^# //p')
text=$(printf '%s' "$prompt" | tr '\n"' '  ')
printf '{"title":"%s","run":"%s","attempt":"%s","resumed":"%s","text":"%s"}' \
	"$title" "$FERMATA_RUN" "$FERMATA_ATTEMPT" "$FERMATA_RESUMED" "$text" >handed.json
if [ "$FERMATA_RESUMED" = 1 ]; then resumed "$@" || exit 9; fi
say done; end`,
	Talks:        `begin; say hello; echo oops >&2; end`,
	Steps:        `begin; plan; say done; end`,
	EndsSilently: `begin; end`,
	Asks:         `begin; ask; exec sleep 1000`,
	AsksInWords:  `begin; say '{\"status\":\"needs_input\",\"question\":\"Which one?\"}'; end`,
	NeverBegins:  `echo x >&2; exit 1`,
	Fails:        `begin; fail 'no space left'; exit 1`,
	Babbles: `begin; head -c 3000000 /dev/zero; printf '\n\377\376\n'
head -c 3000000 /dev/zero | tr '\0' x; echo; echo '{"type":"new","thing":1}'; say done; end`,
	Hangs: `exec 3>alive; begin
sh -c 'echo ready >&3; exec sleep 1000' & wait`,
	IgnoresStop: `exec 3>alive; begin
trap '' TERM
sh -c 'trap "" TERM; echo ready >&3; sleep 1000' & sleep 1000; sleep 1000`,
	IgnoresStopLonger: `exec 3>alive; begin
trap '' TERM
sh -c 'trap "" TERM; echo ready >&3; sleep 1000' & sleep 1000; sleep 1000`,
	StopsWell: `exec 3>alive; begin
trap 'touch stopped; exit 0' TERM
echo ready >&3
while :; do sleep 1000 & wait $!; done`,
	Listens: `if resumed "$@"; then begin; say "$(tail -n 1)"; end; exit; fi
begin
exec 3>alive; echo ready >&3; exec sleep 1000`,
	LeavesChild: `exec 3>alive; begin
sleep 1000 &
echo ready >&3
say done; end`,
}

// WriteAgent writes an agent program with the behaviour b and returns its path. The prelude defines shell functions that
// write the lines of a real program.
func WriteAgent(t *testing.T, prelude string, b Behaviour) string {
	t.Helper()
	script, ok := agentScripts[b]
	if !ok {
		t.Fatalf("there is no agent that %s", b)
	}
	return WriteScript(t, prelude+script)
}

// WriteScript writes a shell script and returns its path.
func WriteScript(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "agent")
	script.Write(t, name, text)
	return name
}
