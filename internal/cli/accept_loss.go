package cli

import "context"

type acceptLossCommand struct {
	Data          string `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the SQLite file (default: the user's data folder)."`
	Database      string `env:"FERMATA_DATABASE" placeholder:"URL" help:"PostgreSQL instead; --data is the folder that the server was started with."`
	MasterKeyFile string `env:"FERMATA_MASTER_KEY_FILE" type:"path" placeholder:"FILE" help:"Master key that seals secrets (default: the data folder's name with .key, beside it)."`
	Yes           bool   `help:"Accept the loss. Without it, the loss is only shown."`
}

func (acceptLossCommand) Help() string {
	return `For a server that refuses to start because its database is behind what was acknowledged: after a backup was restored on purpose, or when nothing better than what is there can be found. It shows what is missing; with --yes, it records that as an event, database.loss_accepted, and the server starts again. Stop the server first. A witness of the audit (--audit-witness) that knows what is missing still refuses the database: keep it as evidence, and start the server with a new one.

Examples:

    fermata accept-loss
    fermata accept-loss --yes --data /var/lib/fermata`
}

func (c *acceptLossCommand) Run(ctx context.Context, s *session) error {
	if s.hooks.AcceptLoss == nil {
		return notBuilt("accept-loss")
	}
	return s.hooks.AcceptLoss(ctx, AcceptLossOptions{Data: c.Data, Database: c.Database, MasterKeyFile: c.MasterKeyFile, Yes: c.Yes})
}
