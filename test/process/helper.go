package process

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// StartHelper starts a program that writes its address as a line when it is ready, and returns the address. The program
// must end when its input ends. So it ends with the test, even if the test is killed.
func StartHelper(tb testing.TB, cmd *exec.Cmd) (address string) {
	tb.Helper()
	input, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = input.Close()
		if err := cmd.Wait(); err != nil {
			tb.Errorf("%s ended with %v", cmd.Path, err)
		}
	})
	address, err = bufio.NewReader(output).ReadString('\n')
	if err != nil {
		tb.Fatalf("%s did not start: %v", cmd.Path, err)
	}
	return strings.TrimSpace(address)
}
