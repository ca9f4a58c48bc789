package config

import "time"

// Server holds the options of `fermata serve`. The tags are its flags, environment variables and defaults, as the
// command line reads them.
type Server struct {
	Listen  string `env:"FERMATA_LISTEN" default:"127.0.0.1:7433" placeholder:"ADDRESS" help:"Where to listen (default ${default})."`
	Storage `embed:""`
	// DatabaseRead is the address of a standby of PostgreSQL.
	DatabaseRead string `env:"FERMATA_DATABASE_READ" placeholder:"URL" help:"Standby that serves lists, searches, analytics and exports while it has every event."`
	// AuditWitnesses are places outside the database that keep the signed checkpoints of the audit.
	AuditWitnesses []string `name:"audit-witness" env:"FERMATA_AUDIT_WITNESS" placeholder:"PLACE" help:"Keep signed checkpoints of the audit there, too: a file on another disk or machine, git:FOLDER with a clone to push from, syslog:, syslog+tcp://HOST:PORT or syslog+udp://HOST:PORT. May be repeated."`
	// CheckpointEvery is the longest time that an event waits for its signature; 0 means five minutes.
	CheckpointEvery time.Duration `env:"FERMATA_CHECKPOINT_EVERY" default:"5m" placeholder:"DURATION" help:"How long an event waits at most for the signature of a checkpoint (default ${default})."`
	PublicURL       string        `name:"public-url" env:"FERMATA_PUBLIC_URL" placeholder:"URL" help:"Where people open the server, such as https://fermata.example.com (default: where it listens)."`
	AllowNetworks   []string      `name:"allow-networks" env:"FERMATA_ALLOW_NETWORKS" placeholder:"NETWORK" help:"Private networks that channels may reach, such as 10.0.0.0/8."`
	TrustedProxies  []string      `env:"FERMATA_TRUSTED_PROXIES" placeholder:"NETWORK" help:"Proxies in front of the server, such as 127.0.0.1: their X-Forwarded-For or Forwarded says where a request came from, for limits."`
	// SecretProjects maps the name of a secret to projects, separated by commas.
	SecretProjects    map[string]string `env:"FERMATA_PROJECT_SECRETS" placeholder:"NAME=PROJECTS" help:"Let only workflows of these projects use the secret FERMATA_SECRET_NAME, such as 'DEPLOY=web,api'; several times, or with ; between. Other secrets are for all projects."`
	AllowToolCommands bool              `name:"allow-tool-commands" env:"FERMATA_ALLOW_TOOL_COMMANDS" help:"Let MCP servers of workflows be programs that this server starts: everybody who may define tools then runs programs here."`
	Workers           int               `env:"FERMATA_WORKERS" help:"Run so many tasks at the same time inside the server."`
	SingleUser        bool              `env:"FERMATA_SINGLE_USER" help:"No sign-in: everybody who reaches the address is you. On a loopback address only."`
	NewAdminToken     bool              `help:"Print a new admin token, for when the first one is lost."`
	// WorkDir and Agents are for the workers inside the server.
	WorkDir   string `name:"workdir" type:"path" placeholder:"FOLDER" help:"The project that the workers inside work on."`
	LogLevel  string `env:"FERMATA_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" help:"debug, info, warn or error."`
	LogFormat string `env:"FERMATA_LOG_FORMAT" enum:"text,json" default:"text" help:"text or json."`
	SignIn    SignIn `embed:""`
	Agents    Agents `embed:""`
}

// SignIn holds the options for mail and for identity providers. Links that admins create always work.
type SignIn struct {
	// SMTP is the server that sends mails, and MailFrom is their sender. If both are empty, no mail is sent.
	SMTP     string `name:"smtp" env:"FERMATA_SMTP" placeholder:"URL" help:"Server that sends mails: smtp://user:password@host:port; better set in the environment."`
	MailFrom string `name:"mail-from" env:"FERMATA_MAIL_FROM" placeholder:"ADDRESS" help:"Sender of the mails."`
	// IMAP is the mailbox for replies to questions. Without it, replies are not read.
	IMAP           string `name:"imap" env:"FERMATA_IMAP" placeholder:"URL" help:"Mailbox that replies to questions come to: imaps://user:password@host; better set in the environment."`
	MailReplyTo    string `name:"mail-reply-to" env:"FERMATA_MAIL_REPLY_TO" placeholder:"ADDRESS" help:"Where replies go, such as answers+{token}@example.com (default: the sender)."`
	MailAuthServID string `name:"mail-authserv-id" env:"FERMATA_MAIL_AUTHSERV_ID" placeholder:"NAME" help:"Name with which your mail server begins Authentication-Results: replies count for which it vouches. Without it, replies decide questions of low risk only."`
	OIDCIssuer     string `name:"oidc-issuer" env:"FERMATA_OIDC_ISSUER" placeholder:"URL" help:"Identity provider (OpenID Connect) by which people sign in."`
	OIDCClientID   string `name:"oidc-client-id" env:"FERMATA_OIDC_CLIENT_ID" placeholder:"ID" help:"What this server is called there; its secret is read from FERMATA_OIDC_CLIENT_SECRET."`
	OIDCName       string `name:"oidc-name" env:"FERMATA_OIDC_NAME" placeholder:"NAME" help:"What the button says (default: the host of the issuer)."`
	// OIDCClientSecret comes from the environment only, because every user of the machine can see command lines.
	OIDCClientSecret string `kong:"-"`
	OIDCTrustEmail   bool   `name:"oidc-trust-email" env:"FERMATA_OIDC_TRUST_EMAIL" help:"Take an address as verified where the identity provider does not say whether it is: only for one that gives addresses to nobody but their owners."`
	// OIDCRoles maps groups of the identity provider to roles.
	OIDCRoles       map[string]string `name:"oidc-role" env:"FERMATA_OIDC_ROLES" placeholder:"GROUP=ROLE" help:"Role of the people in a group of the identity provider, such as 'platform team=operator'; several times, or with ; between. It decides at each sign-in there: who is in none of the groups gets the role none."`
	OIDCGroupsClaim string            `name:"oidc-groups-claim" env:"FERMATA_OIDC_GROUPS_CLAIM" placeholder:"NAME" help:"Claim of the ID token that lists the groups (default: groups)."`
}
