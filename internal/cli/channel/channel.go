package channel

// Command is fermata channel: it sets up where questions reach people.
type Command struct {
	Add     addCommand     `cmd:"" help:"Add a channel."`
	List    listCommand    `cmd:"" help:"List the channels."`
	Show    showCommand    `cmd:"" help:"Show a channel and its settings."`
	Set     setCommand     `cmd:"" help:"Change settings of a channel."`
	Test    tryCommand     `cmd:"" help:"Check that a channel works, and send a test message."`
	Enable  enableCommand  `cmd:"" help:"Use a channel again."`
	Disable disableCommand `cmd:"" help:"Send nothing over a channel any more."`
	Remove  removeCommand  `cmd:"" help:"Remove a channel."`
	Kinds   kindsCommand   `cmd:"" help:"List the kinds of channels, and what they need."`
	Routes  routesCommand  `cmd:"" help:"Show where questions go, or say it with a file."`
}
