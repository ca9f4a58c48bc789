package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// postgres is the cluster of the tests. It ends when its input is closed, either by stop or because the gate was
// killed.
type postgres struct {
	gate    *gate
	cmd     *exec.Cmd
	input   io.Closer
	url     string
	control string // the path of a program that takes kill, start or stop; "" if the cluster was not started here
}

// holdPostgres prints the two variables and keeps the cluster running until the input ends.
const holdPostgres = `printf '%s\n%s\n' "$FERMATA_TEST_POSTGRES" "${FERMATA_TEST_POSTGRES_CTL:-}"; exec cat >/dev/null`

func startPostgres(ctx context.Context, g *gate) (*postgres, error) {
	// The command does not use ctx: an interrupt must end the tests first, then the cluster.
	cmd := g.command(context.WithoutCancel(ctx), []string{g.withPostgres, "sh", "-c", holdPostgres}, nil)
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = g.out
	if err := g.processes.start(cmd); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(output)
	url, err := lines.ReadString('\n')
	control, controlErr := lines.ReadString('\n')
	if err := errors.Join(err, controlErr); err != nil {
		_ = input.Close()
		return nil, fmt.Errorf("%s: %w", g.withPostgres, errors.Join(g.processes.wait(cmd), err))
	}
	return &postgres{gate: g, cmd: cmd, input: input, url: strings.TrimSpace(url), control: strings.TrimSpace(control)}, nil
}

// stop stops the cluster and removes it.
func (p *postgres) stop() {
	_ = p.input.Close()
	_ = p.gate.processes.wait(p.cmd)
}

// env returns the variables by which the tests find the cluster.
func (p *postgres) env() []string {
	if p == nil {
		return nil
	}
	env := []string{"FERMATA_TEST_POSTGRES=" + p.url}
	if p.control != "" {
		env = append(env, "FERMATA_TEST_POSTGRES_CTL="+p.control)
	}
	return env
}

// pids returns the topmost processes of the cluster. All its other processes descend from them.
func (p *postgres) pids() map[int]bool {
	if p == nil {
		return nil
	}
	pids := map[int]bool{p.cmd.Process.Pid: true}
	// Tests restart the server, so its process id is read again each time.
	text, err := os.ReadFile(filepath.Join(filepath.Dir(p.control), "data", "postmaster.pid"))
	if err == nil {
		first, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(strings.TrimSpace(first)); err == nil {
			pids[pid] = true
		}
	}
	return pids
}
