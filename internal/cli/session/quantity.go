package session

import (
	"fmt"
	"strconv"

	"github.com/alecthomas/kong"
)

// Quantity is a number of at least 1. The value 0 means that the flag is not given, so a 0 on the command line would
// silently be replaced.
type Quantity int

// Decode reads the number.
func (n *Quantity) Decode(ctx *kong.DecodeContext) error {
	text, err := ctx.Scan.PopValue("number")
	if err != nil {
		return err
	}
	v, err := strconv.Atoi(fmt.Sprint(text.Value))
	if err != nil || v < 1 {
		return fmt.Errorf("%v is no number of 1 or more", text.Value)
	}
	*n = Quantity(v)
	return nil
}
