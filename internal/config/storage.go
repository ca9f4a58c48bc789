package config

// Storage names the database of a server, and the key of its secrets.
type Storage struct {
	// Data is the folder of the SQLite file. With PostgreSQL, it holds what the server knows of the database's state.
	Data     string `env:"FERMATA_DATA" type:"path" placeholder:"FOLDER" help:"Folder of the SQLite file (default: the user's data folder)."`
	Database string `env:"FERMATA_DATABASE" placeholder:"URL" help:"PostgreSQL to use instead: postgres://…"`
	// DatabaseDirect is the address of PostgreSQL itself, if Database names a pooler.
	DatabaseDirect string `env:"FERMATA_DATABASE_DIRECT" placeholder:"URL" help:"PostgreSQL itself, if --database names a pooler."`
	MasterKeyFile  string `env:"FERMATA_MASTER_KEY_FILE" type:"path" placeholder:"FILE" help:"Master key that seals secrets (default: the data folder's name with .key, beside it)."`
}

// AcceptLoss holds the options of `fermata accept-loss`.
type AcceptLoss struct {
	Storage `embed:""`
	Yes     bool `help:"Accept the loss. Without it, the loss is only shown."`
}

// Demo holds the options of `fermata demo`.
type Demo struct {
	Answer string `placeholder:"FORMAT" help:"Answer the question with this instead of waiting for you: yaml, toml or json, and yes or no for comments."`
	// Data is the folder that keeps the files. If it is empty, the demo uses a temporary folder and removes it at the end.
	Data   string `type:"path" placeholder:"FOLDER" help:"Keep the demo's database here."`
	Listen string `default:"127.0.0.1:0" placeholder:"ADDRESS" help:"Where the demo's server listens."`
}
