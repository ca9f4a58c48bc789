package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// bigFactor is how many times more data the big database holds than the small one.
const bigFactor = 100

// bigRatio is the limit: one page of the big database costs at most this many times what it costs in the small one.
const bigRatio = 2

// big compares the calls that answer one page in a small and in a big database.
func (b *bench) big(ctx context.Context) error {
	full := bigSizes
	if b.short {
		full = full.part(10)
	}
	for _, kind := range b.kinds {
		if err := b.bigOn(ctx, kind, full); err != nil {
			return err
		}
	}
	return nil
}

// bigSide is one of the two databases with its server.
type bigSide struct {
	d      *database
	server *process
	person *caller
}

func (b *bench) bigOn(ctx context.Context, kind string, full sizes) (err error) {
	var sides []*bigSide
	for _, one := range []struct {
		name string
		n    sizes
	}{{"small", full.part(bigFactor)}, {"big", full}} {
		side, failed := b.fillSide(ctx, kind, one.name, one.n)
		if failed != nil {
			return fmt.Errorf("fill the %s database: %w", one.name, failed)
		}
		defer func() { err = errors.Join(err, side.server.stop(), side.d.drop(ctx)) }()
		sides = append(sides, side)
	}
	where := fmt.Sprintf("%s, %s tasks and %s events", title(kind), thousands(full.tasks()), thousands(full.events))
	for _, call := range bigCalls {
		if err := b.judgeBig(ctx, where, call, sides[0], sides[1]); err != nil {
			return fmt.Errorf("%s: %w", call.name, err)
		}
	}
	return nil
}

// fillSide creates a database of the given sizes and starts its server.
func (b *bench) fillSide(ctx context.Context, kind, name string, n sizes) (*bigSide, error) {
	d, err := b.newDatabase(ctx, kind, name+"_"+kind)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := d.fillBig(ctx, n); err != nil {
		return nil, err
	}
	b.say("%s: filled the %s database in %s", title(kind), name, time.Since(began).Round(time.Second))
	server, err := b.serve(ctx, d)
	if err != nil {
		return nil, err
	}
	return &bigSide{d: d, server: server, person: newCaller(pool(), server.url, d.tokens.person(bigPerson))}, nil
}

// bigRounds is how often a call is measured on each side. A call that takes longer than slowCall is measured once more
// only.
const (
	bigRounds = 9
	slowCall  = time.Second
)

// judgeBig measures one call on both sides, in turns.
func (b *bench) judgeBig(ctx context.Context, where string, call bigCall, small, big *bigSide) error {
	var took [2][]time.Duration
	var sizes [2]int
	for round := range bigRounds {
		slow := false
		for i, side := range []*bigSide{small, big} {
			pause(ctx, call.every)
			began := time.Now()
			reply, err := side.call(ctx, call)
			if err != nil {
				return err
			}
			elapsed := time.Since(began)
			slow = slow || elapsed > slowCall
			sizes[i] = len(reply)
			// The first call of each side prepares its statements.
			if round > 0 {
				took[i] = append(took[i], elapsed)
			}
		}
		if round > 0 && (slow || call.every > 0) {
			break
		}
	}
	if !call.grows && sizes[1] > 2*sizes[0]+1000 {
		return fmt.Errorf("the reply has %d bytes beside %d: the pages differ", sizes[1], sizes[0])
	}
	alone, beside := median(took[0]), median(took[1])
	ratio := float64(beside) / float64(alone)
	b.judge("one page at a hundred times the data: "+call.name, where,
		fmt.Sprintf("%s beside %s; ratio %.2f", ms(beside), ms(alone), ratio), "ratio ≤ 2", ratio <= bigRatio)
	return nil
}

func (s *bigSide) call(ctx context.Context, call bigCall) ([]byte, error) {
	path := call.path
	if call.pathOf != nil {
		path = call.pathOf(s)
	}
	if call.json {
		s.person.header.Set("Accept", "application/json")
		defer s.person.header.Del("Accept")
	}
	return s.person.do(ctx, http.MethodGet, path, http.NoBody)
}
