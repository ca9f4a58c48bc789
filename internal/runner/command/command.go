package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fermata-hq/fermata"
	"github.com/fermata-hq/fermata/internal/process"
)

// Name is the name of the runner of [New] in tasks, and ShellName that of [NewShell].
const (
	Name      = fermata.RunnerCommand
	ShellName = fermata.RunnerShell
)

// RunHandle is the worker's side of a run. It is the same type as worker.RunHandle, which documents its methods.
type RunHandle = interface {
	Dir() string
	Log() io.Writer
	Progress(p fermata.Progress)
	Inbox() <-chan *fermata.ResumeContext
	KeepSession(s fermata.Session)
}

// Options say which program is run and how.
type Options struct {
	// Command is the worker's own program and its arguments. Only [New] reads it.
	Command []string
	// Grace is how long the agent may take to stop. 0 means 10 s.
	Grace time.Duration
	// PassEnv names the variables of the worker that agents inherit besides the usual ones.
	PassEnv []string
	// SetEnv holds further variables, as NAME=value.
	SetEnv []string
	// URL is the server's address, for agents that ask by the API.
	URL string
	// Token is handed to agents. It should have only the scope ask. Empty means none.
	Token string
}

// Runner runs programs. It is safe for concurrent use.
type Runner struct {
	name string
	opts Options
}

// New returns the runner of the worker's own program.
func New(opts Options) *Runner { return newRunner(Name, opts) }

// NewShell returns the runner of the command lines in the specs of tasks. Then everybody with the right to create a
// task can run programs on this machine.
func NewShell(opts Options) *Runner { return newRunner(ShellName, opts) }

func newRunner(name string, opts Options) *Runner {
	opts.Grace = cmp.Or(opts.Grace, process.DefaultGrace)
	return &Runner{name: name, opts: opts}
}

// Name returns the runner's name in tasks.
func (r *Runner) Name() string { return r.name }

// Run starts the program in handle.Dir() and waits until it and all processes that it started have ended. When ctx
// ends, the process group gets SIGTERM, and SIGKILL after the grace. Then the details of the returned Finish say what
// the program has printed.
func (r *Runner) Run(ctx context.Context, claim *fermata.Claim, handle RunHandle) (fermata.Finish, error) {
	cmd, err := r.command(claim.Task)
	if err != nil {
		return fermata.Finish{Result: fermata.ResultFailed, Summary: err.Error()}, nil
	}
	p, err := newRunFiles(claim)
	if err != nil {
		return fermata.Finish{}, err
	}
	defer p.remove()
	out := newScanner(handle.Progress, cmd.keptOutput())
	errs := newScanner(nil, maxOutput)
	markEnd, stopInbox := p.fillInbox(handle.Inbox())
	state, err := r.runProgram(ctx, p, process.Program{
		Argv: cmd.argv, Dir: handle.Dir(), Folder: p.dir, Env: r.env(claim, p), Grace: r.opts.Grace,
		Stdout: io.MultiWriter(handle.Log(), out), Stderr: io.MultiWriter(handle.Log(), errs), OnEnded: markEnd,
	})
	told := stopInbox()
	out.end()
	errs.end()
	e := ending{cmd: cmd, state: state, out: out, errs: errs}
	switch {
	case ctx.Err() != nil && state != nil:
		markTold(handle, append(told, claim.Context), fermata.Finish{})
		return fermata.Finish{Details: encodeDetails(e.failureDetails())}, context.Cause(ctx)
	case ctx.Err() != nil:
		return fermata.Finish{}, context.Cause(ctx)
	case err != nil:
		return fermata.Finish{}, fmt.Errorf("start it: %w", err)
	}
	fin := e.outcome(p.result)
	markTold(handle, []*fermata.ResumeContext{claim.Context}, fermata.Finish{})
	markTold(handle, told, fin)
	return fin, nil
}

// Values of the key command_report in the spec of a task. Both make the details of the result hold what the program
// printed in every case, with the details of a result file as a field of their own. With reportJSON, they also hold the
// JSON in the output.
const (
	reportOutput = "output"
	reportJSON   = "json"
)

// commandLine is the program that runs for a task.
type commandLine struct {
	argv []string
	// isPlain means that the output is data, and holds no result.
	isPlain bool
	// report is what the details of the result hold: "", reportOutput or reportJSON.
	report string
}

// keptOutput returns how much of the end of the output is kept, in bytes.
func (c commandLine) keptOutput() int {
	if c.report == reportJSON {
		return maxJSONOutput
	}
	return maxOutput
}

// command returns the program that runs for a task. A runner refuses a task that is for the other runner. If the
// worker's own program ran in place of the task's command, the task would be done although its command never ran.
func (r *Runner) command(t *fermata.Task) (commandLine, error) {
	var spec struct {
		Command     []string `json:"command"`
		PlainOutput bool     `json:"plain_output"`
		Report      string   `json:"command_report"`
	}
	if len(t.Spec) > 0 {
		if err := json.Unmarshal(t.Spec, &spec); err != nil {
			return commandLine{}, fmt.Errorf(`the task's spec must be like {"command": ["program", "argument"]}: %w`, err)
		}
	}
	named := len(spec.Command) > 0 && spec.Command[0] != ""
	switch {
	case r.name == ShellName && named:
		return commandLine{argv: spec.Command, isPlain: spec.PlainOutput, report: spec.Report}, nil
	case r.name == ShellName:
		return commandLine{}, errors.New(`there is nothing to run: the task's spec names no "command"`)
	case named:
		return commandLine{}, errors.New("this worker does not allow commands of tasks: start one with --allow-task-commands")
	case len(r.opts.Command) == 0:
		return commandLine{}, errors.New("there is nothing to run: the worker has no program of its own")
	}
	return commandLine{argv: r.opts.Command}, nil
}

// runProgram runs the program to its end, with the task on its standard input.
func (r *Runner) runProgram(ctx context.Context, p *runFiles, program process.Program) (*os.ProcessState, error) {
	stdin, err := os.Open(p.stdin)
	if err != nil {
		return nil, err
	}
	defer stdin.Close() //nolint:errcheck // it was only read
	program.Stdin = stdin
	return program.Run(ctx)
}

// runFiles are the files by which a worker and its program exchange data.
type runFiles struct {
	dir, stdin, context, contextText, result, inbox string
}

// newRunFiles writes the task and its context to files.
func newRunFiles(claim *fermata.Claim) (*runFiles, error) {
	dir, err := os.MkdirTemp("", process.RunFolderPattern)
	if err != nil {
		return nil, err
	}
	p := &runFiles{
		dir: dir, stdin: dir + "/stdin.json", context: dir + "/context.json", contextText: dir + "/context.txt",
		result: dir + "/result.json", inbox: dir + "/inbox.jsonl",
	}
	rc := claim.Context
	if rc == nil {
		rc = &fermata.ResumeContext{TaskID: claim.Task.ID}
	}
	run := map[string]any{"id": claim.Run.ID, "attempt": claim.Run.Attempt}
	err = errors.Join(
		writeJSON(p.stdin, map[string]any{"task": claim.Task, "context": rc, "run": run}),
		writeJSON(p.context, rc),
		os.WriteFile(p.contextText, []byte(rc.Text), 0o600),
		os.WriteFile(p.inbox, nil, 0o600),
	)
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func writeJSON(name string, v any) error {
	data, err := fermata.ExactJSON(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o600)
}

func (p *runFiles) remove() { os.RemoveAll(p.dir) } //nolint:errcheck // the system clears what is left

// toldRecorder is a run handle that records what the agent was told.
type toldRecorder interface {
	MarkTold(rc *fermata.ResumeContext)
}

// fillInbox appends each context that arrives to the inbox, as a line in one write. The caller calls markEnd
// once the program has ended, and then stop. stop returns the contexts that were written before the call of markEnd: the
// program cannot have read later ones.
func (p *runFiles) fillInbox(from <-chan *fermata.ResumeContext) (markEnd func(), stop func() []*fermata.ResumeContext) {
	done := make(chan struct{})
	var filling sync.WaitGroup
	var told []*fermata.ResumeContext
	filling.Go(func() {
		for {
			select {
			case <-done:
				return
			case rc := <-from:
				if p.appendToInbox(rc) && !isDone(done) {
					told = append(told, rc)
				}
			}
		}
	})
	markEnd = sync.OnceFunc(func() { close(done) })
	return markEnd, func() []*fermata.ResumeContext { markEnd(); filling.Wait(); return told }
}

// markTold reports to the handle what the program was told. A program that ends to wait for an answer has not read an
// answer that is in its inbox already.
func markTold(handle RunHandle, told []*fermata.ResumeContext, fin fermata.Finish) {
	l, ok := handle.(toldRecorder)
	if !ok || fin.Result == fermata.ResultNeedsInput && fin.Question == nil {
		return
	}
	for _, rc := range told {
		if rc != nil {
			l.MarkTold(rc)
		}
	}
}

func isDone(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// appendToInbox adds a line to the inbox and reports whether the program can read it there. A program that removed or
// renamed its inbox reads no more, so the file is never created again. If the program took its inbox away during the
// write, it may not have read the line, so the line counts as not told.
func (p *runFiles) appendToInbox(rc *fermata.ResumeContext) bool {
	line, err := fermata.ExactJSON(rc)
	if err != nil {
		return false
	}
	file, err := os.OpenFile(p.inbox, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return false
	}
	_, err = file.Write(append(line, '\n'))
	stillInbox := err == nil && p.isInbox(file)
	return file.Close() == nil && stillInbox
}

// isInbox reports whether the file is still the one at the inbox's path.
func (p *runFiles) isInbox(file *os.File) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(p.inbox)
	return err == nil && os.SameFile(open, named)
}
