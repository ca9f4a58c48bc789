package cli

type channelCommand struct {
	Add     channelAddCommand     `cmd:"" help:"Add a channel."`
	List    channelListCommand    `cmd:"" help:"List the channels."`
	Show    channelShowCommand    `cmd:"" help:"Show a channel and its settings."`
	Set     channelSetCommand     `cmd:"" help:"Change settings of a channel."`
	Test    channelTestCommand    `cmd:"" help:"Check that a channel works, and send a test message."`
	Enable  channelEnableCommand  `cmd:"" help:"Use a channel again."`
	Disable channelDisableCommand `cmd:"" help:"Send nothing over a channel any more."`
	Remove  channelRemoveCommand  `cmd:"" help:"Remove a channel."`
	Kinds   channelKindsCommand   `cmd:"" help:"List the kinds of channels, and what they need."`
	Routes  channelRoutesCommand  `cmd:"" help:"Show where questions go, or say it with a file."`
}
