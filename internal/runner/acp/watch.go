package acp

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// decision is what became of the request for permission of a call.
type decision int

const (
	// unseen says that the agent never asked.
	unseen decision = iota
	// refused says that it asked, and that nothing permitted the call so far.
	refused
	// permitted says that a rule or a person permitted the call, or that it is one of
	// Fermata's own tools.
	permitted
)

// harmlessKinds are the protocol's kinds of calls that change nothing. All others act,
// also those that the protocol does not know yet.
var harmlessKinds = []string{"read", "search", "think", "switch_mode"}

// harmlessTools are tools that change nothing and that known programs give no kind of
// their own.
var harmlessTools = map[string][]string{
	openCodeName: {"todowrite", "todoread", "skill", "list", "lsp", "invalid", "question", "plan_enter", "plan_exit"},
	geminiName:   {"write_todos", "ask_user", "activate_skill", "enter_plan_mode", "exit_plan_mode", "complete_task"},
	claudeName: {
		"TodoWrite", "ToolSearch", "Skill", "Task", "Agent", "TaskOutput", "TaskStop", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet",
		"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ListAgents", "SendMessage", "ReportFindings",
	},
}

// geminiTodos is the title that Gemini CLI gives its list of what is to do.
var geminiTodos = regexp.MustCompile(`^(Set \d+ todo\(s\)|Cleared todo list)$`)

// isHarmless reports whether the call is of a tool of a known program that changes
// nothing. What the model writes never decides: a title counts only where the program
// makes it of the tool's name.
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
		// Tools of MCP servers may have any title, and always tell their arguments.
		return slices.ContainsFunc(known, func(tool string) bool { return isGeminiCall(id, tool) }) || c.bare && geminiTodos.MatchString(c.first)
	default:
		return slices.Contains(known, c.first)
	}
}

// isGeminiCall reports whether the id of a call is one that Gemini CLI makes of the
// tool's name.
func isGeminiCall(id, tool string) bool {
	rest, ok := strings.CutPrefix(id, tool+"-")
	return ok && rest != "" && strings.Trim(rest, "0123456789-") == ""
}

// refusals begin what known programs say of a call that they did not run themselves:
// the call was malformed, or a setting of the user's denies it.
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

// isOwn reports whether the call is of one of Fermata's own tools, by the name that
// the program gives, else by its first title.
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

// check notes the status of a call, and that it ran without a decision that
// permits it. A call that failed may have run: only a refusal that is known is none.
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
		// Gemini CLI tells of each call before it runs.
		s.violate("ran without asking", c)
	}
}

// violate notes the first call that ran against the gate.
func (s *session) violate(what string, c *call) {
	if s.violation != "" {
		return
	}
	s.violation = cmp.Or(c.kind, "other") + " “" + cmp.Or(c.title, c.first, "without a title") + "” " + what
	close(s.ungated)
}

// violated is what the agent did against the gate; empty is nothing.
func (s *session) violated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.violation
}

// checkLeft looks, at the end of a turn that the agent ended by itself, for calls that
// it began without asking and of which it never told an end.
func (s *session) checkLeft() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.calls {
		if c.decided == unseen && c.status == statusRunning && !s.cancelled && c.acts(s.agent, id) {
			s.violate("ran without asking", c)
		}
	}
}

// decide notes what became of the request for a call.
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
