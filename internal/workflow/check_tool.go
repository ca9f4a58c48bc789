package workflow

import "github.com/fermata-hq/fermata"

// CheckTool says what is wrong with a tool where there is no server to ask.
func CheckTool(n *fermata.NamedTool) error { return new(Service).checkNamedTool(n) }
