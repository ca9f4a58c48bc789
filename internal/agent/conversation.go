package agent

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// How often, and for how long, a turn is retried while another process uses the session.
const (
	inUsePause    = 250 * time.Millisecond
	inUsePatience = time.Minute
)

// listener is a desk that records what the agent was told.
type listener interface {
	Heard(rc *fermata.ResumeContext)
}

// conversation is one run of an agent, which may take several turns.
type conversation struct {
	r       *Runner
	desk    Desk
	folder  string
	prompts prompts
	env     []string
	session string
	// last is the latest turn. Its variables say where the session is kept.
	last *Turn
	// deferred is the id of the call that was deferred at the end of the session's last turn.
	deferred string
	turns    int
	// news holds the messages and answers of people that the agent was not told yet.
	news []*fermata.ResumeContext
	// told is true once the agent has the context of the claim.
	told bool
	// opened is true once the agent of the session has replied. Only then is it sure that the session has the task.
	opened bool
}

// say is what a turn tells the agent. The zero say lets a session go on with its deferred call.
type say struct {
	// prompt is the message of the turn.
	prompt string
	// deferred is a deferred call that is refused once more. words are the reason that the agent reads for the refusal.
	deferred, words string
	// news is the part of the conversation's news that the turn tells.
	news []*fermata.ResumeContext
}

// hold takes turns until the run has a result. The error means that the program could not be started.
func (c *conversation) hold(ctx context.Context) (fermata.Finish, error) {
	next := c.opening(ctx)
	var busy time.Time
	for {
		t, err := c.turn(ctx, next)
		if ctx.Err() != nil || err != nil {
			return fermata.Finish{}, err
		}
		c.news = append(c.news, t.news...)
		switch {
		case t.ungated:
			return c.failure(t), nil
		case t.Asked != "":
			return c.finish(fermata.ResultNeedsInput, t.said), nil
		case t.hasBegun() && len(c.untoldNews(next)) > 0:
			c.logf("a person interrupts: the agent is told.")
			next = c.nextTurn(next, t)
		case t.ok():
			return Ended(c.finish("", t.said), c.prompts.claim.Task, t.said), nil
		case t.hasBegun() || c.session == "":
			return c.failure(t), nil
		case c.inUse(t):
			if busy.IsZero() {
				busy = time.Now()
				c.logf("another process has the session %s: waiting for it.", c.session)
			}
			if time.Since(busy) > inUsePatience {
				return failure("Another process has the session %s of the agent.\n%s", c.session, t.words()), nil
			}
			pause(ctx, inUsePause)
		case next.prompt == "":
			c.logf("the call that was put off is not there any more: the agent is told the answer.")
			next = say{prompt: cmp.Or(next.words, c.prompts.resume(c.prompts.claim.Context)), news: next.news}
		default:
			c.logf("the session %s cannot be resumed: a new one begins, and is told what was asked and answered.", c.session)
			c.session, c.deferred, c.opened = "", "", false
			next = say{prompt: c.prompts.begin(ctx, true) + c.tell(c.news), news: slices.Clone(c.news)}
		}
	}
}

// opening returns what the first turn tells the agent. If the session only waits for the answer of a deferred call, it
// is told nothing: the call returns the answer.
func (c *conversation) opening(ctx context.Context) say {
	rc := c.prompts.claim.Context
	switch {
	case c.session == "":
		return say{prompt: c.prompts.begin(ctx, false)}
	case !c.opened:
		return c.followUp(c.prompts.begin(ctx, false))
	case c.deferred != "" && rc.Pending == nil && len(rc.Messages) == 0 && len(rc.Questions) == 1 && callTellsAll(rc.Questions[0]):
		return say{}
	default:
		return c.followUp(c.prompts.resume(rc))
	}
}

// callTellsAll reports whether a deferred call returns everything that people said. An approved call returns its own
// output, and not the comment of the approval.
func callTellsAll(a fermata.ResumeAnswer) bool {
	return a.Type != fermata.Approval || a.Resolution == nil || a.Resolution.Comment == ""
}

// nextTurn returns the turn after one that people interrupted. If the agent had not replied, the program may not have
// kept what that turn told, so the next turn tells it again.
func (c *conversation) nextTurn(s say, t *turn) say {
	text := c.tell(c.untoldNews(s))
	if t.replied {
		return c.followUp(text)
	}
	before := cmp.Or(s.prompt, s.words)
	if before == "" {
		// The deferred call would have returned the answer.
		before = c.prompts.resume(c.prompts.claim.Context)
	}
	return c.followUp(before + "\n" + text)
}

// untoldNews returns the news that a turn does not tell.
func (c *conversation) untoldNews(s say) []*fermata.ResumeContext {
	return slices.DeleteFunc(slices.Clone(c.news), func(rc *fermata.ResumeContext) bool { return slices.Contains(s.news, rc) })
}

// tell returns the news as one text.
func (c *conversation) tell(news []*fermata.ResumeContext) string {
	texts := make([]string, 0, len(news))
	for _, rc := range news {
		texts = append(texts, c.prompts.resume(rc))
	}
	return strings.Join(texts, "\n")
}

// noteTold records that the agent replied, so that it has the news of its turn. The first reply also shows that it has
// the context of the claim, which came as the opening or as history.
func (c *conversation) noteTold(told []*fermata.ResumeContext) {
	if rc := c.prompts.claim.Context; rc != nil && !rc.Empty() && !c.told {
		c.told = true
		Heard(c.desk, rc)
	}
	for _, rc := range told {
		Heard(c.desk, rc)
	}
	c.news = slices.DeleteFunc(c.news, func(rc *fermata.ResumeContext) bool { return slices.Contains(told, rc) })
}

func (c *conversation) inUse(t *turn) bool {
	return c.r.kind.InUse != nil && c.r.kind.InUse(t.stderr.words())
}

// turn starts the program once and reads its output to the end.
func (c *conversation) turn(ctx context.Context, s say) (*turn, error) {
	t, err := c.newTurn(s)
	if err != nil {
		return nil, err
	}
	if t.stdin != nil {
		defer t.stdin.Close() //nolint:errcheck // it was only read
	}
	turnCtx, stop := context.WithCancel(ctx)
	defer stop()
	t.stop = stop
	endInbox := t.listen(turnCtx, c.desk.Inbox())
	out := lines{each: func(line []byte) { t.read(turnCtx, line) }}
	t.state, err = process.Program{
		Argv: t.argv, Env: t.Env, Dir: t.Dir, Folder: t.Folder, Stdin: t.stdin, Grace: c.r.opts.Grace, Life: ctx,
		Stdout: &out, Stderr: t.stderr,
	}.Run(turnCtx)
	out.end()
	endInbox()
	if err != nil {
		return nil, err
	}
	if !t.stopped && t.ok() || t.Asked != "" {
		t.setReplied()
	}
	t.end(ctx)
	if t.hasBegun() {
		c.session = t.session
	}
	if t.replied || t.putOff == "" || t.deferred != "" {
		c.deferred = t.deferred
	}
	return t, nil
}

// newTurn writes the prompt to a file and makes the command.
func (c *conversation) newTurn(s say) (*turn, error) {
	t := &turn{
		keep: func(id string) {
			c.session = id
			c.desk.KeepSession(*c.sessionOf())
		},
		reply: func(began bool) {
			if !c.opened {
				c.opened = true
				if began {
					c.desk.KeepSession(*c.sessionOf())
				}
			}
			c.noteTold(s.news)
		},
		Turn: &Turn{Options: c.r.opts, Session: c.session, Deferred: s.deferred, Dir: c.desk.Dir(), Folder: c.folder, Env: c.env},
		kind: c.r.kind, desk: c.desk, putOff: c.deferred, open: map[string]bool{}, ran: map[string]tally{}, stderr: newTail(c.desk.Log()), reader: c.r.kind.Reader(),
	}
	args, env, err := c.r.kind.Command(t.Turn)
	if err == nil {
		err = t.forget()
	}
	if err == nil && s.words != "" {
		err = os.WriteFile(filepath.Join(c.folder, WordsFile), []byte(plainText(s.words)), 0o600)
	}
	if err == nil && s.prompt != "" {
		t.stdin, err = c.write(s.prompt)
	}
	t.argv = append([]string{c.r.opts.Program}, args...)
	t.Env = append(append(slices.Clone(c.env), env...), DeferredEnv+"="+s.deferred)
	if c.r.opts.Fermata != "" {
		t.Env = append(t.Env, FolderEnv+"="+c.folder, DirEnv+"="+c.desk.Dir())
	}
	c.last = t.Turn
	return t, err
}

// write writes a prompt to a file and opens it for reading.
func (c *conversation) write(prompt string) (*os.File, error) {
	c.turns++
	name := filepath.Join(c.folder, fmt.Sprintf("prompt-%d.md", c.turns))
	if err := os.WriteFile(name, []byte(plainText(prompt)), 0o600); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// finish returns the result of a run that went well.
func (c *conversation) finish(result fermata.Result, said string) fermata.Finish {
	return fermata.Finish{Result: result, Summary: Clip(strings.TrimSpace(plainText(said)), maxSummary), Details: Whole(said), Session: c.sessionOf()}
}

// failure returns the result of a run in which the program failed.
func (c *conversation) failure(t *turn) fermata.Finish {
	fin := failure("The agent ended with %s.\n%s", t.state, t.words())
	if t.state.Success() {
		fin = failure("The agent failed.\n%s", t.words())
	}
	fin.Session = c.sessionOf()
	return fin
}

// sessionOf returns the session with the settings that resuming it needs, or nil if there is none.
func (c *conversation) sessionOf() *fermata.Session {
	if c.session == "" {
		return nil
	}
	s := &fermata.Session{ID: c.session, Mode: c.r.mode(), Settings: c.r.settings(), Command: c.r.openCommand(c.last, c.session)}
	if c.deferred != "" {
		s.Settings[deferredSetting] = c.deferred
	}
	if !c.opened {
		s.Settings[silentSetting] = "yes"
	}
	return s
}

func (c *conversation) logf(format string, args ...any) {
	fmt.Fprintf(c.desk.Log(), "fermata: "+format+"\n", args...)
}

// words returns why a turn failed: the agent's error, the end of its error output, or its last message.
func (t *turn) words() string {
	return strings.TrimSpace(cmp.Or(t.trouble, t.stderr.words(), t.said))
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
