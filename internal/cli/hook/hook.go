package hook

// Command is fermata hook: agent programs call it before they use a tool. People do not call it.
type Command struct {
	Claude   claudeCommand   `cmd:"" aliases:"claude-desk" help:"Called by Claude Code."`
	Codex    codexCommand    `cmd:"" help:"Called by Codex."`
	Gemini   geminiCommand   `cmd:"" help:"Called by Gemini CLI."`
	OpenCode openCodeCommand `cmd:"" name:"opencode" help:"Called by the plugin of opencode."`
}
