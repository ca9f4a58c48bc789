package cli

// hookCommand holds what agents' programs call. They are started by these
// programs, not by people.
type hookCommand struct {
	Claude     hookClaudeCommand     `cmd:"" help:"Called by Claude Code in a worker."`
	ClaudeDesk hookClaudeDeskCommand `cmd:"" name:"claude-desk" help:"Called by Claude Code at a person's desk."`
	Codex      hookCodexCommand      `cmd:"" help:"Called by Codex."`
	Gemini     hookGeminiCommand     `cmd:"" help:"Called by Gemini CLI."`
}
