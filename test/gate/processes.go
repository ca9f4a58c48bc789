package main

import (
	"os/exec"
	"sync"
)

// processes tracks all descendants of the gate. On Linux, a process whose parent ends becomes a child of the gate.
type processes struct {
	mu  sync.Mutex
	own map[int]bool // started by the gate and waited for by it
}

// run runs a command and waits for it.
func (p *processes) run(cmd *exec.Cmd) error {
	if err := p.start(cmd); err != nil {
		return err
	}
	return p.wait(cmd)
}

func (p *processes) start(cmd *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if p.own == nil {
		p.own = map[int]bool{}
	}
	p.own[cmd.Process.Pid] = true
	return nil
}

func (p *processes) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.own, cmd.Process.Pid)
	return err
}
