//go:build linux

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// bridge is the network device that joins the machines of a deployment with links of their own.
const bridge = "fermata0"

// namespaces is the folder in which ip keeps network namespaces.
const namespaces = "/run/netns"

// makeLinks gives each machine a network namespace with its address. It needs root, and namespaces of this process's own
// for the network and the mounts, which take everything with them when they end (unshare -n -m).
func (c *Cluster) makeLinks() error {
	// ip keeps a file for each namespace. On a file system of their own, they end with this process, too.
	if err := os.MkdirAll(namespaces, 0o755); err != nil { //nolint:gosec // as ip makes it
		return err
	}
	if err := unix.Mount("none", namespaces, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount a file system at %s: %w", namespaces, err)
	}
	err := runIP(
		"link set lo up",
		"link add "+bridge+" type bridge",
		"addr add "+c.options.Network+".254/24 dev "+bridge,
		"link set "+bridge+" up",
	)
	if err != nil {
		return err
	}
	for _, m := range c.machines() {
		err := runIP(
			"netns add "+m.Name,
			"link add "+m.device()+" type veth peer name eth0 netns "+m.Name,
			"link set "+m.device()+" master "+bridge+" up",
			"-n "+m.Name+" link set lo up",
			"-n "+m.Name+" addr add "+m.Address+"/24 dev eth0",
			"-n "+m.Name+" link set eth0 up",
		)
		if err != nil {
			return err
		}
		for _, p := range m.processes {
			p.namespace = namespaces + "/" + m.Name
		}
	}
	return nil
}

func (m *Machine) device() string { return "to-" + m.Name }

// runIP runs ip with the words of each line.
func runIP(lines ...string) error {
	for _, line := range lines {
		if text, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil { //nolint:noctx // it ends at once
			return fmt.Errorf("ip %s: %w: %s", line, err, text)
		}
	}
	return nil
}

// enterNamespace moves the thread of the caller, and the programs that it starts, into a network namespace.
func enterNamespace(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
}

// noMachine is a hardware address that no machine has.
const noMachine = "02:00:00:00:00:01"

// CutLink drops all packets between two machines. Neither machine is told, and their connections stay open.
func CutLink(a, b *Machine) error {
	return runIP(
		"-n "+a.Name+" neigh replace "+b.Address+" lladdr "+noMachine+" dev eth0 nud permanent",
		"-n "+b.Name+" neigh replace "+a.Address+" lladdr "+noMachine+" dev eth0 nud permanent",
	)
}

// RestoreLink lets two machines reach each other again.
func RestoreLink(a, b *Machine) error {
	return runIP("-n "+a.Name+" neigh del "+b.Address+" dev eth0", "-n "+b.Name+" neigh del "+a.Address+" dev eth0")
}
