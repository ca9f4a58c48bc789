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
	inUseRetryDelay = 250 * time.Millisecond
	maxInUseWait    = time.Minute
)

// toldRecorder is a run handle that records what the agent was told.
type toldRecorder interface {
	MarkTold(rc *fermata.ResumeContext)
}

// conversation is one run of an agent, which may take several turns.
type conversation struct {
	r       *Runner
	handle  RunHandle
	folder  string
	prompts prompts
	env     []string
	session string
	// lastTurn is the latest turn. A person who opens the session by hand needs the turn's environment variables.
	lastTurn *Turn
	// deferredCall is the id of the call that was deferred at the end of the session's last turn.
	deferredCall string
	turns        int
	// news holds the messages and answers of people that the agent has not been told yet.
	news []*fermata.ResumeContext
	// claimTold is true once the agent has the context of the claim.
	claimTold bool
	// sessionReplied is true once the agent of the session has replied. Only then is it sure that the session has the
	// task.
	sessionReplied bool
}

// turnInput is what a turn tells the agent. The zero turnInput resumes a session with its deferred call and no text.
type turnInput struct {
	// prompt is the message of the turn.
	prompt string
	// refusedCall is a deferred call that comes again, without a prompt. refusalReason is the text that the agent gets
	// with it: with its refusal, or with its result if it may run.
	refusedCall, refusalReason string
	// news is the part of the conversation's news that the turn tells the agent.
	news []*fermata.ResumeContext
}

// runTurns takes turns until the run has a result. The error means that a turn could not be started. If ctx has ended,
// the result is empty.
func (c *conversation) runTurns(ctx context.Context) (fermata.Finish, error) {
	next := c.firstInput(ctx)
	var busySince time.Time
	for {
		t, err := c.runTurn(ctx, next)
		if ctx.Err() != nil || err != nil {
			return fermata.Finish{}, err
		}
		c.news = append(c.news, t.news...)
		switch {
		case t.ungated:
			return c.turnFailure(t), nil
		case t.AskedQuestion != "":
			return c.finish(fermata.ResultNeedsInput, t.lastMessage), nil
		case t.hasBegun() && len(c.untoldNews(next)) > 0:
			c.logf("a person interrupts: the agent is told.")
			next = c.nextInput(next, t)
		case t.hasSucceeded():
			return ApplyReport(c.finish("", t.lastMessage), c.prompts.claim.Task, t.lastMessage), nil
		case t.hasBegun() || c.session == "":
			return c.turnFailure(t), nil
		case c.isInUse(t):
			if busySince.IsZero() {
				busySince = time.Now()
				c.logf("another process has the session %s: waiting for it.", c.session)
			}
			if time.Since(busySince) > maxInUseWait {
				return Failure("Another process has the session %s of the agent.\n%s", c.session, t.failureReason()), nil
			}
			sleep(ctx, inUseRetryDelay)
		case next.prompt == "":
			c.logf("the call that was put off is not there any more: the agent is told the answer.")
			next = turnInput{prompt: cmp.Or(next.refusalReason, c.prompts.resume(c.prompts.claim.Context)), news: next.news}
		default:
			c.logf("the session %s cannot be resumed: a new one begins, and is told what was asked and answered.", c.session)
			c.session, c.deferredCall, c.sessionReplied = "", "", false
			next = turnInput{prompt: c.prompts.begin(ctx, true) + c.newsText(c.news), news: slices.Clone(c.news)}
		}
	}
}

// firstInput returns what the first turn tells the agent. If the session only waits for the answer of a deferred call,
// it is told nothing: the call returns the answer.
func (c *conversation) firstInput(ctx context.Context) turnInput {
	rc := c.prompts.claim.Context
	switch {
	case c.session == "":
		return turnInput{prompt: c.prompts.begin(ctx, false)}
	case !c.sessionReplied:
		return c.followUpInput(c.prompts.begin(ctx, false))
	case c.deferredCall != "" && rc.Pending == nil && len(rc.Messages) == 0 && len(rc.Questions) == 1 && canCallTellAll(rc.Questions[0]):
		return turnInput{}
	default:
		return c.followUpInput(c.prompts.resume(rc))
	}
}

// canCallTellAll reports whether a deferred call returns everything that people said. An approved call returns its own
// output, and not the comment of the approval.
func canCallTellAll(a fermata.ResumeAnswer) bool {
	return a.Type != fermata.Approval || a.Resolution == nil || a.Resolution.Comment == ""
}

// nextInput returns the input of the turn after one that people interrupted. If the agent had not replied, the program
// may not have saved the text of that turn, so the next turn repeats it.
func (c *conversation) nextInput(s turnInput, t *turn) turnInput {
	text := c.newsText(c.untoldNews(s))
	if t.replied {
		return c.followUpInput(text)
	}
	before := cmp.Or(s.prompt, s.refusalReason)
	if before == "" {
		// The deferred call would have returned the answer.
		before = c.prompts.resume(c.prompts.claim.Context)
	}
	return c.followUpInput(before + "\n" + text)
}

// untoldNews returns the news that the turn does not tell the agent.
func (c *conversation) untoldNews(s turnInput) []*fermata.ResumeContext {
	return slices.DeleteFunc(slices.Clone(c.news), func(rc *fermata.ResumeContext) bool { return slices.Contains(s.news, rc) })
}

// newsText returns the news as one text.
func (c *conversation) newsText(news []*fermata.ResumeContext) string {
	texts := make([]string, 0, len(news))
	for _, rc := range news {
		texts = append(texts, c.prompts.resume(rc))
	}
	return strings.Join(texts, "\n")
}

// markTold records that the agent replied and so has the news of its turn. The first reply of the run also shows that
// the agent has the context of the claim. That context was in the first prompt, in its history, or in the answer to a
// deferred call.
func (c *conversation) markTold(told []*fermata.ResumeContext) {
	if rc := c.prompts.claim.Context; rc != nil && !rc.IsEmpty() && !c.claimTold {
		c.claimTold = true
		MarkTold(c.handle, rc)
	}
	for _, rc := range told {
		MarkTold(c.handle, rc)
	}
	c.news = slices.DeleteFunc(c.news, func(rc *fermata.ResumeContext) bool { return slices.Contains(told, rc) })
}

func (c *conversation) isInUse(t *turn) bool {
	return c.r.kind.InUse != nil && c.r.kind.InUse(t.stderr.lastLines())
}

// runTurn starts the program once and reads its output to the end.
func (c *conversation) runTurn(ctx context.Context, s turnInput) (*turn, error) {
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
	endInbox := t.listen(turnCtx, c.handle.Inbox())
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
	if !t.stopped && t.hasSucceeded() || t.AskedQuestion != "" {
		t.setReplied()
	}
	t.finishTurn(ctx)
	if t.hasBegun() {
		c.session = t.session
	}
	if t.replied || t.openDeferredCall == "" || t.deferredCall != "" {
		c.deferredCall = t.deferredCall
	}
	return t, nil
}

// newTurn writes the prompt to a file and builds the command.
func (c *conversation) newTurn(s turnInput) (*turn, error) {
	t := &turn{
		saveSession: func(id string) {
			c.session = id
			c.handle.KeepSession(*c.currentSession())
		},
		onReply: func(began bool) {
			if !c.sessionReplied {
				c.sessionReplied = true
				if began {
					c.handle.KeepSession(*c.currentSession())
				}
			}
			c.markTold(s.news)
		},
		Turn: &Turn{Options: c.r.opts, Session: c.session, DeferredCall: s.refusedCall, Dir: c.handle.Dir(), Folder: c.folder, Env: c.env},
		kind: c.r.kind, handle: c.handle, openDeferredCall: c.deferredCall, openActions: map[string]bool{}, finishedCalls: map[string]tally{}, stderr: newTail(c.handle.Log()), reader: c.r.kind.Reader(),
	}
	args, env, err := c.r.kind.Command(t.Turn)
	if err == nil {
		err = t.removeHookFiles()
	}
	if err == nil && s.refusalReason != "" {
		err = os.WriteFile(filepath.Join(c.folder, RefusalReasonFile), []byte(PlainText(s.refusalReason)), 0o600)
	}
	if err == nil && s.prompt != "" {
		t.stdin, err = c.writePrompt(s.prompt)
	}
	t.argv = append([]string{c.r.opts.Program}, args...)
	t.Env = append(append(slices.Clone(c.env), env...), DeferredEnv+"="+s.refusedCall)
	if c.r.opts.Fermata != "" {
		t.Env = append(t.Env, FolderEnv+"="+c.folder, DirEnv+"="+c.handle.Dir())
	}
	c.lastTurn = t.Turn
	return t, err
}

// writePrompt writes a prompt to a file and opens it for reading.
func (c *conversation) writePrompt(prompt string) (*os.File, error) {
	c.turns++
	name := filepath.Join(c.folder, fmt.Sprintf("prompt-%d.md", c.turns))
	if err := os.WriteFile(name, []byte(PlainText(prompt)), 0o600); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// finish returns the result of a run that went well.
func (c *conversation) finish(result fermata.Result, said string) fermata.Finish {
	return fermata.Finish{Result: result, Summary: fermata.Truncate(strings.TrimSpace(PlainText(said)), maxSummary), Details: FullTextDetails(said), Session: c.currentSession()}
}

// turnFailure returns the result of a run in which the program failed.
func (c *conversation) turnFailure(t *turn) fermata.Finish {
	fin := Failure("The agent ended with %s.\n%s", t.state, t.failureReason())
	if t.state.Success() {
		fin = Failure("The agent failed.\n%s", t.failureReason())
	}
	fin.Session = c.currentSession()
	return fin
}

// currentSession returns the session with the settings that resuming it needs, or nil if there is none.
func (c *conversation) currentSession() *fermata.Session {
	if c.session == "" {
		return nil
	}
	s := &fermata.Session{ID: c.session, Mode: c.r.mode(), Settings: c.r.settings(), Command: c.r.openCommand(c.lastTurn, c.session)}
	if c.deferredCall != "" {
		s.Settings[deferredSetting] = c.deferredCall
	}
	if !c.sessionReplied {
		s.Settings[silentSetting] = "yes"
	}
	return s
}

func (c *conversation) logf(format string, args ...any) {
	fmt.Fprintf(c.handle.Log(), "fermata: "+format+"\n", args...)
}

// failureReason returns why a turn failed: the agent's error, the end of its error output, or its last message.
func (t *turn) failureReason() string {
	return strings.TrimSpace(cmp.Or(t.trouble, t.stderr.lastLines(), t.lastMessage))
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
