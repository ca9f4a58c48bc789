package cli

import "context"

type migrateCommand struct {
	Data          string `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the SQLite file (default: the user's data folder)."`
	Database      string `env:"FERMATA_DATABASE" placeholder:"URL" help:"PostgreSQL to bring up to date instead."`
	MasterKeyFile string `env:"FERMATA_MASTER_KEY_FILE" type:"path" placeholder:"FILE" help:"Master key that seals secrets (default: the data folder's name with .key, beside it)."`
}

func (migrateCommand) Help() string {
	return `The server does this by itself when it starts.

Examples:

    fermata migrate
    fermata migrate --database postgres://fermata@db/fermata`
}

func (c *migrateCommand) Run(ctx context.Context, s *session) error {
	if s.hooks.Migrate == nil {
		return notBuilt("migrate")
	}
	return s.hooks.Migrate(ctx, MigrateOptions{Data: c.Data, Database: c.Database, MasterKeyFile: c.MasterKeyFile})
}
