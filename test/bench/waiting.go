package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// fewTasks is the small number of waiting tasks to which a large number is compared.
const fewTasks = 1000

// waiting measures the cost of tasks that wait for an answer.
func (b *bench) waiting(ctx context.Context) error {
	n := 100_000
	if b.short {
		n = 10_000
	}
	for _, kind := range b.kinds {
		if err := b.waitingOn(ctx, kind, n); err != nil {
			return err
		}
	}
	return nil
}

// waitingDatabases holds three databases: with no waiting task, with few, and with many.
type waitingDatabases struct {
	kind string
	n    int
	// noun names what waits.
	noun              string
	empty, some, full *database
}

func (b *bench) waitingOn(ctx context.Context, kind string, n int) (err error) {
	c, err := b.fillThree(ctx, kind, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.empty.drop(ctx), c.some.drop(ctx), c.full.drop(ctx)) }()
	if err := b.judgeDisk(ctx, c); err != nil {
		return err
	}
	var servers []*process
	for _, d := range []*database{c.empty, c.some, c.full} {
		server, failed := b.serve(ctx, d)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, server.stop()) }()
		servers = append(servers, server)
	}
	if err := b.judgeIdle(ctx, c, servers[0], servers[2]); err != nil {
		return err
	}
	if err := b.judgeWaiting(ctx, c, servers[1], servers[2]); err != nil {
		return err
	}
	return b.deadlines(ctx, c, servers[2])
}

func (c *waitingDatabases) label() string {
	return fmt.Sprintf("%s, %s %s", title(c.kind), thousands(c.n), c.noun)
}

// thousands returns a number in a form that is easy to read.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

func (b *bench) fillThree(ctx context.Context, kind string, n int) (*waitingDatabases, error) {
	c := &waitingDatabases{kind: kind, n: n, noun: "waiting"}
	for _, one := range []struct {
		into  **database
		name  string
		tasks int
	}{{&c.empty, "empty", 0}, {&c.some, "some", fewTasks}, {&c.full, "full", n}} {
		d, err := b.newDatabase(ctx, kind, one.name+"_"+kind)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		if err := d.fill(ctx, one.tasks); err != nil {
			return nil, fmt.Errorf("fill: %w", err)
		}
		if one.tasks > 0 {
			b.say("%s: suspended %s tasks in %s", title(kind), thousands(one.tasks), time.Since(began).Round(time.Second))
		}
		*one.into = d
	}
	return c, nil
}

func (b *bench) judgeDisk(ctx context.Context, c *waitingDatabases) error {
	const bar = 3 << 10
	before, err := c.empty.size(ctx)
	if err != nil {
		return err
	}
	after, err := c.full.size(ctx)
	if err != nil {
		return err
	}
	each := (after - before) / int64(c.n)
	if c.kind == postgres {
		b.reportFact("disk of a waiting task, with its events", c.label(),
			fmt.Sprintf("%d bytes, with the dead rows that vacuum has not freed yet", each))
		return nil
	}
	b.judge("disk of a waiting task, with its events", c.label(), fmt.Sprintf("%d bytes (the two requests with its texts have %d)", each, len(taskBody)+len(askRest)), "≤ 3 KB", each <= bar)
	return nil
}

const inboxPath = "/v1/questions?status=pending&limit=50"

// judgeIdle compares two idle servers: one without waiting tasks, and one with many.
func (b *bench) judgeIdle(ctx context.Context, c *waitingDatabases, empty, full *process) error {
	const memoryBar, cpuBar, length = 10_000_000, 0.01, 10 * time.Second
	pause(ctx, 2*time.Second)
	before, err := full.cpuTime()
	if err != nil {
		return err
	}
	pause(ctx, length)
	after, err := full.cpuTime()
	if err != nil {
		return err
	}
	idle := full.memory() - empty.memory()
	shared := pool()
	for _, at := range []struct {
		p *process
		d *database
	}{{empty, c.empty}, {full, c.full}} {
		if _, err := newCaller(shared, at.p.url, at.d.tokens.person(0)).get(ctx, inboxPath); err != nil {
			return err
		}
	}
	read := full.memory() - empty.memory()
	maxMemory := max(idle, read)
	b.judge("memory beyond an empty server", c.label(),
		fmt.Sprintf("%s idle, %s after a page of the inbox (in all %s)", mb(idle), mb(read), mb(full.memory())), "≤ 10 MB", maxMemory <= memoryBar)
	share := float64(after-before) / float64(length)
	b.judge("CPU of an idle server", c.label(), fmt.Sprintf("%.2f %%", 100*share), "< 1 %", share < cpuBar)
	return nil
}

// judgeWaiting compares the inbox and an answer with few and with many waiting tasks, in turns.
func (b *bench) judgeWaiting(ctx context.Context, c *waitingDatabases, some, full *process) error {
	const bar = 1.5
	samples := 200
	if b.short {
		samples = 50
	}
	shared := pool()
	sides := []*reader{newReader(shared, some.url, c.some.tokens), newReader(shared, full.url, c.full.tokens)}
	var pages, answers [2][]time.Duration
	for range samples {
		for i, r := range sides {
			page, answer, err := r.sample(ctx)
			if err != nil {
				return err
			}
			pages[i], answers[i] = append(pages[i], page), append(answers[i], answer)
		}
	}
	for _, m := range []struct {
		what string
		took [2][]time.Duration
	}{{"a page of the inbox", pages}, {"an answer", answers}} {
		beside, alone := median(m.took[1]), median(m.took[0])
		ratio := float64(beside) / float64(alone)
		b.judge(m.what+", beside that with 1,000 waiting", c.label(),
			fmt.Sprintf("%s beside %s; ratio %.2f", ms(beside), ms(alone), ratio), "ratio ≤ 1.5", ratio <= bar)
	}
	return nil
}

// reader is a person who reads the inbox and answers.
type reader struct {
	person *caller
}

func newReader(shared *http.Client, url string, k tokens) *reader {
	return &reader{person: newCaller(shared, url, k.person(0))}
}

// sample reads one page and answers one question of it.
func (r *reader) sample(ctx context.Context) (page, answer time.Duration, err error) {
	began := time.Now()
	reply, err := r.person.get(ctx, inboxPath)
	if err != nil {
		return 0, 0, err
	}
	page = time.Since(began)
	id := quotedAfter(reply, `"id":"`)
	began = time.Now()
	_, err = r.person.post(ctx, "/v1/questions/"+id+"/answer", []byte(answerBody))
	return page, time.Since(began), err
}
