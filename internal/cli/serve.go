package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

type serveCommand struct {
	Listen            string            `env:"FERMATA_LISTEN" default:"127.0.0.1:7433" placeholder:"ADDRESS" help:"Where to listen (default ${default})."`
	Data              string            `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the SQLite file (default: the user's data folder)."`
	Database          string            `env:"FERMATA_DATABASE" placeholder:"URL" help:"PostgreSQL to use instead: postgres://…"`
	MasterKeyFile     string            `env:"FERMATA_MASTER_KEY_FILE" type:"path" placeholder:"FILE" help:"Master key that seals secrets (default: the data folder's name with .key, beside it)."`
	AuditWitness      []string          `name:"audit-witness" env:"FERMATA_AUDIT_WITNESS" placeholder:"PLACE" help:"Keep signed checkpoints of the audit there, too: a file on another disk or machine, git:FOLDER with a clone to push from, syslog:, syslog+tcp://HOST:PORT or syslog+udp://HOST:PORT. May be repeated."`
	CheckpointEvery   time.Duration     `env:"FERMATA_CHECKPOINT_EVERY" default:"5m" placeholder:"DURATION" help:"How long an event waits at most for the signature of a checkpoint (default ${default})."`
	PublicURL         string            `name:"public-url" env:"FERMATA_PUBLIC_URL" placeholder:"URL" help:"Where people open the server, such as https://fermata.example.com (default: where it listens)."`
	AllowNetworks     []string          `name:"allow-networks" env:"FERMATA_ALLOW_NETWORKS" placeholder:"NETWORK" help:"Private networks that channels may reach, such as 10.0.0.0/8."`
	TrustedProxies    []string          `env:"FERMATA_TRUSTED_PROXIES" placeholder:"NETWORK" help:"Proxies in front of the server, such as 127.0.0.1: their X-Forwarded-For or Forwarded says where a request came from, for limits."`
	SecretProjects    map[string]string `env:"FERMATA_PROJECT_SECRETS" placeholder:"NAME=PROJECTS" help:"Let only workflows of these projects use the secret FERMATA_SECRET_NAME, such as 'DEPLOY=web,api'; several times, or with ; between. Other secrets are for all projects."`
	AllowToolCommands bool              `name:"allow-tool-commands" env:"FERMATA_ALLOW_TOOL_COMMANDS" help:"Let MCP servers of workflows be programs that this server starts: whoever may define tools runs programs here."`
	Workers           int               `env:"FERMATA_WORKERS" help:"Run so many tasks at the same time inside the server."`
	SingleUser        bool              `env:"FERMATA_SINGLE_USER" help:"No sign-in: whoever reaches the address is you. On a loopback address only."`
	NewAdminToken     bool              `help:"Print a new admin token, for when the first one is lost."`
	Workdir           string            `type:"path" placeholder:"FOLDER" help:"The project that the workers inside work on."`
	LogLevel          string            `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	LogFormat         string            `env:"FERMATA_LOG_FORMAT" enum:"text,json" default:"text" help:"text or json."`
	AccessOptions     `embed:""`
	agentFlags        `embed:""`
}

func (serveCommand) Help() string {
	return `Examples:

    fermata serve --single-user
    fermata serve --workers 2 --workdir ~/src/shop -- ./agent.sh
    fermata serve --workers 2 --workdir ~/src/shop --runner claude
    fermata serve --data /var/lib/fermata
    fermata serve --listen 0.0.0.0:7433 --database postgres://fermata@db/fermata`
}

func (c *serveCommand) Run(ctx context.Context, s *session) error {
	var err error
	if c.AgentToken, err = s.tokenFromFlag("--agent-token", c.AgentToken); err != nil {
		return err
	}
	if err = c.checkWorkers(); err != nil {
		return err
	}
	if s.hooks.Serve == nil {
		return notBuilt("serve")
	}
	c.OIDCClientSecret = os.Getenv("FERMATA_OIDC_CLIENT_SECRET")
	return s.hooks.Serve(ctx, ServeOptions{
		Listen: c.Listen, Data: c.Data, Database: c.Database, MasterKeyFile: c.MasterKeyFile, AuditWitnesses: c.AuditWitness, SecretProjects: c.SecretProjects, CheckpointEvery: c.CheckpointEvery, PublicURL: c.PublicURL, AllowNetworks: c.AllowNetworks, TrustedProxies: c.TrustedProxies, AllowToolCommands: c.AllowToolCommands, AccessOptions: c.AccessOptions, Workers: c.Workers, SingleUser: c.SingleUser, NewAdminToken: c.NewAdminToken,
		LogLevel: c.LogLevel, LogFormat: c.LogFormat, WorkDir: c.Workdir, AgentOptions: c.agentFlags.options(),
	})
}

// checkWorkers refuses values that no worker can use. Without workers it also refuses the flags that only workers
// read.
func (c *serveCommand) checkWorkers() error {
	if err := c.checkFlags(); err != nil {
		return err
	}
	switch {
	case c.Workers < 0:
		return fermata.Errorf(fermata.CodeInvalidRequest, "--workers must be at least 0, and not %d", c.Workers)
	case c.Workers > 0:
		return c.check()
	}
	unread := c.agentFlags.givenFlags()
	if c.Workdir != "" {
		unread = append(unread, "--workdir")
	}
	if len(unread) == 0 {
		return nil
	}
	return fermata.Errorf(fermata.CodeInvalidRequest, "a server without workers does not read %s", strings.Join(unread, ", ")).
		WithHint("add --workers 1 to run tasks inside the server, or leave this out")
}

func notBuilt(command string) error {
	return fermata.Errorf(fermata.CodeInvalidRequest, "this program was built without %s", command)
}
