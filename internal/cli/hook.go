package cli

// hookCommand holds the commands that agent programs call. People do not call
// them.
type hookCommand struct {
	Claude   hookClaudeCommand   `cmd:"" aliases:"claude-desk" help:"Called by Claude Code."`
	Codex    hookCodexCommand    `cmd:"" help:"Called by Codex."`
	Gemini   hookGeminiCommand   `cmd:"" help:"Called by Gemini CLI."`
	OpenCode hookOpenCodeCommand `cmd:"" name:"opencode" help:"Called by the plugin of opencode."`
}
