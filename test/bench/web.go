package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// web measures the interface in a real browser. test/web/bench.mjs does the work and prints one fact on each line.
func (b *bench) web(ctx context.Context) error {
	if _, err := os.Stat("web/dist/index.html"); err != nil {
		return errors.New("the web interface is not built: run make web")
	}
	questions, presses := "10000", "200"
	if b.short {
		questions, presses = "1000", "50"
	}
	b.say("measuring the web interface with %s questions", questions)
	cmd := exec.CommandContext(ctx, "node", "test/web/bench.mjs", questions, presses)
	cmd.Env, cmd.Stderr = append(os.Environ(), "FERMATA_BINARY="+b.program), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var fact struct {
			What, Where, Result, Bar string
			Kept                     *bool
		}
		if err := json.Unmarshal(lines.Bytes(), &fact); err != nil {
			return errors.Join(fmt.Errorf("the browser said %q: %w", lines.Text(), err), cmd.Wait())
		}
		if fact.Kept == nil {
			b.reportFact(fact.What, fact.Where, fact.Result)
		} else {
			b.judge(fact.What, fact.Where, fact.Result, fact.Bar, *fact.Kept)
		}
	}
	return errors.Join(lines.Err(), cmd.Wait())
}
