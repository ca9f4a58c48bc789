package cli

// hookCommand holds what agents' programs call. They are started by these
// programs, not by people.
type hookCommand struct {
	Claude   hookClaudeCommand   `cmd:"" aliases:"claude-desk" help:"Called by Claude Code."`
	Codex    hookCodexCommand    `cmd:"" help:"Called by Codex."`
	Gemini   hookGeminiCommand   `cmd:"" help:"Called by Gemini CLI."`
	OpenCode hookOpenCodeCommand `cmd:"" name:"opencode" help:"Called by the plugin of opencode."`
}
