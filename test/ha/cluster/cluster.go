//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// size is the number of database machines, and of replicas.
const size = 3

// Options say where a deployment runs.
type Options struct {
	// Folder holds the data, the filled files and the logs. Other users must be able to enter it.
	Folder string
	// Templates is the folder deploy/ha. Binary is the program fermata.
	Templates, Binary string
	// Network is the first three numbers of the machines' addresses, such as 127.77.0.
	Network string
	// Asynchronous makes commits wait for no standby.
	Asynchronous bool
	// PastPoolers makes the replicas connect to HAProxy, past pgbouncer.
	PastPoolers bool
	// Links gives each machine a network namespace, so that links between machines can be cut (see makeLinks). Network
	// must then be no loopback network.
	Links bool
	// Settings are further settings of the replicas, as NAME=value.
	Settings []string
	// Report gets a line for each step of the start.
	Report func(step string)
}

// Cluster is a running deployment.
type Cluster struct {
	// Databases are db1 to db3, Applications app1 to app3. Front has HAProxy.
	Databases, Applications []*Machine
	Front                   *Machine
	// FirstToken is the token of the first admin.
	FirstToken string

	options Options
	owner   *syscall.Credential
	bin     string
	values  values
}

// URL is the address of Fermata for people and programs.
func (c *Cluster) URL() string { return "http://" + c.Front.Address + ":7433" }

// DatabaseURL is the address of the leader of PostgreSQL, past the poolers.
func (c *Cluster) DatabaseURL() string {
	return fmt.Sprintf("postgres://fermata:%s@%s:5432/fermata?sslmode=disable", c.values["FERMATA_PASSWORD"], c.Front.Address)
}

// Start starts a deployment in an empty folder, and returns when all replicas are ready. If it fails or ctx ends, it ends
// everything that it started.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	c := &Cluster{options: options}
	err := c.prepare()
	if err == nil && options.Links {
		err = c.makeLinks()
	}
	if err == nil {
		err = c.startAll(ctx)
	}
	if err != nil {
		c.Destroy()
		return nil, err
	}
	return c, nil
}

// prepare makes the folders and fills the files.
func (c *Cluster) prepare() (err error) {
	if c.owner, err = databaseOwner(); err != nil {
		return err
	}
	if c.bin, err = postgresBin(); err != nil {
		return err
	}
	address := func(last int) string { return fmt.Sprintf("%s.%d", c.options.Network, last) }
	c.values = values{
		"FRONT": address(1), "NETWORK": c.clients(), "POSTGRES_BIN": c.bin, "SYNCHRONOUS": fmt.Sprint(!c.options.Asynchronous),
		"SUPERUSER_PASSWORD": newPassword(), "REPLICATION_PASSWORD": newPassword(), "FERMATA_PASSWORD": newPassword(),
	}
	for n := range size {
		c.values[fmt.Sprintf("DB%d", n+1)] = address(11 + n)
		c.values[fmt.Sprintf("APP%d", n+1)] = address(21 + n)
	}
	for n := range size {
		if err := c.addDatabase(fmt.Sprintf("db%d", n+1), address(11+n)); err != nil {
			return err
		}
	}
	for n := range size {
		if err := c.addApplication(fmt.Sprintf("app%d", n+1), address(21+n)); err != nil {
			return err
		}
	}
	return c.addFront(address(1))
}

// clients are the addresses from which machines connect. On loopback, Linux chooses them.
func (c *Cluster) clients() string {
	if c.options.Links {
		return c.options.Network + ".0/24"
	}
	return "127.0.0.0/8"
}

// addMachine makes the folders of a machine and fills its files.
func (c *Cluster) addMachine(name, address string, owner *syscall.Credential, files ...string) (*Machine, error) {
	config := filepath.Join(c.options.Folder, name)
	m := &Machine{Name: name, Address: address, data: filepath.Join(config, "data")}
	for _, folder := range []string{config, m.data} {
		if err := makeFolder(folder, owner); err != nil {
			return nil, err
		}
	}
	v := c.values.with(values{"NAME": name, "ADDRESS": address, "DATA": m.data, "CONFIG": config, "DATABASE": address + ":6432"})
	if c.options.PastPoolers {
		v["DATABASE"] = c.values["FRONT"] + ":5432"
	}
	for _, file := range files {
		if err := c.fill(file, config, v, owner); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// addProcess adds a program to a machine.
func (c *Cluster) addProcess(m *Machine, name, path string, owner *syscall.Credential, env []string, args ...string) {
	m.processes = append(m.processes, &Process{
		Name: m.Name + "-" + name, program: path, args: args, env: env, owner: owner,
		logFile: filepath.Join(c.options.Folder, m.Name+"-"+name+".log"),
	})
}

func (c *Cluster) addDatabase(name, address string) error {
	m, err := c.addMachine(name, address, c.owner, "etcd.yml", "patroni.yml", "create-database.sh")
	if err != nil {
		return err
	}
	c.Databases = append(c.Databases, m)
	etcd, err := program("etcd")
	if err != nil {
		return err
	}
	patroni, err := program("patroni")
	if err != nil {
		return err
	}
	config := filepath.Dir(m.data)
	env := programEnv(config)
	c.addProcess(m, "etcd", etcd, c.owner, env, "--config-file", filepath.Join(config, "etcd.yml"))
	c.addProcess(m, "patroni", patroni, c.owner, env, filepath.Join(config, "patroni.yml"))
	return nil
}

func (c *Cluster) addApplication(name, address string) error {
	m, err := c.addMachine(name, address, c.owner, "pgbouncer.ini", "userlist.txt", "fermata.env")
	if err != nil {
		return err
	}
	c.Applications = append(c.Applications, m)
	pgbouncer, err := program("pgbouncer")
	if err != nil {
		return err
	}
	config := filepath.Dir(m.data)
	settings, err := readEnv(filepath.Join(config, "fermata.env"))
	if err != nil {
		return err
	}
	c.addProcess(m, "pgbouncer", pgbouncer, c.owner, programEnv(config), "-q", filepath.Join(config, "pgbouncer.ini"))
	env := programEnv(config, append(settings, c.options.Settings...)...)
	c.addProcess(m, "fermata", c.options.Binary, nil, env, "serve")
	return nil
}

func (c *Cluster) addFront(address string) error {
	m, err := c.addMachine("front", address, nil, "haproxy.cfg")
	if err != nil {
		return err
	}
	c.Front = m
	haproxy, err := program("haproxy")
	if err != nil {
		return err
	}
	config := filepath.Dir(m.data)
	// Without -W there is one process, which a signal ends at once.
	c.addProcess(m, "haproxy", haproxy, nil, programEnv(config), "-db", "-q", "-f", filepath.Join(config, "haproxy.cfg"))
	return nil
}

// machines returns all machines in the order in which they start.
func (c *Cluster) machines() []*Machine {
	all := append([]*Machine{}, c.Databases...)
	if c.Front != nil {
		all = append(all, c.Front)
	}
	return append(all, c.Applications...)
}

// startWithin is how long the start may take on a slow machine.
const startWithin = 5 * time.Minute

func (c *Cluster) startAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startWithin, errors.New("the deployment did not start in time"))
	defer cancel()
	for _, m := range append(append([]*Machine{}, c.Databases...), c.Front) {
		if err := m.Start(); err != nil {
			return err
		}
	}
	c.options.Report("PostgreSQL: waiting for a leader and two standbys")
	if err := c.AwaitDatabases(ctx); err != nil {
		return err
	}
	if err := c.migrate(ctx); err != nil {
		return err
	}
	for n, m := range c.Applications {
		c.options.Report("Fermata: starting " + m.Name)
		if err := c.shareKey(m); err != nil {
			return err
		}
		if err := m.Start(); err != nil {
			return err
		}
		if err := await(ctx, m.Name+" is ready", func() bool { return m.IsReady(ctx) }); err != nil {
			return c.explain(err, m.Process("fermata"))
		}
		if n == 0 {
			c.FirstToken = findToken(m.Process("fermata").logFile)
		}
	}
	return await(ctx, "HAProxy finds a replica", func() bool { return isOK(ctx, c.URL()+"/readyz") })
}

// AwaitDatabases waits until there are one leader and two standbys, and with a synchronous leader until one of them is
// the synchronous one.
func (c *Cluster) AwaitDatabases(ctx context.Context) error {
	err := await(ctx, "one leader and two standbys", func() bool {
		leaders, standbys, synchronous := 0, 0, 0
		for _, m := range c.Databases {
			switch {
			case m.IsLeader(ctx):
				leaders++
			case m.IsStandby(ctx):
				standbys++
				if m.IsSynchronous(ctx) {
					synchronous++
				}
			}
		}
		return leaders == 1 && standbys == size-1 && (c.options.Asynchronous || synchronous == 1) &&
			canDial(ctx, c.Front.Address+":5432")
	})
	return c.explain(err, c.Databases[0].Process("patroni"))
}

// Leader returns the machine with the leader of PostgreSQL, or nil if there is none at the moment.
func (c *Cluster) Leader(ctx context.Context) *Machine {
	for _, m := range c.Databases {
		if m.IsLeader(ctx) {
			return m
		}
	}
	return nil
}

// migrate creates the tables and the master key, as the page about scale says.
func (c *Cluster) migrate(ctx context.Context) error {
	env := programEnv(c.options.Folder, "FERMATA_DATABASE="+c.DatabaseURL(), "FERMATA_MASTER_KEY_FILE="+c.masterKey(),
		"FERMATA_DATA="+filepath.Join(c.options.Folder, "migrate"))
	cmd := exec.CommandContext(ctx, c.options.Binary, "migrate")
	cmd.Env = env
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("fermata migrate: %w\n%s", err, text)
	}
	return nil
}

func (c *Cluster) masterKey() string { return filepath.Join(c.options.Folder, "master.key") }

// shareKey copies the master key to a machine, unless it has one.
func (c *Cluster) shareKey(m *Machine) error {
	key, err := os.ReadFile(c.masterKey())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(m.data), "master.key"), key, 0o600) //nolint:gosec // the caller names the folder
}

// findToken returns the token that the first replica printed at its first start.
func findToken(logFile string) string {
	text, _ := os.ReadFile(logFile)
	for word := range strings.FieldsSeq(string(text)) {
		if strings.HasPrefix(word, "fmt_") {
			return word
		}
	}
	return ""
}

// Switchover makes another machine the leader on purpose, as an operator does.
func (c *Cluster) Switchover(ctx context.Context, from, to *Machine) error {
	patronictl, err := program("patronictl")
	if err != nil {
		return err
	}
	config := filepath.Dir(from.data)
	cmd := exec.CommandContext(ctx, patronictl, "-c", filepath.Join(config, "patroni.yml"), "switchover", "fermata",
		"--master", from.Name, "--candidate", to.Name, "--force")
	cmd.Env = programEnv(config)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("patronictl switchover: %w\n%s", err, text)
	}
	return nil
}

// Destroy kills everything that was started, and nothing else. The folder stays.
func (c *Cluster) Destroy() {
	machines := c.machines()
	for _, m := range machines {
		m.Kill()
	}
}
