package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fermata-hq/fermata"
)

// throughput measures whole cycles per second, and compares them with the raw limit.
func (b *bench) throughput(ctx context.Context) error {
	for _, kind := range b.kinds {
		if err := b.throughputOn(ctx, kind); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) throughputOn(ctx context.Context, kind string) (err error) {
	product, err := b.newDatabase(ctx, kind, "throughput_"+kind)
	if err != nil {
		return err
	}
	limit, err := b.newDatabase(ctx, kind, "raw_"+kind)
	if err != nil {
		return err
	}
	if err := limit.forgetEvents(ctx); err != nil {
		return err
	}
	server, err := b.serve(ctx, product)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop(), product.drop(ctx)) }()
	raw, err := startRaw(ctx, limit, sameRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, raw.stop(), limit.drop(ctx)) }()

	shared := pool()
	sides := []side{
		{"fermata", func(i int) cycler { return newClient(shared, server.url, product.tokens, i) }},
		{"raw", func(int) cycler { return newRawClient(shared, raw.url, product.tokens) }},
	}
	rounds, length := b.rounds()
	for _, s := range sides {
		if _, err := s.measure(ctx, 8, length); err != nil {
			return fmt.Errorf("warm up %s: %w", s.name, err)
		}
	}
	for _, clients := range b.clients {
		rates, err := measureInTurns(ctx, sides, clients, rounds, length)
		if err != nil {
			return err
		}
		b.compare(kind, clients, rates[0], rates[1])
	}
	return nil
}

// minRatio is the limit: the server must reach at least half the rate of the raw limit.
const minRatio = 0.5

func (b *bench) compare(kind string, clients int, product, limit float64) {
	noun := "clients"
	if clients == 1 {
		noun = "client"
	}
	ratio := product / limit
	b.judge(fmt.Sprintf("throughput, %d %s", clients, noun), title(kind),
		fmt.Sprintf("%.0f cycles/s; raw limit %.0f; ratio %.2f", product, limit, ratio),
		fmt.Sprintf("ratio ≥ %.1f", minRatio), ratio >= minRatio)
}

// cycler does one cycle of six requests.
type cycler interface {
	cycle(ctx context.Context) error
}

// side is one of the two servers that are compared.
type side struct {
	name   string
	client func(i int) cycler
}

// measureInTurns measures the sides one after the other, several times, and returns the median rate of each.
func measureInTurns(ctx context.Context, sides []side, clients, rounds int, length time.Duration) ([]float64, error) {
	rates := make([][]float64, len(sides))
	for range rounds {
		for i, s := range sides {
			rate, err := s.measure(ctx, clients, length)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			rates[i] = append(rates[i], rate)
		}
	}
	medians := make([]float64, len(sides))
	for i, r := range rates {
		medians[i] = median(r)
	}
	return medians, nil
}

// measure lets clients work for a while and returns their cycles per second.
func (s side) measure(ctx context.Context, clients int, length time.Duration) (float64, error) {
	var finished atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, clients)
	began := time.Now()
	for i := range clients {
		c := s.client(i)
		wg.Go(func() {
			for time.Since(began) < length {
				if err := c.cycle(ctx); err != nil {
					errs <- err
					return
				}
				finished.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	select {
	case err := <-errs:
		return 0, err
	default:
		return float64(finished.Load()) / took.Seconds(), nil
	}
}

// The rows that a raw server writes: those of the product, or one for each request.
const (
	sameRows = "same"
	bareRows = "bare"
)

// startRaw starts a raw server on a database.
func startRaw(ctx context.Context, d *database, rows string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	where := d.url
	if d.kind == sqlite {
		where = d.file()
	}
	return launch(ctx, self, rawCommand, rows, d.kind, where)
}

// rawClient sends the same six requests to the raw limit.
type rawClient struct {
	agent, person *caller
}

func newRawClient(shared *http.Client, url string, k tokens) *rawClient {
	return &rawClient{agent: newCaller(shared, url, k.agent(0)), person: newCaller(shared, url, k.person(0))}
}

// cycle sends the bodies that the server gets, with the same fencing tokens.
func (c *rawClient) cycle(ctx context.Context) error {
	key := fermata.NewID("", time.Now())[1:]
	for _, step := range []struct {
		path string
		by   *caller
		body []byte
	}{
		{"/1/", c.agent, []byte(taskBody)},
		{"/2/", c.agent, []byte(claimBody)},
		{"/3/", c.agent, withToken(1, askRest, "1d", askEnd)},
		{"/4/", c.person, []byte(answerBody)},
		{"/5/", c.agent, []byte(claimBody)},
		{"/6/", c.agent, withToken(2, finishRest)},
	} {
		if _, err := step.by.post(ctx, step.path+key, step.body); err != nil {
			return err
		}
	}
	return nil
}
