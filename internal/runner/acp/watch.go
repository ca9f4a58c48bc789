package acp

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// decision is the result of a call's request for permission.
type decision int

const (
	// unseen means that the agent never asked.
	unseen decision = iota
	// refused means that it asked, and that the call is not permitted so far.
	refused
	// permitted means that a rule or a person permitted the call, or that it is one of Fermata's own tools.
	permitted
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
var geminiTodos = regexp.MustCompile(`^(Set \d+ todo\(s\)|Cleared todo list)$`)

// isHarmless reports whether the call is of a known program's tool that changes nothing. Text of the model never
// decides: a title counts only if the program makes it from the tool's name.
func (c *call) isHarmless(agent, id string) bool {
	known := harmlessTools[agent]
	switch {
	case slices.Contains(harmlessKinds, c.kind):
		return true
	case agent == claudeName:
		return slices.Contains(known, c.named.toolName())
	case c.kind != "" && c.kind != "other":
		return false
	case agent == geminiName:
		// Tools of MCP servers may have any title, but always report their arguments.
		return slices.ContainsFunc(known, func(tool string) bool { return isGeminiCall(id, tool) }) || c.bare && geminiTodos.MatchString(c.first)
	default:
		return slices.Contains(known, c.first)
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

// anyTool stands for the name of a tool in a refusal.
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

// acts reports whether the call is one that a gate has to see.
func (c *call) acts(agent, id string) bool { return !c.isOwn() && !c.isHarmless(agent, id) }

// isOwn reports whether the call is of one of Fermata's own tools, by the name that the program reports, or else by its
// first title.
func (c *call) isOwn() bool {
	if name := c.named.toolName(); name != "" {
		return ownName(name) && c.named.isOurs()
	}
	return (c.kind == "" || c.kind == "other") && ownTitle(c.first)
}

// Statuses of calls in the protocol.
const (
	statusRunning   = "in_progress"
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// check records the status of a call, and whether it ran without permission. A failed call may have run, unless its
// error is a known refusal.
func (s *session) check(c *call, u *update) {
	began := c.status == statusRunning || s.agent != geminiName
	c.status = cmp.Or(u.Status, c.status)
	switch {
	case c.decided == permitted || !c.acts(s.agent, u.ToolCallID):
	case u.Status == statusCompleted && c.decided == refused:
		s.violate("ran although it was refused", c)
	case u.Status == statusCompleted:
		s.violate("ran without asking", c)
	case u.Status == statusFailed && c.decided == unseen && began && !s.cancelled && !isRefusal(s.agent, strings.Join(texts(u.Content), " ")):
		// Gemini CLI reports each call before the call runs.
		s.violate("ran without asking", c)
	}
}

// violate records the first call that ran against the gate.
func (s *session) violate(what string, c *call) {
	if s.violation != "" {
		return
	}
	s.violation = cmp.Or(c.kind, "other") + " “" + cmp.Or(c.title, c.first, "without a title") + "” " + what
	close(s.ungated)
}

// violated returns how the agent acted against the gate, or "".
func (s *session) violated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.violation
}

// checkLeft looks for calls that the agent began without asking and never reported as ended. It runs at the end of a
// turn that the agent ended by itself.
func (s *session) checkLeft() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.calls {
		if c.decided == unseen && c.status == statusRunning && !s.cancelled && c.acts(s.agent, id) {
			s.violate("ran without asking", c)
		}
	}
}

// decide records the decision about a call.
func (s *session) decide(id string, d decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[id]
	if c == nil {
		c = &call{}
		s.calls[id] = c
	}
	c.decided = d
}
