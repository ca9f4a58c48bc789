package cli

// hookCommand holds what agents' programs call. They are started by these
// programs, not by people.
type hookCommand struct {
	Claude   hookClaudeCommand   `cmd:"" aliases:"claude-desk" help:"Called by Claude Code."`
	Codex    hookCodexCommand    `cmd:"" help:"Called by Codex."`
	Gemini   hookGeminiCommand   `cmd:"" help:"Called by Gemini CLI."`
	OpenCode hookOpenCodeCommand `cmd:"" name:"opencode" help:"Called by the plugin of opencode."`
}

// hookRoot is the grammar of the hooks alone: they are started for every call
// of a tool, and building the whole grammar takes half of their time.
type hookRoot struct {
	globals

	Hook hookCommand `cmd:"" help:"What agents call before they use a tool."`
}
