package agent

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// Prompts builds the texts for an agent, for runners with a protocol of their own.
type Prompts struct{ p prompts }

// NewPrompts returns the prompts of a run. They tell the agent how to ask with the tool askTool, if the options enable
// it to ask.
func NewPrompts(o Options, askTool string, claim *fermata.Claim, handle RunHandle) Prompts {
	return Prompts{prompts{claim: claim, handle: handle, guided: o.Fermata != "", askTool: askTool}}
}

// Begin returns the task, for a session that has not seen it. With lost, the session replaces one that is gone.
func (p Prompts) Begin(ctx context.Context, lost bool) string { return p.p.begin(ctx, lost) }

// Resume returns the prompt with which a session goes on.
func (p Prompts) Resume(rc *fermata.ResumeContext) string { return p.p.resume(rc) }

// MarkTold reports to the handle, if the handle records it, that the agent was told rc.
func MarkTold(handle RunHandle, rc *fermata.ResumeContext) {
	if l, ok := handle.(toldRecorder); ok {
		l.MarkTold(rc)
	}
}

// Environ returns the environment of a run.
func Environ(o Options, claim *fermata.Claim) []string { return (&Runner{opts: o}).env(claim) }

// Summary returns text in the form that the server accepts as a summary.
func Summary(s string) string { return fermata.Truncate(PlainText(s), maxSummary) }

// maxFullText limits how much of the agent's last message is kept besides a summary, in characters.
const maxFullText = 128 << 10

// FullTextDetails returns the details of a run whose agent said more than fits in a summary, as {"text": …}: a workflow
// may look for a result at the end of the text. If the text fits in the summary, FullTextDetails returns nil.
func FullTextDetails(said string) json.RawMessage {
	said = strings.TrimSpace(PlainText(said))
	over := utf8.RuneCountInString(said)
	if over <= maxSummary {
		return nil
	}
	if over > maxFullText {
		said = string([]rune(said)[over-maxFullText:])
	}
	raw, err := json.Marshal(map[string]string{"text": said})
	if err != nil {
		return nil // a string always has a JSON form
	}
	return raw
}

// Tail passes a stream on and keeps its last lines.
type Tail struct{ *tail }

// NewTail returns a tail that passes the stream on to w.
func NewTail(w io.Writer) Tail { return Tail{newTail(w)} }

// LastLines returns the last lines that were written so far.
func (t Tail) LastLines() string { return t.lastLines() }
