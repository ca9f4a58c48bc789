package definition_test

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fermata-hq/fermata/internal/workflow/definition"
)

// start is a workflow of five lines. The lines that a case adds begin on line
// 6.
const start = "name: x\nsteps:\n  - id: a\n    tool: run_checks\n    output: done\n"

const step = "  - id: b\n    tool: run_checks\n"

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source string
		want         []string // line:column, a part of the message, a part of the hint, "warning"
	}{
		{"empty", "", []string{"1:1|empty|begin with"}},
		{"comments only", "# x\n", []string{"1:1|empty|"}},
		{"a list", "- a\n", []string{"1:1|must be an object|"}},
		{"a text", "hello", []string{"1:1|must be an object|"}},
		{"no steps", "name: x\n", []string{"1:1|steps is missing|"}},
		{"no name", "steps: [{id: a, tool: run_checks}]\n", []string{"1:1|name is missing|"}},
		{"several at once", "name: X\nsteps: []\nstep: 1\n", []string{"1:7|does not fit|lower-case", "2:8|at least 1|", "3:1|no field step|did you mean steps?"}},
		{"two documents", "name: x\n---\nname: y\n", []string{"3:5|second document|remove ---"}},
		{"a directive", "%YAML 1.2\n---\nname: x\n", []string{"1:1|directives|%", "3:1|steps is missing|"}},
		{"not UTF-8", "name: \xff\n", []string{"1:7|UTF-8|UTF-8"}},
		{"control character", "name: \x01\n", []string{"1:7|U+0001|remove"}},
		{"too long", strings.Repeat("# x\n", 1<<17), []string{"1:1|longer than 256 KiB|split"}},
		{"too deep", "name: " + strings.Repeat("[", 5000), []string{"1:39|more than 32 deep|"}},
		{"too deep by lines", "name: x\nsteps: [{id: a, tool: run_checks, input: {x: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "}}]\nx:\n" + nestedLists(40), []string{"3:1|no field x|", "36:34|more than 32 deep|"}},
		{"CRLF", "name: x\r\nsteps:\r\n  - id: a\r\n    tool: runchecks\r\n", []string{"4:11|no tool runchecks|did you mean run_checks?"}},

		{"a dropped condition", start + step + "    condition: !done\n", []string{"8:16|! begins a tag|quote it: \"!done\", or write not done"}},
		{"a dropped condition with more", start + step + "    condition: !done.ok && true\n", []string{"8:16|! begins a tag|quote it: \"!done.ok && true\""}},
		{"a dropped condition before other keys", start + "  - id: c\n    condition: !done\n    tool: run_checks\n", []string{"7:16|! begins a tag|not done"}},
		{"a tag", start + step + "    input: {x: !!str 1}\n", []string{"8:16|tag|quote"}},
		{"an anchor and an alias", start + step + "    input: {x: &x 1, y: *x}\n", []string{"8:16|anchors|written twice", "8:25|anchor|write the value out"}},
		{"a merge key", start + step + "    input:\n      <<: {a: 1}\n", []string{"9:7|<< is not supported|"}},
		{"a key twice", start + step + "    input:\n      k: 1\n      k: 2\n", []string{"10:7|k is there twice|line 9"}},
		{"a field twice", start + step + "    tool: run_checks\n", []string{"8:5|tool is there twice|line 7"}},
		{"a key that is a number", start + step + "    input: {3: x}\n", []string{"8:13|must be a text|\"3\""}},
		{"a template as a key", start + step + "    input: {\"{{ done }}\": x}\n", []string{"8:13|keys are not filled in|"}},
		{"a complex key", start + step + "    input:\n      ? a\n      : b\n", []string{"9:7|? before a key is not supported|key: value"}},
		{"numbers", start + step + "    input: {n: 012, m: 0x1F, o: 1_000, v: 1.10, d: 2026-01-01, w: 0, f: -1.5}\n", []string{
			"8:16|not every program reads 012|write 12", "8:24|0x1F|write 31", "8:33|1_000|quote", "8:43|1.10 reads as the number 1.1|quote|warning",
		}},
		{"numbers with a sign", start + step + "    input: {n: -012, m: +5}\n", []string{"8:16|not every program reads -012|write -12 for", "8:25|not every program reads +5|quote"}},
		{"texts that look like numbers to nobody", start + step + "    input: {n: 1e6x, m: v1e6, o: 12:75, p: 10:30 am, q: 1.0e6, r: 2026-07-01T12:00:00Z, s: 1.2.3, t: \"1e6\", u: '12:30'}\n", nil},
		{"a template without quotes", start + step + "    input:\n      y: {{ done.y }}\n      z: {{ done.z }} and\n    timeout: 30\n", []string{
			"9:10|must be quoted|\"{{ done.y }}\"", "10:10|must be quoted|\"{{ done.z }} and\"", "11:14|unit is missing|\"90s\"",
		}},
		{"a template without quotes in braces", start + step + "    input: {x: {{ done.x }}}\n", []string{"8:16|must be quoted|\"{{ … }}\""}},
		{"a missing quote", start + step + "    input:\n      x: \"open\n      y: 1\n    timeut: 3s\n", []string{"9:10|quote is not closed|close it", "11:5|no field timeut|timeout"}},
		{"a missing quote that another one closes", start + step + "    input:\n      x: \"open\n      y: \"closed\"\n    timeut: 3s\n", []string{"9:10|quote is not closed|close it", "11:5|no field timeut|timeout"}},
		{"a missing quote in braces", start + step + "    input: {x: 'a', y: \"open, z: 1}\n    timeut: 3s\n", []string{"8:24|quote is not closed|close it", "9:5|no field timeut|timeout"}},
		{"cron without quotes in braces", "name: x\ntriggers: [{schedule: */5 * * * *, timezone: UTC}]\nsteps: [{id: a, tool: run_checks}]\n", []string{"2:23|begins with *|\"*/5 * * * *\""}},
		{"cron without quotes", "name: x\ntriggers:\n  - schedule: */5 * * * *\n  - schedule: * * * * *\nsteps: [{id: a, tool: run_checks}]\n", []string{"3:15|begins with *|\"*/5 * * * *\"", "4:15|begins with *|\"* * * * *\""}},
		{"a ternary without quotes", start + step + "    input: \n      x: done.a ? b : c\n      z: \"x\" == done\n", []string{"9:10|must be quoted|\"done.a ? b : c\"", "10:10|after the closing quote|'\"x\" == done'"}},
		{"a comment that cuts an expression", start + step + "    condition: done.ok # && more\n", []string{"8:24|# begins a comment|quote it|warning"}},
		{"a comment set apart", start + step + "    condition: done.ok  # fine\n", nil},
		{"tabs", start + "\tx: 1\n", []string{"6:1||not with tabs"}},
		{"bad indentation", start + "  - id: b\n   tool: x\n", []string{"7:4||indentation"}},
		{"an open bracket", start + "  - id: b\n    tool: [x\n", []string{"7:11||close the bracket"}},

		{"unknown field with no neighbour", start + step + "    zzz: 1\n", []string{"8:5|no field zzz|there are condition"}},
		{"wrong types", start + "  - id: b\n    tool: 3\n    suspend: yes\n    foreach: {a: 1}\n    on_error: retry\n", []string{"7:11|must be a text, and is 3|\"3\"", "8:14|must be true or false|write true", "9:14|a text or a list|", "10:15|one of ask, fail, continue|"}},
		{"empty values", start + "  - id: b\n    tool:\n", []string{"7:11|must be a text, and is empty|give a value"}},
		{"durations", start + step + "    timeout: soon\n    retry: {attempts: 2, backoff: 3, factor: 0.5}\n", []string{"8:14|no duration|\"90s\"", "9:35|3 is no duration|", "9:46|at least 1|"}},
		{"durations that are no time", start + step + "    timeout: 0s\n    retry: {attempts: 2, backoff: 0d}\n", []string{"8:14|must be more than 0, and is 0s|longer", "9:35|must be more than 0, and is 0d|longer"}},
		{"a wait that is longer than the longest", start + step + "    retry: {attempts: 3, backoff: 1h, max_backoff: 10m}\n", []string{"8:35|backoff is longer than max_backoff|longer max_backoff"}},
		{"a long wait", start + step + "    retry: {attempts: 3, backoff: 1h}\n", nil},
		{"a short longest wait", start + step + "    retry: {attempts: 3, max_backoff: 1s}\n", nil},
		{"a choice by other words", "triggers:\n  - {manual: yes}\ninputs: {n: {type: integer, default: x}}\n" + start, []string{"2:14|must be true, and is the text \"yes\"|write true", "3:20|must be one of|write number"}},
		{"nothing like it", "name: x\nsteps:\n  - {id: a, tool: run_checks}\n  - {id: b, tool: run_checks, needs: [j]}\n", []string{"4:39|no step j|there are a, b"}},
		{"too many items", start + step + "    foreach: \"{{ 1..10000 }}\"\n  - {id: c, tool: run_checks, foreach: \"{{ 1..1000 }}\"}\n", []string{"8:14|foreach gives 10000 items, and may give at most 1000|repeat the steps"}},
		{"too many steps", "name: x\nsteps:\n" + strings.Repeat("  - {id: a, tool: run_checks}\n", 1001), []string{"3:3|has 1001, and may have at most 1000|", "4:10|twice|", "5:10|twice|"}},

		{"a step twice", start + "  - id: a\n    tool: run_checks\n    output: done\n", []string{"6:9|step a is there twice|line 3", "8:13|output done is there twice|line 5"}},
		{"reserved names", start + "  - id: steps\n    tool: run_checks\n    output: run\n", []string{"6:9|steps is reserved|", "8:13|run is reserved|"}},
		{"an output that is injected", start + ask + "    on_resume: {inject: {done: 1, item: 2}}\n", []string{"10:26|done is there twice|line 5", "10:35|item is reserved|"}},
		{"a field by another name", start + step + "    if: done.ok\n    with: {a: 1}\n", []string{"8:5|no field if|did you mean condition?", "9:5|no field with|did you mean input?"}},
		{"an unknown event", "triggers:\n  - event: question.answred\n  - event: zzz\n" + start, []string{"2:12|no events of the type|did you mean question.answered?", "3:12|no events of the type|such as"}},
		{"silence that the run would have to wait for", start + ask + "    on_timeout: {tool: shell, input: {run: x}}\n" + questionStep("timeoutAction: skip") + "on_timeout: {tool: apply_code_fix}\n", []string{"10:24|on_timeout cannot wait for shell|goto", "15:20|cannot wait for apply_code_fix|goto"}},
		{"answers and deadlines of a question for each", start + "  - id: q\n    tool: post_question\n    suspend: true\n    foreach: [1, 2]\n    input: {question: \"x {{ item }}\", timeoutAction: skip}\n    on_resume: {goto: c}\n    on_timeout: {goto: c}\n  - id: b\n    tool: run_checks\n  - id: c\n    tool: run_checks\n", []string{
			"11:5|on_resume never happens with foreach|map(steps.q.output, #?.answer)", "12:5|on_timeout never happens with foreach|timeoutAction: skip"}},
		{"silence about an approval for each", start + "  - id: q\n    tool: request_approval\n    foreach: [1, 2]\n    input: {title: x, action: {n: \"{{ item }}\"}}\n    on_timeout: {goto: q}\n", []string{"10:5|on_timeout never happens with foreach|ends as skipped"}},
		{"answers of the workflow beside a question for each", start + "  - id: q\n    tool: post_question\n    suspend: true\n    foreach: [1, 2]\n    input: {question: x, timeoutAction: skip}\non_resume: {goto: a}\non_timeout: {goto: a}\n", []string{
			"9:5|the on_resume of the workflow is not for the step q|move on_resume|warning", "9:5|the on_timeout of the workflow is not for the step q|move on_timeout|warning"}},
		{"a wait for each", start + "  - id: w\n    tool: wait\n    foreach: [1, 2]\n    input: {for: 1s}\n", []string{"8:5|wait cannot be repeated|remove foreach"}},
		{"an unknown tool", start + "  - id: b\n    tool: run_chekcs\n", []string{"7:11|no tool run_chekcs|did you mean run_checks?"}},
		{"a tool of a server that is down", start + "  - id: b\n    tool: tracker.list\n", []string{"7:11|could not be listed||warning"}},
		{"a tool of an unknown server", start + "  - id: b\n    tool: trackr.list\n", []string{"7:11|no tool trackr.list|"}},
		{"an unknown step in goto", start + ask + "    on_resume: {goto: aa}\n    on_timeout: {goto: z}\n", []string{"10:23|no step aa|did you mean a?", "11:24|no step z|"}},
		{"an unknown step in a goto by option", start + ask + "    on_resume: {goto: {x: a, y: nope}}\n", []string{"10:33|no step nope|there are a, q"}},
		{"an unknown step in on_reject", start + "  - id: q\n    tool: request_approval\n    input: {title: ok}\n    on_reject: {goto: nope}\n", []string{"9:23|no step nope|"}},
		{"escalation to nobody", start + "  - id: q\n    tool: post_question\n    suspend: true\n    input: {question: ok, options: [a, b], timeout: 1h, timeoutAction: escalate}\n", []string{"9:12|escalation: timeoutAction is escalate, but there is no level|"}},
		{"an issue that a run may not have", "triggers:\n  - manual: true\n  - label_added: fix\n" + start + "  - id: b\n    tool: update_github_issue\n    input: {addLabels: [x]}\n  - id: q\n    tool: post_question\n    suspend: true\n    input: {question: ok, notifyVia: [github], timeoutAction: skip}\n    on_timeout: {tool: update_github_issue, input: {addLabels: [y]}}\n", []string{
			"10:11|update_github_issue works on the issue of the run, and a run may have none|required input|warning", "15:38|to stand on the issue of the run|issueNumber|warning", "16:24|update_github_issue works on the issue|required input|warning",
		}},
		{"an issue that every run has", "inputs: {issue: {type: number, required: true}}\ntriggers: [{manual: true}]\n" + start + "  - id: b\n    tool: update_github_issue\n    input: {addLabels: [x]}\n", nil},
		{"an issue of its own", "triggers: [{manual: true}]\n" + start + "  - id: q\n    tool: post_question\n    input: {question: ok, default: yes, options: [yes, no], notifyVia: [github], issueNumber: 7}\n", nil},
		{"an issue by a label", "triggers: [{label_added: fix}]\n" + start + "  - id: b\n    tool: update_github_issue\n    input: {addLabels: [x]}\n", nil},
		{"rounds", start + step + "    repeat: {until: steps.b.output.ok, max: 3, from: a}\n", nil},
		{"rounds that nothing ends", start + step + "    repeat: {max: 101}\n", []string{"8:13|until|", "8:19|at most 100|"}},
		{"rounds that go forward", start + step + "    repeat: {until: done.ok, from: c}\n  - id: c\n    tool: run_checks\n", []string{"8:36|the step c comes later: repeat goes back|name b"}},
		{"rounds from nowhere", start + step + "    repeat: {until: done.ok, from: aa}\n", []string{"8:36|no step aa|did you mean a?"}},
		{"rounds until a text", start + step + "    repeat: {until: \"'x'\"}\n", []string{"8:21|must be true or false|"}},
		{"needs", start + step + "    needs: []\n  - {id: c, tool: run_checks, needs: [a, b]}\n", nil},
		{"needs of nothing there", start + step + "    needs: [aa]\n", []string{"8:13|no step aa|did you mean a?"}},
		{"needs of itself and twice", start + step + "    needs: [a, a, b]\n", []string{"8:16|the step a is there twice|remove it", "8:19|the step b needs itself|remove it"}},
		{"needs of a later step", start + step + "    needs: [c]\n  - {id: c, tool: run_checks, needs: []}\n", []string{"8:13|the step c comes later|move c above b"}},
		{"needs in a circle", start + step + "    needs: [d]\n  - {id: c, tool: run_checks, needs: [b]}\n  - {id: d, tool: run_checks}\n", []string{"8:13|the step d comes later|nothing of it could begin: b needs d needs c needs b"}},
		{"needs of another list", start + step + "finally:\n  - {id: c, tool: run_checks, needs: [a]}\n", []string{"9:39|the step a is one of steps|name one of finally"}},
		{"what a step beside it gives", start + step + "    needs: []\n    condition: done.ok\n", []string{"9:16|done runs beside the step b, and may not have ended here|add a to needs"}},
		{"a goto to a step beside", start + step + "    needs: []\n  - {id: q, tool: request_approval, input: {title: ok}, needs: [a], on_reject: {goto: b}}\n", []string{"9:87|b runs beside q, and nothing leads from one to the other|go to a step that q needs"}},
		{"a goto over steps beside", start + step + "  - {id: q, tool: request_approval, input: {title: ok}, needs: [a], on_reject: {goto: a}}\n", []string{"8:87|the run cannot go from q to a: b comes after a, too, and does not lead to q|let q need b"}},
		{"a goto to a step that others need as well", start + step + "  - {id: q, tool: request_approval, input: {title: ok}, needs: [b], on_reject: {goto: a}}\n  - {id: r, tool: run_checks, needs: [a, q]}\n", nil},
		{"a repeat over steps beside", start + step + "  - {id: c, tool: run_checks, needs: [a], repeat: {from: a, until: 1 == 1}}\n", []string{"8:58|the run cannot go from c to a: b comes after a|let c need b"}},
		{"a general goto over steps beside", "on_timeout: {goto: a}\n" + start + step + "  - {id: q, tool: post_question, suspend: true, input: {question: ok, options: [x], timeoutAction: skip}, needs: [a]}\n", []string{"1:20|the run cannot go from q to a: b comes after a|let q need b"}},
		{"what a failed command leaves", start + step + "    condition: steps.a.error.exit_code == 1 && steps.a.error.stdout != steps.a.error.stdin\n", []string{"8:72|steps.a.error has no stdin|there are code, exit_code"}},
		{"a working copy of its own", start + step + "    working_copy: own\n  - {id: c, tool: shell, input: {command: [git, merge, \"{{ steps.b.branch }}\"]}}\n  - {id: d, tool: agent, input: {prompt: x}, working_copy: own, foreach: [1, 2]}\n", nil},
		{"another working copy", start + step + "    working_copy: shared\n  - {id: c, tool: shell, input: {run: x}, working_copy: true}\n", []string{"8:19|must be own|leave it out", "9:57|must be own|leave it out"}},
		{"a working copy of a tool that has none", start + ask + "    working_copy: own\n  - {id: c, tool: wait, input: {for: 1s}, working_copy: own}\n  - {id: d, tool: workflow, input: {name: y}, working_copy: own}\n  - {id: e, tool: http, input: {url: \"https://example.com\"}, working_copy: own}\n  - {id: f, tool: tracker.list, working_copy: own}\n", []string{
			"10:19|post_question has no working copy|remove it: agents and commands have one", "11:57|wait has no working copy|", "12:61|workflow has no working copy|", "13:76|http has no working copy|", "14:19|could not be listed||warning", "14:47|tracker.list has no working copy|",
		}},
		{"a branch that is not there", start + step + "    input: {a: \"{{ steps.a.branch }}\", b: \"{{ steps.a.brnch }}\"}\n", []string{"8:20|steps.a.branch is always null: the step a has no working copy of its own|add working_copy: own to the step a", "8:47|steps.a has no brnch|did you mean branch?"}},
		{"no cap", "max_iterations: 0\n" + start, []string{"1:17|at least 1|"}},
		{"a goto to itself that nobody sees", start + step + "    on_resume: {goto: b}\n", []string{"8:5|on_resume never happens|remove it"}},
		{"asking again and again", start + ask + "    on_timeout: {goto: q}\n", []string{"10:24|asked again whenever nobody answers|later step|warning"}},
		{"resume that never happens", start + "on_resume: {goto: a}\n", []string{"6:1|on_resume never happens|suspend: true|warning"}},
		{"suspend where nobody is asked", start + step + "    suspend: true\n", []string{"8:14|does not suspend|"}},
		{"an approval that is not waited for", start + "  - id: q\n    tool: request_approval\n    suspend: false\n    input: {title: ok}\n", []string{"8:14|allows everything|remove"}},
		{"on_reject of no approval", start + ask + "    on_reject: skip\n", []string{"10:5|only approvals|request_approval"}},
		{"a step that nothing leads to", start + ask + "    on_resume: {goto: c}\n    on_timeout: {goto: c}\n" + step + "  - id: c\n    tool: run_checks\n", []string{"12:5|nothing leads to the step b|"}},
		{"thresholds", "confidence: {auto: 20, ask: 50}\n" + start, []string{"1:29|ask is above auto|"}},

		{"unknown names", start + step + "    condition: doen.ok\n    input: {a: \"{{ steps.bb.output }}\", b: \"{{ steps.a.outpt }}\", c: \"{{ run.ide }}\", d: \"{{ inputs.x }}\", e: \"{{ zzz }}\"}\n", []string{
			"8:16|doen is not known|did you mean done?", "9:20|no step bb|did you mean b?", "9:48|steps.a has no outpt|output", "9:74|run has no ide|id", "9:94|no input x|", "9:115|zzz is not known|there are done",
		}},
		{"a step as a value", start + step + "    condition: a == 1\n", []string{"8:16|a is a step|steps.a.output"}},
		{"a later step", start + step + "    condition: steps.c.output == 1 || steps.b.status == 'done'\n  - id: c\n    tool: run_checks\n", []string{"8:16|comes later, on line 9|", "8:39|the step itself|"}},
		{"a later step after a goto back", "name: x\nsteps:\n  - id: b\n    tool: run_checks\n    condition: steps.q.answer != 'x' && answer == null\n" + ask + "    on_resume: {goto: b, inject: {answer: \"{{ pendingQuestion.answer }}\"}}\n", nil},
		{"names out of place", start + step + "    input: {a: \"{{ item }}\", b: \"{{ pendingQuestion.id }}\"}\n", []string{"8:20|item can be used only in|", "8:37|pendingQuestion can be used only in|inject"}},
		{"names in triggers", "triggers:\n  - manual: true\n    if: done.ok\n" + start, []string{"3:9|done cannot be used in a trigger|trigger"}},
		{"a name that the schema does not have", start + "  - id: b\n    tool: analyze_issue\n    output: an\n  - id: c\n    tool: run_checks\n    condition: an.confidnce < 1 && steps.b.output.x\n", []string{"11:16|output of b has no confidnce|confidence", "11:36|has no x|"}},
		{"functions", start + step + "    input: {a: \"{{ env('HOME') }}\", b: \"{{ uper(done) }}\"}\n", []string{"8:20|no function env|there are", "8:44|no function uper|upper"}},
		{"templates that do not close", start + step + "    input: {a: \"x {{ done\", b: \"${{ done }}\"}\n", []string{"8:19|{{ is not closed|}}", "8:33|stays in the text||warning"}},
		{"a fault in a block", start + step + "    input:\n      a: |\n        one\n        two {{ doen }}\n", []string{"11:16|doen is not known|done"}},
		{"conditions that are none", start + step + "    condition: \"'x'\"\n  - id: c\n    tool: run_checks\n    condition: 80\n  - id: d\n    tool: run_checks\n    condition: \"a {{ done }}\"\n  - id: e\n    tool: run_checks\n    condition: false\n", []string{
			"8:16|this is text|compare", "11:16|must be a text or true or false, and is 80|", "14:19||once", "17:16|never runs||warning",
		}},
		{"foreach without a list", start + step + "    foreach: done\n  - id: c\n    tool: run_checks\n    foreach: \"x {{ done }}\"\n  - id: d\n    tool: run_checks\n    parallel: 3\n", []string{"8:14|needs a list|{{ done }}", "11:14|needs a list|one template", "14:5|parallel needs foreach|"}},
		{"a template in a script", start + "  - id: b\n    tool: shell\n    input: {run: \"echo {{ done }}\"}\n  - id: c\n    tool: shell\n    input: {command: [/bin/bash, -euc, \"echo {{ done }}\", x]}\n  - id: d\n    tool: shell\n    input: {command: [sh, -c, 'echo \"$1\"', sh, \"{{ done }}\"]}\n", []string{
			"8:18|become a part of the script|\"$1\"", "11:40|become a part of the script|\"$1\"",
		}},
		{"a secret for a worker", start + "  - id: b\n    tool: shell\n    input: {command: [x, \"{{ secrets.A }}\"]}\n  - id: c\n    tool: run_checks\n    input: {x: \"{{ secrets.A }}\"}\n", []string{"8:30|people read the task|environment of its worker", "11:20|people read the task|http"}},
		{"|| on yes and no", "inputs: {ok: {type: boolean}}\n" + start + "  - id: q\n    tool: post_question\n    suspend: true\n    input: {question: ok, responseType: boolean}\n    on_resume: {inject: {yes: \"{{ pendingQuestion.answer }}\"}}\n" + step + "    input: {x: \"{{ yes || 'no' }}\", y: \"{{ steps.q.answer || 1 }}\", z: \"{{ inputs.ok || done.n > 3 }}\", w: \"{{ inputs.ok || 'x' }}\", v: \"{{ yes ?? 'no' }}\"}\n", []string{
			"14:20|yes is a yes/no answer|??|warning", "14:44|steps.q.answer is a yes/no answer|??|warning", "14:112|inputs.ok is a yes/no answer|??|warning",
		}},

		{"secrets", start + "  - id: q\n    tool: post_question\n    suspend: true\n    condition: secrets.A == 'x'\n    input: {timeoutAction: skip, question: \"{{ secrets.A }}\"}\n    on_resume: {inject: {i: \"{{ secrets.A }}\"}}\n    on_timeout: {tool: notify, input: {text: \"{{ secrets.A }}\"}}\n  - id: b\n    tool: agent\n    input: {prompt: \"{{ secrets.A }}\"}\n  - id: c\n    tool: http\n    input: {url: \"{{ secrets.A }}\", headers: {x: \"{{ secrets }}\"}}\n", []string{
			"9:16|this text is stored and shown|", "10:48|people read what a question says|", "11:33|this text is stored and shown|", "12:50|people read the notification|", "15:25|people and the agent|", "18:54|by its name|",
		}},
		{"input of a tool", start + "  - id: b\n    tool: http\n    input: {methd: GET, headers: [x], retries: \"{{ done }}\"}\n  - id: c\n    tool: http\n", []string{"8:12|url is missing|", "8:13|no field methd|there are headers", "8:34|must be an object|", "9:5|url is missing|"}},
		{"input of a question", start + "  - id: q\n    tool: post_question\n    suspend: true\n    input: {question: ok, optoins: [a], timeoutHours: soon, options: [{vale: 1}, [x]], timeoutAction: give_up}\n", []string{
			"9:27|no field optoins|options", "9:55|must be a number|", "9:71|value is missing|", "9:72|no field vale|value", "9:82|a list has no place here|", "9:103|one of default, skip, fail|",
		}},
		{"a question that could not be asked", start + questionStep("options: [a, a], timeoutAction: skip") + questionStep("options: [a, b], defaultAnswer: c, timeoutAction: skip") + questionStep("options: [a], timeoutAction: default") +
			questionStep("options: [{value: a, danger: true}], default: a, timeoutAction: default") + questionStep("timeoutAction: escalate, title: \"{{ done }}\"") + questionStep("options: \"{{ done }}\", default: c"), []string{
			"9:40|options|remove", "13:59|\"c\" is not an option|", "17:12|no default for every|", "21:73|marked as dangerous|allow_danger_default", "25:12|no level to escalate to|",
		}},
		{"several mistakes in one question", start + questionStep("options: [a, a, b], default: c, escalation: [], timeoutAction: escalate") + "    on_resume: {goto: {d: a}}\n" +
			"  - id: z\n    tool: post_question\n    suspend: true\n    input: {items: [{key: n, prompt: n, response_type: number, min: 5, max: 2}, {key: n, prompt: \"?\", options: [x, x], default: z}]}\n", []string{
			"9:40|\"a\" stands twice|remove", "9:56|\"c\" is not an option|one of the options", "9:71|no level to escalate to|escalation: [", "10:24|no option d|",
			"14:69|min: is above max|change one", "14:87|\"n\" stands twice|remove", "14:116|\"x\" stands twice|remove", "14:129|\"z\" is not an option|",
		}},
		{"a mistake in a question beside a field that is none", start + questionStep("optoins: [a], options: [a, a], default: c, timeoutHours: soon, timeoutAction: escalate, issueNumber: x"), []string{
			"9:27|no field optoins|options", "9:54|\"a\" stands twice|", "9:67|\"c\" is not an option|", "9:84|must be a number|", "9:128|must be the number of an issue|issueNumber: 42",
		}},
		{"a mistake in one item beside one of another", start + "  - id: z\n    tool: post_question\n    suspend: true\n    input: {items: [{key: m, prompt: \"\"}, {key: n, prompt: \"?\", options: [x, x], default: z}], default: {m: 1}, timeoutAction: default}\n", []string{
			"9:38|must not be empty|", "9:78|\"x\" stands twice|", "9:91|\"z\" is not an option|",
		}},
		{"a default beside a type that is none", start + questionStep("responseTyp: number, default: 5, timeoutAction: skip") + questionStep("responseType: nubmer, default: 6, timeoutAction: skip"), []string{
			"9:27|no field responseTyp|responseType", "13:41|must be one of|number",
		}},
		{"names that say the same", start + questionStep("default: a, defaultAnswer: b, timeout: 1h, timeoutHours: 5, emailRecipients: [q, r]"), []string{
			"9:54|says the same as default|remove", "9:84|says the same as timeout|remove", "9:105|no e-mail address|@", "9:108|no e-mail address|@",
		}},
		{"a question that nobody waits for", start + "  - id: q\n    tool: post_question\n    input: {question: ok}\n", []string{"8:12|non_blocking question needs a default|"}},
		{"ways on that no answer takes", start + questionStep("options: [a, b], timeoutAction: skip") + "    on_resume: {goto: {c: a}}\n" +
			questionStep("responseType: boolean, timeoutAction: skip") + "    on_resume: {goto: {yes: a, maybe: a}}\n" + questionStep("responseType: number, timeoutAction: skip") + "    on_resume: {goto: {x: a}}\n" +
			"  - id: z\n    tool: request_approval\n    input: {title: ok}\n    on_resume: {goto: {approve: a, reject: a}}\n", []string{
			"10:24|no option c|", "15:32|no option maybe|there are", "20:23|for one of several options|conditions", "24:36|no option reject|on_reject: {goto: a}",
		}},
		{"input of a shell", start + "  - id: b\n    tool: shell\n    input: {}\n  - id: c\n    tool: shell\n    input: {run: x, command: [y]}\n", []string{"8:12|run or command is missing|", "11:12|exclude each other|keep one"}},
		{"a schema of an output", start + step + "    schema: {type: strin}\n  - id: c\n    tool: run_checks\n    schema: {$ref: \"https://example.com/x.json\"}\n", []string{"8:13|no JSON Schema|", "11:13|not read|"}},
		{"triggers", "name: x\ntriggers:\n  - schedule: \"61 * * * *\"\n    timezone: Mars/X\n  - webhook: true\n    manual: true\n  - repo: a/b\n  - webhook: false\n  - schedule: \"0 0 31 2 *\"\n  - schedule: \"@daily\"\n  - webhook: true\n    auth: none\nsteps: [{id: a, tool: run_checks}]\n", []string{
			"3:15|no schedule|minute 0-59", "4:15|no time zone|Europe/Berlin", "6:5|several types|-", "7:5|label_added or deployment is missing|", "7:5|no type|label_added", "8:14|must be true|leave it out", "9:15|never comes|", "10:15|no schedule|five fields", "12:11|anybody|cannot sign|warning",
		}},
		{"inputs", "inputs:\n  a: {type: nubmer}\n  b: {type: boolean, default: 3}\n  c: {type: string, enum: [x, 2], default: z}\n  run: {type: string}\n  d: {type: string, required: true}\ntriggers:\n  - schedule: \"* * * * *\"\n  - manual: true\n    inputs: {dd: x, c: 3}\n" + start, []string{
			"2:13|one of string|number", "3:31|must be true or false, and is 3|", "4:31|must be a text, and is 2|", "4:44|not in enum|", "5:3|run is reserved|", "8:5|no value for the required input d|default|warning", "10:14|no input dd|d", "10:24|must be a text|\"3\"",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, problems := loadWithoutNote(tt.source)
			if tt.name == "too many steps" {
				problems = problems[:3]
			}
			failed := false
			for i, p := range problems {
				failed = failed || !p.Warning
				if i < len(tt.want) && hasProblem(p, tt.want[i]) {
					continue
				}
				t.Errorf("problem %d is %s", i, p)
			}
			if len(problems) < len(tt.want) {
				t.Errorf("missing: %v", tt.want[len(problems):])
			}
			if failed == (w != nil) {
				t.Errorf("the workflow is %v", w)
			}
		})
	}
}

// loadWithoutNote loads a definition, and leaves out the warning that it has no triggers.
func loadWithoutNote(source string) (*definition.Workflow, []definition.Problem) {
	w, problems := definition.Load([]byte(source), known)
	return w, slices.DeleteFunc(problems, func(p definition.Problem) bool { return p.Path == "triggers" && p.Warning })
}

// A definition without triggers is warned of, because nobody can start it by hand. An empty list says that this is meant.
func TestNoTriggersAreWarnedOf(t *testing.T) {
	t.Parallel()
	for triggers, want := range map[string][]string{
		"": {"1:1|only a step of another workflow starts this one|triggers: [{manual: true}]|warning"}, "triggers: []\n": nil, "triggers: [{manual: true}]\n": nil,
	} {
		w, problems := definition.Load([]byte(start+triggers), known)
		if w == nil || len(problems) != len(want) || len(want) > 0 && !hasProblem(problems[0], want[0]) {
			t.Errorf("%q: %v", triggers, problems)
		}
	}
}

// questionStep returns a step that asks, with its own id.
func questionStep(input string) string {
	return fmt.Sprintf("  - id: q%d\n    tool: post_question\n    suspend: true\n    input: {question: ok, %s}\n", crc32.ChecksumIEEE([]byte(input)), input)
}

const ask = "  - id: q\n    tool: post_question\n    suspend: true\n    input: {question: ok, timeoutAction: skip}\n"

func nestedLists(deep int) string {
	var b strings.Builder
	for i := range deep {
		b.WriteString(strings.Repeat(" ", i+1) + "x:\n")
	}
	return b.String()
}

func hasProblem(p definition.Problem, want string) bool {
	parts := append(strings.Split(want, "|"), "", "")
	return fmt.Sprintf("%d:%d", p.Line, p.Column) == parts[0] && strings.Contains(p.Message, parts[1]) &&
		strings.Contains(p.Hint, parts[2]) && p.Warning == (parts[3] == "warning")
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	_, problems := loadWithoutNote(start + step + "    condition: !done\n")
	want := "   8 |     condition: !done\n" + "                      ^"
	if len(problems) != 1 || problems[0].Excerpt != want {
		t.Errorf("%+v", problems)
	}
	long := start + step + "    input: {x: \"" + strings.Repeat("ä", 300) + "{{ doen }}\"}\n"
	_, problems = loadWithoutNote(long)
	lines := strings.Split(problems[0].Excerpt, "\n")
	if at := len([]rune(lines[1])) - 1; string([]rune(lines[0])[at:at+4]) != "doen" {
		t.Errorf("the caret is not below the name:\n%s", problems[0].Excerpt)
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 78 {
			t.Errorf("a terminal of 80 columns breaks a line of %d, which is indented by 2:\n%s", n, line)
		}
	}
}

// A definition that was stored before a rule was added runs on.
func TestAStoredDefinitionKeepsItsAnswersForEach(t *testing.T) {
	t.Parallel()
	source := start + "  - {id: q, tool: post_question, suspend: true, foreach: [1, 2], input: {question: x, timeoutAction: skip}, on_resume: {goto: c}, on_timeout: {goto: c}}\n  - {id: c, tool: run_checks}\n"
	stored := known
	stored.WasChecked = true
	w, problems := definition.Load([]byte(source), stored)
	if w == nil || w.Resume(&w.Steps[1]) != nil || w.Timeout(&w.Steps[1]) != nil {
		t.Errorf("got %v", problems)
	}
}

// A file with more problems than are listed says so, last.
func TestMoreProblemsThanAreListed(t *testing.T) {
	t.Parallel()
	for n, wantsNote := range map[int]bool{99: false, 100: false, 101: true, 500: true} {
		_, problems := loadWithoutNote(start + step + "    input:\n" + inputLines(n, "\"{{ nobody }}\""))
		last := problems[len(problems)-1]
		hasNote := last.Message == "there are more problems than the 100 that are listed" && !last.Warning
		if hasNote != wantsNote || !hasNote && len(problems) != n || hasNote && len(problems) != 101 {
			t.Errorf("%d: %d problems, the last one is %s", n, len(problems), last)
		}
	}
	_, problems := loadWithoutNote(start + step + "    input:\n" + inputLines(101, "1.10"))
	if last := problems[len(problems)-1]; len(problems) != 101 || last.Message != "there are more warnings than the 100 that are listed" || !last.Warning {
		t.Errorf("%d problems, the last one is %s", len(problems), last)
	}
}

// inputLines returns n lines of an input with the same value.
func inputLines(n int, value string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "      x%d: %s\n", i, value)
	}
	return b.String()
}
