// Command judge reads from standard input what go test -json wrote of one group of the gate,
// with the runs of its failed tests that gotestsum repeated, and decides whether the repeats
// may count.
//
// It exits with 0 when the group is green, with the tests named that passed only when
// repeated, with 1 when the group is red, and with 2 when the input cannot be read.
package main

import (
	"fmt"
	"os"
)

func main() {
	v, err := judge(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge: read the events:", err)
		os.Exit(2)
	}
	v.print(os.Stdout)
	if len(v.red) > 0 {
		os.Exit(1)
	}
}
