//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "error: the large deployment runs on Linux only: its machines are loopback addresses, and its programs are Debian's")
	os.Exit(1)
}
