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

// conversation is one run: a connection to the agent, one session, and as many
// turns as it takes.
type conversation struct {
	r       *Runner
	claim   *fermata.Claim
	desk    Desk
	prompts agent.Prompts
	program *program
	conn    *acp.Connection
	session *session
	// began is when the session did.
	began string
	// forgets says that the agent drops a turn from its session when it is cancelled.
	forgets bool
	// asked gets the question for which the agent has to stop.
	asked chan string
	// asking holds one token: people are asked one thing at a time.
	asking chan struct{}
	// prompted gets a token when a prompt was written.
	prompted chan struct{}
	// refused holds the actions that people refused since the last run; each is
	// refused once more without asking.
	refused map[string]bool

	mu sync.Mutex
	// turn is cancelled when the agent is to stop what it does.
	turn context.Context //nolint:containedctx // requests of the agent belong to the turn in which they come
	mail mail
}

func newConversation(r *Runner, claim *fermata.Claim, desk Desk) *conversation {
	c := &conversation{
		r: r, claim: claim, desk: desk, prompts: agent.NewPrompts(r.opts.Options, agent.AskPerson, claim, desk), session: newSession(desk),
		asked: make(chan string, 1), asking: make(chan struct{}, 1), prompted: make(chan struct{}, 1), refused: map[string]bool{},
		mail: mail{
			desk: desk, state: map[string]bool{}, more: map[string]bool{}, refusal: make(chan struct{}, 1), given: map[string]fermata.ResumeAnswer{},
		},
	}
	c.asking <- struct{}{}
	return c
}

// start connects to the agent and launches it. The folder is the run's: in it, hooks that
// were installed for a desk leave the gate to this runner.
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
	w := &wire{out: out, log: c.desk.Log(), update: c.session.update}
	c.conn = acp.NewConnection(c.serve, pen{stdinEnd, c.prompted}, in)
	c.conn.SetLogger(slog.New(slog.DiscardHandler))
	go func() {
		// Where the library ends the connection by itself, nobody must wait for it to read.
		<-c.conn.Done()
		in.Close() //nolint:errcheck // a pipe
	}()
	c.program = launch(ctx, process.Program{
		Argv: append([]string{c.r.opts.Program}, c.r.opts.ExtraArgs...), Dir: c.desk.Dir(), Folder: folder,
		Env: env, Grace: c.r.opts.Grace / 2, Life: ctx,
	}, w, c.desk.Log(), stdin, stdinEnd)
	return nil
}

// end waits until nothing of the agent is left.
func (c *conversation) end(ctx context.Context) {
	c.program.leave(c.patience(ctx), process.Hurried(ctx))
	<-c.conn.Done()
	c.session.log.flush()
}

// hold talks with the agent until the run has come to something.
func (c *conversation) hold(ctx context.Context) fermata.Finish {
	prompt, err := c.open(ctx)
	if err != nil {
		return c.failure(ctx, err)
	}
	telling := []*fermata.ResumeContext{c.claim.Context}
	for {
		t := c.take(ctx, prompt)
		if t.err == nil {
			c.noteTold(telling)
		}
		switch {
		case ctx.Err() != nil:
			return fermata.Finish{}
		case c.session.violated() != "":
			return c.ungated(c.session.violated())
		case t.asked != "":
			return c.finish(fermata.ResultNeedsInput)
		case t.err != nil:
			return c.failure(ctx, t.err)
		case c.mail.takeUnread():
			c.logf("a person interrupts: the agent is told.")
			telling = c.mail.read()
			prompt = c.tell(telling)
			if c.forgets && t.reason == acp.StopReasonCancelled {
				prompt = c.prompts.Begin(ctx, true) + prompt
			}
		case t.reason == acp.StopReasonEndTurn:
			return agent.Ended(c.finish(""), c.claim.Task, c.session.lastMessage())
		default:
			return agent.Failed("The agent stopped before it was done (%s).\n%s", t.reason, c.session.lastMessage())
		}
	}
}

// ungated is the end of a run in which the agent acted against the gate.
func (c *conversation) ungated(what string) fermata.Finish {
	c.program.stop()
	return agent.Failed("A call of the agent ran that no gate permitted, so nothing keeps its tools from running: %s. It was stopped. "+
		"Take out of the agent's own settings what lets it act without asking (docs/worker.md, What the gate sees).", what)
}

// noteTold says that the agent took a prompt with what it tells.
func (c *conversation) noteTold(told []*fermata.ResumeContext) {
	for _, rc := range told {
		if rc != nil {
			agent.Heard(c.desk, rc)
		}
	}
}

// finish is the end of a run that went well.
func (c *conversation) finish(result fermata.Result) fermata.Finish {
	said := c.session.lastMessage()
	return fermata.Finish{Result: result, Summary: agent.Summary(said), Details: agent.Whole(said)}
}

// failure is the end of a run in which the agent failed.
func (c *conversation) failure(ctx context.Context, err error) fermata.Finish {
	if ctx.Err() != nil {
		return fermata.Finish{}
	}
	over := c.isGone()
	select {
	case <-c.program.ended:
		over = true
	default:
	}
	if over {
		// The connection ended with the program, or the program has nothing to do without it.
		c.end(ctx)
		if c.program.state == nil {
			return fermata.Finish{}
		}
		return agent.Failed("The agent ended with %s.\n%s", c.program.state, c.program.words())
	}
	return agent.Failed("The agent failed: %s", problem(err))
}

// problem says what is wrong in the words of the agent.
func problem(err error) string {
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

// tell makes one prompt of what people wrote.
func (c *conversation) tell(news []*fermata.ResumeContext) string {
	var texts []string
	for _, rc := range news {
		texts = append(texts, c.prompts.Resume(rc))
	}
	return strings.Join(texts, "\n")
}

// taken is what came of a turn.
type taken struct {
	reason acp.StopReason
	// asked is the question for which the agent was stopped.
	asked string
	err   error
}

// take takes one turn. The agent is stopped when it has to wait for a person, when
// a person interrupts, and when ctx ends.
func (c *conversation) take(ctx context.Context, prompt string) taken {
	turn, stop := context.WithCancel(ctx)
	defer stop()
	c.setTurn(turn)
	c.session.begin()
	ends := c.prompt(ctx, prompt)
	var t taken
	var late <-chan time.Time
	for {
		select {
		case end := <-ends:
			t.reason, t.err = end.reason, end.err
			if t.asked == "" {
				t.asked = c.askedMeanwhile()
			}
			if t.reason == acp.StopReasonEndTurn {
				c.session.checkLeft()
			}
			return t
		case <-c.session.ungated:
			c.program.stop()
			return t
		case rc := <-c.desk.Inbox():
			if c.mail.put(rc) {
				stop()
				c.cancel(ctx)
			}
		case <-c.mail.refusal:
			stop()
			c.cancel(ctx)
		case t.asked = <-c.asked:
			late = c.halt(ctx, stop)
		case t.asked = <-c.session.asked:
			late = c.halt(ctx, stop)
		case <-late:
			if !c.forgets {
				c.logf("the agent did not stop its turn when asked to, so its program is stopped.")
			}
			c.program.stop()
			return t
		case <-ctx.Done():
			if c.forgets {
				c.program.stop()
				return t
			}
			c.cancel(ctx)
			select {
			case <-ends:
			case <-process.Hurried(ctx):
			case <-time.After(c.patience(ctx)):
			}
			return t
		}
	}
}

// writeTime is how long an agent that forgets may take to write down what it was told last.
const writeTime = 100 * time.Millisecond

// halt ends a turn for a question. The channel tells when the program must not be
// waited for any longer. An agent that forgets a cancelled turn is not asked to
// cancel it: its program is ended with what its session has by then.
func (c *conversation) halt(ctx context.Context, stop context.CancelFunc) <-chan time.Time {
	if c.forgets {
		return time.After(writeTime)
	}
	stop()
	c.cancel(ctx)
	return time.After(c.r.opts.Grace)
}

// askedMeanwhile is a question that was asked as the turn ended.
func (c *conversation) askedMeanwhile() string {
	select {
	case id := <-c.asked:
		return id
	case id := <-c.session.asked:
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

// prompt starts a turn; its end comes on the channel. When it returns, the prompt
// was written, so that nothing can overtake it.
func (c *conversation) prompt(ctx context.Context, text string) <-chan taken {
	ends, ended := make(chan taken, 1), make(chan struct{})
	go func() {
		// The turn is cancelled in the protocol's way, never by giving up the request.
		res, err := acp.SendRequest[acp.PromptResponse](c.conn, context.WithoutCancel(ctx), acp.AgentMethodSessionPrompt, acp.PromptRequest{
			SessionId: c.session.id(), Prompt: []acp.ContentBlock{acp.TextBlock(agent.Plain(text))},
		})
		ends <- taken{reason: res.StopReason, err: err}
		close(ended)
	}()
	select {
	case <-c.prompted:
	case <-ended:
	case <-ctx.Done():
	}
	return ends
}

// cancel asks the agent to end its turn. An agent that does not read is not waited
// for: it is cut off when its program is stopped.
func (c *conversation) cancel(ctx context.Context) {
	c.session.cancel()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		//nolint:errcheck // an agent that is gone needs no cancel
		c.conn.SendNotification(context.WithoutCancel(ctx), acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: c.session.id()})
	}()
	select {
	case <-sent:
	case <-process.Hurried(ctx):
	case <-time.After(c.patience(ctx)):
	}
}

// patience is how long a step of ending is waited for: less where the cause for which
// ctx ended leaves the agent less time.
func (c *conversation) patience(ctx context.Context) time.Duration {
	return process.GraceOf(ctx, c.r.opts.Grace) / 4
}

// pen writes to the agent, and tells when a prompt was written.
type pen struct {
	io.Writer
	prompted chan struct{}
}

var promptMark = []byte(`"method":"` + acp.AgentMethodSessionPrompt + `"`)

// Write takes one message.
func (p pen) Write(message []byte) (int, error) {
	n, err := p.Writer.Write(message)
	if bytes.Contains(message, promptMark) {
		select {
		case p.prompted <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (c *conversation) logf(format string, args ...any) {
	c.session.log.line("fermata: "+format, args...)
}
