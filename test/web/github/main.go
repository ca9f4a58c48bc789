// Command github is the stand-in for GitHub in journeys. It prints where it
// listens and how to reach it. It does what each line of its input says, and
// ends with its input:
//
//	inbound URL              where webhooks go
//	label LOGIN ISSUE NAME   a person puts a label on an issue
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	standin "github.com/fermata-hq/fermata/test/standin/github"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	s := standin.New()
	defer s.Close()
	if err := json.NewEncoder(os.Stdout).Encode(s.Settings()); err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := do(s, strings.Fields(lines.Text())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func do(s *standin.Server, words []string) error {
	switch {
	case len(words) == 2 && words[0] == "inbound":
		s.SetInbound(words[1])
	case len(words) == 4 && words[0] == "label":
		number, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		s.AddUser(words[1], "write")
		s.Label(words[1], number, words[3])
	default:
		return fmt.Errorf("there is no command %q", words)
	}
	return nil
}
