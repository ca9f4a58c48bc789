package agent

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fermata-hq/fermata"
)

// Prompts makes what an agent is told, for runners with a protocol of their own.
type Prompts struct{ p prompts }

// NewPrompts returns the prompts of a run. The agent is told how to ask, by the tool
// of that name, where the options give it a way to.
func NewPrompts(o Options, askTool string, claim *fermata.Claim, desk Desk) Prompts {
	return Prompts{prompts{claim: claim, desk: desk, guided: o.Fermata != "", askTool: askTool}}
}

// Begin is the task, for a session that knows nothing of it. With lost, it takes
// the place of one that is gone.
func (p Prompts) Begin(ctx context.Context, lost bool) string { return p.p.begin(ctx, lost) }

// Resume is what a session is told when it goes on.
func (p Prompts) Resume(rc *fermata.ResumeContext) string { return p.p.resume(rc) }

// Heard tells the desk, where it wants to know, that the agent was told.
func Heard(desk Desk, rc *fermata.ResumeContext) {
	if l, ok := desk.(listener); ok {
		l.Heard(rc)
	}
}

// Environ is the environment of a run.
func Environ(o Options, claim *fermata.Claim) []string { return (&Runner{opts: o}).env(claim) }

// Failed is the end of a run that failed, with the reason as its summary.
func Failed(format string, args ...any) fermata.Finish { return failure(format, args...) }

// Summary is text as the server takes it for a summary.
func Summary(s string) string { return Clip(plainText(s), maxSummary) }

// maxWhole is how much of what an agent said is kept beside a summary, in characters.
const maxWhole = 128 << 10

// Whole are the details of a run whose agent said more than a summary takes, as
// {"text": …}: a workflow may look for a result at its end. Otherwise there are
// none.
func Whole(said string) json.RawMessage {
	said = strings.TrimSpace(plainText(said))
	over := utf8.RuneCountInString(said)
	if over <= maxSummary {
		return nil
	}
	if over > maxWhole {
		said = string([]rune(said)[over-maxWhole:])
	}
	raw, err := json.Marshal(map[string]string{"text": said})
	if err != nil {
		return nil // text cannot fail
	}
	return raw
}

// Plain is text that the server takes: UTF-8 without zero bytes, and without the
// escapes of terminals.
func Plain(s string) string { return plainText(s) }

// Tail passes a stream on and remembers its last lines.
type Tail struct{ *tail }

// NewTail returns a tail of what it passes on to w.
func NewTail(w io.Writer) Tail { return Tail{newTail(w)} }

// Words are the last lines, as far as they were written.
func (t Tail) Words() string { return t.words() }
