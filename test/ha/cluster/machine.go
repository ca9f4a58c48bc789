//go:build linux

package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Machine is one machine of the deployment, with its programs in the order in which they start.
type Machine struct {
	// Name is db1 to db3, app1 to app3, or front. Address is its loopback address.
	Name, Address string

	data      string
	processes []*Process
}

// Process returns the program of the machine with this name, such as patroni.
func (m *Machine) Process(program string) *Process {
	for _, p := range m.processes {
		if p.Name == m.Name+"-"+program {
			return p
		}
	}
	panic(fmt.Sprintf("%s has no %s", m.Name, program))
}

// Start starts all programs of the machine that do not run.
func (m *Machine) Start() error {
	for _, p := range m.processes {
		if err := p.Start(); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends every process of the machine at once, as a power cut does. The files stay.
func (m *Machine) Kill() {
	m.Freeze()
	// A frozen postmaster cannot start PostgreSQL's processes again while they are killed.
	m.signalPostgres(syscall.SIGKILL)
	for _, p := range slices.Backward(m.processes) {
		p.Kill()
	}
	// Patroni may have been about to start PostgreSQL.
	m.signalPostgres(syscall.SIGKILL)
}

// Freeze stops every process of the machine until Thaw. Their connections stay open, and nobody answers.
func (m *Machine) Freeze() { m.signal(syscall.SIGSTOP) }

// Thaw lets a frozen machine go on.
func (m *Machine) Thaw() { m.signal(syscall.SIGCONT) }

func (m *Machine) signal(signal syscall.Signal) {
	for _, p := range slices.Backward(m.processes) {
		p.Signal(signal)
	}
	m.signalPostgres(signal)
}

// Upgrade replaces the program of a replica of Fermata, as an operator does: the old one ends, then the new one starts.
func (m *Machine) Upgrade(binary string) error {
	p := m.Process("fermata")
	if err := p.Stop(); err != nil {
		return err
	}
	p.program = binary
	return p.Start()
}

// IsLeader reports whether Patroni says that this machine has the leader of PostgreSQL.
func (m *Machine) IsLeader(ctx context.Context) bool {
	return isOK(ctx, "http://"+m.Address+":8008/primary")
}

// IsStandby reports whether PostgreSQL on this machine follows the leader.
func (m *Machine) IsStandby(ctx context.Context) bool {
	return isOK(ctx, "http://"+m.Address+":8008/replica")
}

// IsSynchronous reports whether the leader waits for this standby at each commit.
func (m *Machine) IsSynchronous(ctx context.Context) bool {
	return isOK(ctx, "http://"+m.Address+":8008/sync")
}

// IsReady reports whether the replica of Fermata on this machine is ready.
func (m *Machine) IsReady(ctx context.Context) bool {
	return isOK(ctx, "http://"+m.Address+":7433/readyz")
}

// askWithin is how long a question about a state may take. A frozen machine does not answer.
const askWithin = 2 * time.Second

// asker keeps no connections: the other end may be frozen or restarted.
var asker = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func isOK(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	res, err := asker.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// KillPostgres kills PostgreSQL on a database machine. Patroni starts it again.
func (m *Machine) KillPostgres() { m.signalPostgres(syscall.SIGKILL) }

// RunFermata runs a command of Fermata with the settings of the replica on this machine, and returns what it prints.
func (m *Machine) RunFermata(ctx context.Context, args ...string) (string, error) {
	p := m.Process("fermata")
	cmd := exec.CommandContext(ctx, p.program, args...)
	cmd.Env, cmd.Dir = p.env, "/"
	text, err := cmd.CombinedOutput()
	return string(text), err
}
