package hook

// Command holds the commands that agent programs call. People do not call
// them.
type Command struct {
	Claude   claudeCommand   `cmd:"" aliases:"claude-desk" help:"Called by Claude Code."`
	Codex    codexCommand    `cmd:"" help:"Called by Codex."`
	Gemini   geminiCommand   `cmd:"" help:"Called by Gemini CLI."`
	OpenCode openCodeCommand `cmd:"" name:"opencode" help:"Called by the plugin of opencode."`
}
