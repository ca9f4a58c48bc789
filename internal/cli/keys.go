package cli

import "context"

type keysCommand struct {
	Rotate keysRotateCommand `cmd:"" help:"Make a new master key and seal all secrets with it."`
}

type keysRotateCommand struct {
	Data          string `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the SQLite file (default: the user's data folder)."`
	Database      string `env:"FERMATA_DATABASE" placeholder:"URL" help:"PostgreSQL instead."`
	MasterKeyFile string `env:"FERMATA_MASTER_KEY_FILE" type:"path" placeholder:"FILE" help:"Master key that seals secrets (default: the data folder's name with .key, beside it)."`
}

func (keysRotateCommand) Help() string {
	return `Secrets of channels and the keys that sign are sealed in the database with the master key. Old keys stay in the file, because they open older backups. Stop a server that uses SQLite first; servers that share PostgreSQL and the file may go on.

Examples:

    fermata keys rotate
    fermata keys rotate --data /var/lib/fermata --master-key-file /etc/fermata/master.key`
}

func (c *keysRotateCommand) Run(ctx context.Context, s *session) error {
	if s.hooks.RotateKeys == nil {
		return notBuilt("keys rotate")
	}
	return s.hooks.RotateKeys(ctx, MigrateOptions{Data: c.Data, Database: c.Database, MasterKeyFile: c.MasterKeyFile})
}
