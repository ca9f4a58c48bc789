package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fermata-hq/fermata"
)

// The least ratios to a bare handler of three requests, by the number of clients. Other numbers of clients have no bar.
var (
	bareWorkerBars = map[string]map[int]float64{
		sqlite:   {1: 0.45, 8: 0.38, 64: 0.30},
		postgres: {1: 0.32, 8: 0.28, 64: 0.25},
	}
	bareQuestionBars = map[string]map[int]float64{
		sqlite:   {1: 0.65, 8: 0.60, 64: 0.55},
		postgres: {1: 0.50, 8: 0.45, 64: 0.40},
	}
)

const (
	createBareTable = `CREATE TABLE bare_steps (id TEXT NOT NULL, step TEXT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (id, step))`
	insertBareStep  = "INSERT INTO bare_steps (id, step, at, body) VALUES ($1, $2, $3, $4)"
)

// bareStep returns the row of one request.
func bareStep(step byte, key string, now int64, body []byte) []rawWrite {
	return []rawWrite{{insertBareStep, []any{strings.Clone(key), string(step), now, string(body)}}}
}

// bare compares cycles with the least that a service with a database can do for a person's answer: a handler of three
// requests (start, answer, done), each of which writes one row, with grouped commits.
func (b *bench) bare(ctx context.Context) error {
	return b.runOnEach(ctx, "bare", func(d *database, server *process) error { return b.bareOn(ctx, d, server) })
}

func (b *bench) bareOn(ctx context.Context, d *database, server *process) (err error) {
	limit, err := b.newDatabase(ctx, d.kind, "bare_rows_"+d.kind)
	if err != nil {
		return err
	}
	if err := limit.runAll(ctx, createBareTable); err != nil {
		return err
	}
	handler, err := startRaw(ctx, limit, bareRows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handler.stop(), limit.drop(ctx)) }()
	shared := pool()
	plain := side{"bare", func(int) cycler { return bareClient{newClient(shared, handler.url, d.tokens, 0)} }}
	asking := side{"questions", func(i int) cycler { return questionClient{newClient(shared, server.url, d.tokens, i)} }}
	rounds, length := b.rounds()
	for _, clients := range b.clients {
		var most, tasks, questions costs
		for range rounds {
			err := errors.Join(
				most.measure(handler, func() (float64, error) { return plain.measure(ctx, clients, length) }),
				tasks.measure(server, func() (float64, error) { return measureFlow(ctx, d, server, clients, length) }),
				questions.measure(server, func() (float64, error) { return asking.measure(ctx, clients, length) }))
			if err != nil {
				return err
			}
		}
		b.compareBare("a task of a waiting worker", d.kind, clients, tasks, most, bareWorkerBars)
		b.compareBare("a question of a script", d.kind, clients, questions, most, bareQuestionBars)
	}
	return nil
}

// costs are cycles per second, and the CPU time of the server for each cycle.
type costs struct {
	rates []float64
	cpu   []time.Duration
}

// measure adds one measurement of a server.
func (c *costs) measure(server *process, measure func() (float64, error)) error {
	before, err := server.cpuTime()
	if err != nil {
		return err
	}
	began := time.Now()
	rate, err := measure()
	if err != nil {
		return err
	}
	cycles := rate * time.Since(began).Seconds()
	after, err := server.cpuTime()
	c.rates, c.cpu = append(c.rates, rate), append(c.cpu, time.Duration(float64(after-before)/cycles))
	return err
}

func (c *costs) String() string {
	return fmt.Sprintf("%.0f cycles/s with %.2f ms of CPU each", median(c.rates), median(c.cpu).Seconds()*1e3)
}

func (b *bench) compareBare(what, kind string, clients int, product, most costs, bars map[string]map[int]float64) {
	what = fmt.Sprintf("%s beside a bare handler, %d clients", what, clients)
	ratio := median(product.rates) / median(most.rates)
	result := fmt.Sprintf("%s; bare %s; ratio %.2f", &product, &most, ratio)
	bar, ok := bars[kind][clients]
	if !ok {
		b.reportFact(what, title(kind), result)
		return
	}
	b.judge(what, title(kind), result, fmt.Sprintf("ratio ≥ %.2f", bar), ratio >= bar)
}

// bareClient sends the three requests of a cycle to the bare handler.
type bareClient struct{ *client }

func (c bareClient) cycle(ctx context.Context) error {
	key := fermata.NewID("", time.Now())[1:]
	for _, step := range []struct {
		path string
		by   *caller
		body string
	}{{"/1/", c.agent, taskBody}, {"/2/", c.person, answerBody}, {"/3/", c.agent, finishRest}} {
		if _, err := step.by.post(ctx, step.path+key, []byte(step.body)); err != nil {
			return err
		}
	}
	return nil
}

// questionClient is a script that asks, a person who answers, and the script that reads the answer.
type questionClient struct{ *client }

// questionBody is a question without a task.
const questionBody = `{"title":"Which format for the configuration?","body":"Both parsers are dependencies already. TOML is what the other services use.","question":"Which format shall the file have?","response_type":"choice","options":[{"value":"toml","description":"as the other services"},{"value":"yaml","description":"as the deployment files"}],"timeout":"1d"}`

func (c questionClient) cycle(ctx context.Context) error {
	reply, err := c.agent.post(ctx, "/v1/questions", []byte(questionBody))
	if err != nil {
		return err
	}
	id := quotedAfter(reply, `{"id":"`)
	if err := c.answer(ctx, id); err != nil {
		return err
	}
	reply, err = c.agent.get(ctx, "/v1/questions/"+id)
	if err == nil && quotedAfter(reply, `"status":"`) != string(fermata.Answered) {
		err = fmt.Errorf("the question %s is not answered", id)
	}
	return err
}
