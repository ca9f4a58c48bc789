package acp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fermata-hq/fermata/internal/lazyregexp"
)

// decision is the result of a call's request for permission.
type decision int

const (
	// decisionNone means that the agent never asked.
	decisionNone decision = iota
	// decisionRefused means that it asked, and that the call is not permitted so far.
	decisionRefused
	// decisionPermitted means that a rule or a person permitted the call, or that it is one of Fermata's own tools.
	decisionPermitted
)

// harmlessKinds are the protocol's kinds of calls that change nothing. All other kinds act, including kinds that the
// protocol will add.
var harmlessKinds = []string{"read", "search", "think", "switch_mode"}

// harmlessTools are tools that change nothing, and to which known programs give no kind of their own.
var harmlessTools = map[string][]string{
	openCodeName: {"todowrite", "todoread", "skill", "list", "lsp", "invalid", "question", "plan_enter", "plan_exit"},
	geminiName:   {"write_todos", "ask_user", "activate_skill", "enter_plan_mode", "exit_plan_mode", "complete_task"},
	claudeName: {
		"TodoWrite", "ToolSearch", "Skill", "Task", "Agent", "TaskOutput", "TaskStop", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet",
		"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ListAgents", "SendMessage", "ReportFindings",
	},
}

// geminiTodos matches the titles of Gemini CLI's todo list.
var geminiTodos = lazyregexp.New(`^(Set \d+ todo\(s\)|Cleared todo list)$`)

// isHarmless reports whether the call is of a known program's tool that changes nothing. Text of the model never
// decides: a title counts only if the program makes it from the tool's name.
func (c *call) isHarmless(agent, id string) bool {
	known := harmlessTools[agent]
	switch {
	case slices.Contains(harmlessKinds, c.kind):
		return true
	case agent == claudeName:
		return slices.Contains(known, c.identity.toolName())
	case c.kind != "" && c.kind != "other":
		return false
	case agent == geminiName:
		// Tools of MCP servers may have any title, but always report their arguments.
		return slices.ContainsFunc(known, func(tool string) bool { return isGeminiCall(id, tool) }) || c.titleOnly && geminiTodos().MatchString(c.firstTitle)
	default:
		return slices.Contains(known, c.firstTitle)
	}
}

// isGeminiCall reports whether the id of a call has the form that Gemini CLI makes from the tool's name.
func isGeminiCall(id, tool string) bool {
	rest, ok := strings.CutPrefix(id, tool+"-")
	return ok && rest != "" && strings.Trim(rest, "0123456789-") == ""
}

// refusals are the beginnings of known programs' messages about a call that they themselves did not run: the call was
// malformed, or a setting of the user denies it.
var refusals = map[string][]string{
	openCodeName: {"The user has specified a rule which prevents", "The user rejected permission", "The " + anyTool + " tool was called with invalid arguments"},
	claudeName:   {"<tool_use_error>", "```\n<tool_use_error>", "Permission to use"},
}

// anyTool is the placeholder for the name of a tool in a refusal.
const anyTool = "*"

// isRefusal reports whether a known program says that it did not run the call.
func isRefusal(agent, text string) bool {
	return slices.ContainsFunc(refusals[agent], func(begin string) bool {
		head, tail, named := strings.Cut(begin, anyTool)
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), head)
		if !named || !ok {
			return ok
		}
		name, rest, _ := strings.Cut(rest, " ")
		return name != "" && strings.HasPrefix(" "+rest, tail)
	})
}

// isActing reports whether the call is one that a gate has to see.
func (c *call) isActing(agent, id string) bool { return !c.isOwnTool() && !c.isHarmless(agent, id) }

// isOwnTool reports whether the call is of one of Fermata's own tools, by the name that the program reports, or else by its
// first title.
func (c *call) isOwnTool() bool {
	if name := c.identity.toolName(); name != "" {
		return isOwnName(name) && c.identity.isOwnServer()
	}
	return (c.kind == "" || c.kind == "other") && isOwnTitle(c.firstTitle)
}

// Statuses of calls in the protocol.
const (
	statusRunning   = "in_progress"
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// checkCall records the status of a call, and whether it ran without permission. A failed call may have run, unless its
// error is a known refusal.
func (s *session) checkCall(c *call, u *update) {
	began := c.status == statusRunning || s.programName != geminiName
	c.status = cmp.Or(u.Status, c.status)
	switch {
	case c.decision == decisionPermitted || !c.isActing(s.programName, u.ToolCallID):
	case u.Status == statusCompleted && c.decision == decisionRefused:
		s.recordViolation("ran although it was refused", c)
	case u.Status == statusCompleted:
		s.recordViolation("ran without asking", c)
	case u.Status == statusFailed && c.decision == decisionNone && began && !s.cancelled && !isRefusal(s.programName, strings.Join(collectTexts(u.Content), " ")):
		// Gemini CLI reports each call before the call runs.
		s.recordViolation("ran without asking", c)
	}
}

// recordViolation records the first call that ran against the gate.
func (s *session) recordViolation(what string, c *call) {
	if s.violation != "" {
		return
	}
	s.violation = cmp.Or(c.kind, "other") + " “" + cmp.Or(c.title, c.firstTitle, "without a title") + "” " + what
	close(s.ungated)
}

// violationText returns how the agent acted against the gate, or "".
func (s *session) violationText() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.violation
}

// checkRunningCalls looks for calls that the agent began without asking and never reported as ended. It runs at the end
// of a turn that the agent ended by itself.
func (s *session) checkRunningCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.calls {
		if c.decision == decisionNone && c.status == statusRunning && !s.cancelled && c.isActing(s.programName, id) {
			s.recordViolation("ran without asking", c)
		}
	}
}

// setDecision records the decision about a call.
func (s *session) setDecision(id string, d decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[id]
	if c == nil {
		c = &call{}
		s.calls[id] = c
	}
	c.decision = d
}
