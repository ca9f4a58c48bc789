package cli

import "context"

// gate decides about any tool that is not Fermata's own. Without an opinion
// Claude Code's own permissions decide, and ask through the tool for
// permission prompts.
func (h *hookRun) gate(context.Context) (*hookReply, error) {
	return nil, nil //nolint:nilnil // no opinion is an answer
}
