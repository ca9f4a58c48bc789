package agent

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
)

// continuePrompt is the prompt if there is nothing else to say.
const continuePrompt = "Go on with the task where you stopped."

// historian is a run handle that has the whole history of questions and answers.
type historian interface {
	History(ctx context.Context) (*fermata.ResumeContext, error)
}

// closingPrompt tells the agent that the end of its run becomes the result of the task.
const closingPrompt = "When you are done, end with a short summary of what you did and what it came to: people read it as the result of the task.\n"

// prompts builds the texts for the agent.
type prompts struct {
	claim  *fermata.Claim
	handle RunHandle
	// guided is true if the agent can ask and must be told how.
	guided bool
	// askTool is the name of the tool with which it asks.
	askTool string
}

// begin returns the task, for a session that has not seen it. If the task was begun earlier, the text includes the
// questions and answers so far.
func (p prompts) begin(ctx context.Context, lost bool) string {
	var sb strings.Builder
	t := p.claim.Task
	if p.guided {
		sb.WriteString(strings.ReplaceAll(fermata.AgentGuidance(fermata.HostWorker), askTool, p.askTool) + "\n\n---\n\n")
	}
	sb.WriteString("# " + strings.Join(strings.Fields(t.Title), " ") + "\n\n")
	if body := strings.TrimSpace(t.Body); body != "" {
		sb.WriteString(body + "\n\n")
	}
	sb.WriteString(closingPrompt)
	rc := p.claim.Context
	if rc == nil || !rc.Resumed && !lost {
		return sb.String() + p.messagesPart(rc)
	}
	sb.WriteString("\n---\n\nThis task was begun earlier. ")
	if lost {
		sb.WriteString("Your session of that time is gone and cannot be resumed, so this is a new one: look at what is there already before you go on. ")
	}
	sb.WriteString("The working directory is as it was left.\n\n")
	sb.WriteString(p.history(ctx))
	return sb.String()
}

// history returns everything that people said about the task, or at least what is new.
func (p prompts) history(ctx context.Context) string {
	if h, ok := p.handle.(historian); ok {
		if all, err := h.History(ctx); err == nil && all.Text != "" {
			return all.Text
		}
	}
	if text := p.claim.Context.Text; text != "" {
		return text
	}
	return "Nobody was asked anything or wrote anything so far.\n"
}

// resume returns the prompt with which a session goes on.
func (p prompts) resume(rc *fermata.ResumeContext) string {
	if rc == nil || rc.Text == "" {
		return continuePrompt
	}
	return rc.Text
}
