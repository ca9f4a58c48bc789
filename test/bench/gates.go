package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"
)

// gateBar is the longest time that a gate may add to an allowed tool call.
const gateBar = 20 * time.Millisecond

// gates measures the time that a gate adds to an allowed tool call: the hook as an agent's program starts it, from the
// start of the process to its end. Then it stops the server, and no call may pass.
func (b *bench) gates(ctx context.Context) error {
	for _, kind := range b.kinds {
		if err := b.gatesOn(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) gatesOn(ctx context.Context, kind string) error {
	d, err := b.newDatabase(ctx, kind, "gates_"+kind)
	if err != nil {
		return err
	}
	server, err := b.serve(ctx, d)
	if err != nil {
		return err
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = server.stop()
		}
		_ = d.drop(ctx)
	}()
	admin := newCaller(pool(), server.url, d.tokens.person(0))
	rule := []byte(`{"tool":"Bash","args":{"command":"git status*"},"decision":"allow"}`)
	if _, err := admin.post(ctx, "/v1/gate-rules", rule); err != nil {
		return err
	}
	n := 1000
	if b.short {
		n = 200
	}
	g := gateProcess{program: b.program, home: filepath.Join(b.folder, "home"), url: server.url, token: d.tokens.agent(0)}
	took := make([]time.Duration, 0, n)
	for i := range n {
		one, code, err := g.call(ctx, i)
		if err != nil {
			return err
		}
		if code != 0 {
			return fmt.Errorf("call %d was not allowed: exit code %d", i, code)
		}
		took = append(took, one)
	}
	p50, p99 := quantile(took, 0.5), quantile(took, 0.99)
	b.judge("a gate's hook, for an allowed tool", title(kind), fmt.Sprintf("p50 %s, p99 %s of %d processes", ms(p50), ms(p99), n),
		"p99 ≤ 20 ms", p99 <= gateBar)
	bare, err := b.bareStart(ctx, n/5)
	if err != nil {
		return err
	}
	b.reportFact("of that, starting the program", title(kind), fmt.Sprintf("p50 %s, p99 %s", ms(quantile(bare, 0.5)), ms(quantile(bare, 0.99))))
	stopped = true
	if err := server.stop(); err != nil {
		return err
	}
	return b.gatesClosed(ctx, kind, g)
}

// gatesClosed counts the calls that pass while the server is stopped. Each of them waits for a while for a server that may
// only be restarting, so they run at the same time.
func (b *bench) gatesClosed(ctx context.Context, kind string, g gateProcess) error {
	const n = 50
	var passed atomic.Int64
	err := doConcurrently(n, n, func(_, i int) error {
		_, code, err := g.call(ctx, i)
		// With any other exit code, these programs let the tool run.
		if err == nil && code != 2 {
			passed.Add(1)
		}
		return err
	})
	if err != nil {
		return err
	}
	b.judge("calls that pass a gate whose server is stopped", title(kind), fmt.Sprintf("%d of %d", passed.Load(), n), "0", passed.Load() == 0)
	return nil
}

// bareStart measures the start of the program without any work.
func (b *bench) bareStart(ctx context.Context, n int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, n)
	for range n {
		began := time.Now()
		if err := exec.CommandContext(ctx, b.program, "version").Run(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// gateProcess is the hook as an agent's program starts it.
type gateProcess struct{ program, home, url, token string }

func (g gateProcess) call(ctx context.Context, i int) (time.Duration, int, error) {
	event := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"bench","cwd":"/work","tool_name":"Bash",`+
		`"tool_input":{"command":"git status --short %d"},"tool_use_id":"call_%d"}`, i, i)
	cmd := exec.CommandContext(ctx, g.program, "hook", "codex", "--strict")
	cmd.Env = append(os.Environ(), "HOME="+g.home, "XDG_CONFIG_HOME="+g.home, "FERMATA_URL="+g.url, "FERMATA_TOKEN="+g.token)
	cmd.Stdin = bytes.NewReader([]byte(event))
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return took, exit.ExitCode(), nil
	}
	return took, 0, err
}
