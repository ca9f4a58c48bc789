package claude

import (
	"context"
	"strings"

	"github.com/fermata-hq/fermata"
)

// goOn is said where there is nothing else to say.
const goOn = "Go on with the task where you stopped."

// closing tells what the end of the run is for.
const closing = "When you are done, end with a short summary of what you did and what it came to: people read it as the result of the task.\n"

// Historian is a desk that can tell everything that was asked and answered.
type Historian interface {
	History(ctx context.Context) (*fermata.ResumeContext, error)
}

// brief is the task, for a session that knows nothing of it. Where an earlier
// run worked on it, it tells what people were asked and said so far.
func brief(ctx context.Context, claim *fermata.Claim, desk Desk, lost bool) string {
	var sb strings.Builder
	sb.WriteString("# " + strings.Join(strings.Fields(claim.Task.Title), " ") + "\n\n")
	if body := strings.TrimSpace(claim.Task.Body); body != "" {
		sb.WriteString(body + "\n\n")
	}
	sb.WriteString(closing)
	rc := claim.Context
	if rc == nil || !rc.Resumed {
		return sb.String()
	}
	sb.WriteString("\n---\n\nThis task was begun earlier, and the working directory is as it was left. ")
	if lost {
		sb.WriteString("Your session of that time is gone and cannot be resumed, so this is a new one: look at what is there already before you go on. ")
	}
	sb.WriteString("What people were asked and said so far:\n\n")
	sb.WriteString(history(ctx, rc, desk))
	return sb.String()
}

// history is all that people said about the task, or at least what is new.
func history(ctx context.Context, rc *fermata.ResumeContext, desk Desk) string {
	if h, ok := desk.(Historian); ok {
		if all, err := h.History(ctx); err == nil && all.Text != "" {
			return all.Text
		}
	}
	if rc.Text != "" {
		return rc.Text
	}
	return "(nothing)\n"
}

// news is what a session is told when it goes on.
func news(rc *fermata.ResumeContext) string {
	if rc == nil || rc.Text == "" {
		return goOn
	}
	return rc.Text
}
