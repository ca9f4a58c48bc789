package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/agent"
	"github.com/fermata-hq/fermata/internal/process"
)

// conversation is one run: a connection to the agent, one session, and one or more turns.
type conversation struct {
	r       *Runner
	claim   *fermata.Claim
	handle  RunHandle
	prompts agent.Prompts
	program *program
	conn    *acp.Connection
	session *session
	// beganAt is the time at which the session began.
	beganAt string
	// forgetsCancelled is true if the agent drops a cancelled turn from its session.
	forgetsCancelled bool
	// askedQuestion gets the id of the question for which the agent has to stop.
	askedQuestion chan string
	// askToken holds one token, so that people are asked one question at a time.
	askToken chan struct{}
	// promptWritten gets a token when a prompt was written.
	promptWritten chan struct{}
	// refusedHashes holds the hashes of the actions that people refused since the last run. Each is refused once more
	// without asking.
	refusedHashes map[string]bool

	mu sync.Mutex
	// turn is cancelled when the agent has to stop its turn.
	turn context.Context //nolint:containedctx // requests of the agent belong to the turn in which they come
	mail mailbox
}

func newConversation(r *Runner, claim *fermata.Claim, handle RunHandle) *conversation {
	c := &conversation{
		r: r, claim: claim, handle: handle, prompts: agent.NewPrompts(r.opts.Options, agent.AskPerson, claim, handle), session: newSession(handle),
		askedQuestion: make(chan string, 1), askToken: make(chan struct{}, 1), promptWritten: make(chan struct{}, 1), refusedHashes: map[string]bool{},
		mail: mailbox{
			handle: handle, hasAnswer: map[string]bool{}, hasMore: map[string]bool{}, refusal: make(chan struct{}, 1), lateAnswers: map[string]fermata.ResumeAnswer{},
		},
	}
	c.askToken <- struct{}{}
	return c
}

// start launches the agent and connects to it. The agent's environment names the folder of the run. So hooks that a
// person installed for their own sessions leave the gate to this runner.
func (c *conversation) start(ctx context.Context, folder string) error {
	env, err := environ(c.r.opts.Options, c.claim)
	if err != nil {
		return err
	}
	env = append(env, agent.FolderEnv+"="+folder)
	stdin, stdinEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	in, out := io.Pipe()
	w := &wire{out: out, log: c.handle.Log(), update: c.session.update}
	c.conn = acp.NewConnection(c.serve, promptNotifier{stdinEnd, c.promptWritten}, in)
	c.conn.SetLogger(slog.New(slog.DiscardHandler))
	go func() {
		// If the library ends the connection by itself, the program must not block on a write.
		<-c.conn.Done()
		in.Close() //nolint:errcheck // a pipe
	}()
	c.program = launch(ctx, process.Program{
		Argv: append([]string{c.r.opts.Program}, c.r.opts.ExtraArgs...), Dir: c.handle.Dir(), Folder: folder,
		Env: env, Grace: c.r.opts.Grace / 2, Life: ctx,
	}, w, c.handle.Log(), stdin, stdinEnd)
	return nil
}

// waitForEnd waits until no process of the agent is left.
func (c *conversation) waitForEnd(ctx context.Context) {
	c.program.endGracefully(c.stepTimeout(ctx), process.HurryOf(ctx))
	<-c.conn.Done()
	c.session.log.flush()
}

// runTurns talks with the agent until the run has a result.
func (c *conversation) runTurns(ctx context.Context) fermata.Finish {
	prompt, err := c.openSession(ctx)
	if err != nil {
		return c.failure(ctx, err)
	}
	toldContexts := []*fermata.ResumeContext{c.claim.Context}
	for {
		t := c.takeTurn(ctx, prompt)
		if t.err == nil {
			c.markTold(toldContexts)
		}
		switch {
		case ctx.Err() != nil:
			return fermata.Finish{}
		case c.session.violationText() != "":
			return c.ungatedFailure(c.session.violationText())
		case t.asked != "":
			return c.finish(fermata.ResultNeedsInput)
		case t.err != nil:
			return c.failure(ctx, t.err)
		case c.mail.pullInbox():
			c.logf("a person interrupts: the agent is told.")
			toldContexts = c.mail.takeNews()
			prompt = c.newsText(toldContexts)
			if c.forgetsCancelled && t.reason == acp.StopReasonCancelled {
				prompt = c.prompts.Begin(ctx, true) + prompt
			}
		case t.reason == acp.StopReasonEndTurn:
			return agent.ApplyReport(c.finish(""), c.claim.Task, c.session.lastMessage())
		default:
			return agent.Failure("The agent stopped before it was done (%s).\n%s", t.reason, c.session.lastMessage())
		}
	}
}

// ungatedFailure returns the result of a run in which the agent acted against the gate.
func (c *conversation) ungatedFailure(what string) fermata.Finish {
	c.program.stop()
	return agent.Failure("A call of the agent ran that no gate permitted, so nothing keeps its tools from running: %s. It was stopped. "+
		"Take out of the agent's own settings what lets it act without asking (docs/reference/worker.md#what-the-gate-sees).", what)
}

// markTold records that the agent accepted a prompt, and so was told its contents.
func (c *conversation) markTold(told []*fermata.ResumeContext) {
	for _, rc := range told {
		if rc != nil {
			agent.MarkTold(c.handle, rc)
		}
	}
}

// finish returns the result of a run that went well.
func (c *conversation) finish(result fermata.Result) fermata.Finish {
	said := c.session.lastMessage()
	return fermata.Finish{Result: result, Summary: agent.Summary(said), Details: agent.FullTextDetails(said)}
}

// failure returns the result of a run in which the agent failed.
func (c *conversation) failure(ctx context.Context, err error) fermata.Finish {
	if ctx.Err() != nil {
		return fermata.Finish{}
	}
	gone := c.isDisconnected()
	select {
	case <-c.program.ended:
		gone = true
	default:
	}
	if gone {
		// The connection ended with the program, or the program cannot work without it.
		c.waitForEnd(ctx)
		if c.program.state == nil {
			return fermata.Finish{}
		}
		return agent.Failure("The agent ended with %s.\n%s", c.program.state, c.program.lastLines())
	}
	return agent.Failure("The agent failed: %s", errorText(err))
}

// errorText returns the text of an error in the agent's own words.
func errorText(err error) string {
	var e *acp.RequestError
	if !errors.As(err, &e) {
		return err.Error()
	}
	text := e.Message
	if e.Data != nil {
		if data, err := json.Marshal(e.Data); err == nil {
			text += " " + string(data)
		}
	}
	return text
}

// newsText returns the news as one prompt.
func (c *conversation) newsText(news []*fermata.ResumeContext) string {
	var texts []string
	for _, rc := range news {
		texts = append(texts, c.prompts.Resume(rc))
	}
	return strings.Join(texts, "\n")
}

// turnResult is the result of a turn.
type turnResult struct {
	reason acp.StopReason
	// asked is the id of the question for which the agent was stopped.
	asked string
	err   error
}

// takeTurn takes one turn. It ends the turn early when the agent has to wait for a person, when a person interrupts,
// when the agent acted against the gate, and when ctx ends.
func (c *conversation) takeTurn(ctx context.Context, prompt string) turnResult {
	turn, stop := context.WithCancel(ctx)
	defer stop()
	c.setTurn(turn)
	c.session.beginTurn()
	ends := c.sendPrompt(ctx, prompt)
	var t turnResult
	var late <-chan time.Time
	for {
		select {
		case end := <-ends:
			t.reason, t.err = end.reason, end.err
			if t.asked == "" {
				t.asked = c.takeAskedQuestion()
			}
			if t.reason == acp.StopReasonEndTurn {
				c.session.checkRunningCalls()
			}
			return t
		case <-c.session.ungated:
			c.program.stop()
			return t
		case rc := <-c.handle.Inbox():
			if c.mail.put(rc) {
				stop()
				c.cancel(ctx)
			}
		case <-c.mail.refusal:
			stop()
			c.cancel(ctx)
		case t.asked = <-c.askedQuestion:
			late = c.haltTurn(ctx, stop)
		case t.asked = <-c.session.askedQuestion:
			late = c.haltTurn(ctx, stop)
		case <-late:
			if !c.forgetsCancelled {
				c.logf("the agent did not stop its turn when asked to, so its program is stopped.")
			}
			c.program.stop()
			return t
		case <-ctx.Done():
			if c.forgetsCancelled {
				c.program.stop()
				return t
			}
			c.cancel(ctx)
			select {
			case <-ends:
			case <-process.HurryOf(ctx):
			case <-time.After(c.stepTimeout(ctx)):
			}
			return t
		}
	}
}

// promptSaveTime is how long an agent that forgets cancelled turns may take to save the last prompt.
const promptSaveTime = 100 * time.Millisecond

// haltTurn ends a turn for a question. The returned channel fires when the program must be stopped. If the agent would
// forget a cancelled turn, the turn is not cancelled: the program is stopped, and the session keeps the state that it
// has at that time.
func (c *conversation) haltTurn(ctx context.Context, stop context.CancelFunc) <-chan time.Time {
	if c.forgetsCancelled {
		return time.After(promptSaveTime)
	}
	stop()
	c.cancel(ctx)
	return time.After(c.r.opts.Grace)
}

// takeAskedQuestion returns the id of a question that was asked as the turn ended, or "".
func (c *conversation) takeAskedQuestion() string {
	select {
	case id := <-c.askedQuestion:
		return id
	case id := <-c.session.askedQuestion:
		return id
	default:
		return ""
	}
}

func (c *conversation) setTurn(turn context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn = turn
}

// sendPrompt starts a turn and returns a channel for its end. When sendPrompt returns, the prompt has been written, so
// no later message can arrive before it.
func (c *conversation) sendPrompt(ctx context.Context, text string) <-chan turnResult {
	ends, ended := make(chan turnResult, 1), make(chan struct{})
	go func() {
		// Only the protocol's own message cancels a turn, so the request ignores the end of ctx.
		res, err := acp.SendRequest[acp.PromptResponse](c.conn, context.WithoutCancel(ctx), acp.AgentMethodSessionPrompt, acp.PromptRequest{
			SessionId: c.session.id(), Prompt: []acp.ContentBlock{acp.TextBlock(agent.PlainText(text))},
		})
		ends <- turnResult{reason: res.StopReason, err: err}
		close(ended)
	}()
	select {
	case <-c.promptWritten:
	case <-ended:
	case <-ctx.Done():
	}
	return ends
}

// cancel asks the agent to end its turn. It does not wait for an agent that does not read: such an agent is cut off
// when its program is stopped.
func (c *conversation) cancel(ctx context.Context) {
	c.session.markCancelled()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		//nolint:errcheck // an agent that is gone needs no cancel
		c.conn.SendNotification(context.WithoutCancel(ctx), acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: c.session.id()})
	}()
	select {
	case <-sent:
	case <-process.HurryOf(ctx):
	case <-time.After(c.stepTimeout(ctx)):
	}
}

// stepTimeout returns how long to wait for one step of ending. It is shorter if the cause for which ctx ended shortens
// the grace.
func (c *conversation) stepTimeout(ctx context.Context) time.Duration {
	return process.GraceOf(ctx, c.r.opts.Grace) / 4
}

// promptNotifier writes to the agent, and signals when a prompt was written.
type promptNotifier struct {
	io.Writer
	promptWritten chan struct{}
}

var promptMark = []byte(`"method":"` + acp.AgentMethodSessionPrompt + `"`)

// Write writes one message.
func (p promptNotifier) Write(message []byte) (int, error) {
	n, err := p.Writer.Write(message)
	if bytes.Contains(message, promptMark) {
		select {
		case p.promptWritten <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (c *conversation) logf(format string, args ...any) {
	c.session.log.line("fermata: "+format, args...)
}
