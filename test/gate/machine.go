package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// machine measures processor load and memory with /proc. On systems without /proc both are 0.
type machine struct {
	began      ticks
	peak       uint64
	over, done chan struct{}
}

// watchMachine measures until stop is called.
func watchMachine() *machine {
	m := &machine{began: readTicks(), over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(m.done)
		each := time.NewTicker(time.Second)
		defer each.Stop()
		for {
			m.peak = max(m.peak, usedMemory())
			select {
			case <-each.C:
			case <-m.over:
				return
			}
		}
	}()
	return m
}

// stop returns the average number of busy cores, and the most memory that was in use at once, in bytes.
func (m *machine) stop() (load float64, memory uint64) {
	close(m.over)
	<-m.done
	ended := readTicks()
	if all := ended.all - m.began.all; all > 0 {
		load = float64(ended.busy-m.began.busy) / float64(all) * float64(ended.cores)
	}
	return load, m.peak
}

// ticks count the time of all cores (proc_stat(5)).
type ticks struct {
	busy, all uint64
	cores     int
}

var coreLine = regexp.MustCompile(`(?m)^cpu\d+ `)

func readTicks() ticks {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ticks{}
	}
	t := ticks{cores: len(coreLine.FindAll(text, -1))}
	line, _, _ := strings.Cut(string(text), "\n")
	const idle, waiting, guest = 3, 4, 8 // the time of guests is part of the time of users
	for i, field := range strings.Fields(line)[1:] {
		n, _ := strconv.ParseUint(field, 10, 64)
		if i >= guest {
			break
		}
		t.all += n
		if i != idle && i != waiting {
			t.busy += n
		}
	}
	return t
}

// usedMemory returns the memory in use, in bytes: MemTotal less MemAvailable (proc_meminfo(5)).
func usedMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var total, available uint64
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "MemTotal: %d kB", &total)
		_, _ = fmt.Sscanf(line, "MemAvailable: %d kB", &available)
	}
	return (total - available) << 10
}
